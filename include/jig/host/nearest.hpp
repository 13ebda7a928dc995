#pragma once
// "Did you mean ...?": the nearest of a list of names to one that was mistyped.

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "jig/core/types.hpp"

namespace jig::host {

/// The least number of single-character insertions, deletions, replacements and swaps of neighbours that turn a into b
/// (optimal string alignment distance). Bytes count as characters. O(|a| * |b|).
inline usize edit_distance(std::string_view a, std::string_view b) {
  std::vector<usize> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (usize j = 0; j <= b.size(); ++j) above[j] = j;
  for (usize i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (usize j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

/// The name with the least distance, the first on a tie; empty if none is near: at most a third of the word's letters
/// (and at least one) may differ.
inline std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > 64) return {};  // no typing error, and the distance would take its time
  std::string_view best;
  usize least = std::max<usize>(1, word.size() / 3) + 1;
  for (std::string_view name : names) {
    const usize d = edit_distance(word, name);
    if (d < least) least = d, best = name;
  }
  return best;
}

}  // namespace jig::host
