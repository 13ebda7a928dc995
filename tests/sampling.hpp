#pragma once
// Long lists of models, prompts and tokens: on emulated machines only every Nth is run, as the variable JIG_TEST_EVERY
// says.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

/// JIG_TEST_EVERY, or 1.
inline std::size_t test_every() {
  const char* text = std::getenv("JIG_TEST_EVERY");
  const std::size_t n = text != nullptr ? std::strtoul(text, nullptr, 10) : 1;
  return n != 0 ? n : 1;
}

/// Every Nth entry of a list.
inline std::vector<std::string> every_nth(const std::vector<std::string>& all, const std::string& what) {
  const std::size_t n = test_every();
  if (n == 1) return all;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += n) some.push_back(all[i]);
  MESSAGE("skipped: ", all.size() - some.size(), " of ", all.size(), " ", what, " (JIG_TEST_EVERY=", n, ")");
  return some;
}
