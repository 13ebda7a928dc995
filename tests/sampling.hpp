#pragma once
// Long lists of models: on emulated machines only every Nth entry is run, as the variable JIG_TEST_EVERY says.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

/// Every Nth entry of a list, N being JIG_TEST_EVERY; all of them without it.
inline std::vector<std::string> every_nth(const std::vector<std::string>& all, const std::string& what) {
  const char* text = std::getenv("JIG_TEST_EVERY");
  const std::size_t n = text != nullptr ? std::strtoul(text, nullptr, 10) : 1;
  if (n < 2) return all;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += n) some.push_back(all[i]);
  MESSAGE("skipped: ", all.size() - some.size(), " of ", all.size(), " ", what, " (JIG_TEST_EVERY=", n, ")");
  return some;
}
