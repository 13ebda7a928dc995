#include "jig/text/merge_symbols.hpp"

#include <map>
#include <vector>

#include <doctest/doctest.h>

using namespace jig;

namespace {

using pair_rank = std::map<std::pair<i32, i32>, merge_candidate>;

/// Joins the best pair again and again, by looking at all.
std::vector<i32> naive(std::vector<i32> ids, const pair_rank& pairs) {
  for (;;) {
    usize best = ids.size();
    merge_candidate candidate;
    for (usize i = 0; i + 1 < ids.size(); ++i) {
      const auto found = pairs.find({ids[i], ids[i + 1]});
      if (found == pairs.end() || (best != ids.size() && found->second.key >= candidate.key)) continue;
      best = i;
      candidate = found->second;
    }
    if (best == ids.size()) return ids;
    ids[best] = candidate.joined;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<i32> joined(const std::vector<i32>& ids, const pair_rank& pairs, u64* steps = nullptr) {
  std::vector<merge_symbol> s(ids.size());
  for (usize i = 0; i < ids.size(); ++i) s[i].id = ids[i], s[i].begin = static_cast<u32>(i);
  const u64 n = merge_symbols(std::span<merge_symbol>(s), [&](u32 l, u32 r) {
    const auto found = pairs.find({s[l].id, s[r].id});
    return found == pairs.end() ? merge_candidate{} : found->second;
  });
  if (steps) *steps = n;
  std::vector<i32> out;
  for (u32 i = s.empty() ? merge_symbol::none : 0; i != merge_symbol::none; i = s[i].next) out.push_back(s[i].id);
  return out;
}

}  // namespace

TEST_CASE("merge_symbols: the lower key joins first, equal keys leftmost") {
  const pair_rank pairs = {{{1, 2}, {5, 12}}, {{2, 3}, {4, 23}}, {{1, 1}, {7, 11}}};
  CHECK(joined({}, pairs).empty());
  CHECK(joined({1}, pairs) == std::vector<i32>{1});
  CHECK(joined({1, 2, 3}, pairs) == std::vector<i32>{1, 23});
  CHECK(joined({1, 2, 1, 2}, pairs) == std::vector<i32>{12, 12});
  CHECK(joined({1, 1, 1}, pairs) == std::vector<i32>{11, 1});
}

TEST_CASE("merge_symbols: agrees with looking at all pairs, for random merges and texts") {
  u32 state = 7;
  const auto below = [&](u32 n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
  for (u32 round = 0; round < 2000; ++round) {
    pair_rank pairs;
    const u32 alphabet = 1 + below(4);
    i32 next = static_cast<i32>(alphabet);
    for (u32 i = below(30); i > 0; --i) {
      const i32 l = static_cast<i32>(below(static_cast<u32>(next)));
      const i32 r = static_cast<i32>(below(static_cast<u32>(next)));
      pairs.emplace(std::pair{l, r}, merge_candidate{below(6), next++});  // few keys: many ties
    }
    std::vector<i32> ids;
    for (u32 i = below(40); i > 0; --i) ids.push_back(static_cast<i32>(below(alphabet)));
    REQUIRE(joined(ids, pairs) == naive(ids, pairs));
  }
}

TEST_CASE("merge_symbols: a million equal symbols take n log n steps") {
  pair_rank pairs;
  for (i32 i = 0; i < 20; ++i) pairs[{i, i}] = {static_cast<u32>(i), i + 1};
  u64 steps_small = 0, steps_large = 0;
  joined(std::vector<i32>(1 << 16, 0), pairs, &steps_small);
  CHECK(joined(std::vector<i32>(1 << 20, 0), pairs, &steps_large) == std::vector<i32>{20});
  CHECK(steps_large < 20 * steps_small);  // 16 times the text, 20/16 times the depth
  for (i32 i = 0; i < 20; ++i) pairs[{i, i}].key = static_cast<u32>(20 - i);  // the other order
  joined(std::vector<i32>(1 << 16, 0), pairs, &steps_small);
  joined(std::vector<i32>(1 << 20, 0), pairs, &steps_large);
  CHECK(steps_large < 20 * steps_small);
}
