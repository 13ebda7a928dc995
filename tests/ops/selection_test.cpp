// ops/selection.hpp: lists of the best against sorting everything; what is always chosen; equal and missing scores.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "jig/ops/select_token.hpp"

using namespace jig;

namespace {

/// Scores that repeat often, the same everywhere.
std::vector<f32> random_scores(u32 n, u32 seed, u32 values) {
  std::vector<f32> v(n);
  for (f32& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<f32>((seed >> 8) % values) - static_cast<f32>(values / 2);
  }
  return v;
}

/// The lists of one token that has `own` cells before it; scores: [lists][cells].
std::vector<std::vector<u32>> choose(const select_args& a, u32 own, const std::vector<std::vector<f32>>& scores) {
  const u32 cell[] = {own}, sequence[] = {0};
  const sequence_view view{nullptr, own + 1};
  batch b;
  b.n_tokens = 1;
  b.cell = cell, b.sequence = sequence, b.sequences = &view;
  std::vector<u32> words(u64{a.lists()} * (a.top_k + 1));
  std::vector<f32> scratch(select_scratch_words(a));
  const chosen_blocks chosen{words.data(), a.lists(), a.top_k + 1, a.block};
  select_token(a, b, 0, chosen, scratch.data(), [&](u32 c, f32* out) {
    for (u32 l = 0; l < a.lists(); ++l) out[l] = scores[l][c];
  });
  std::vector<std::vector<u32>> lists;
  for (u32 l = 0; l < a.lists(); ++l) {
    const u32* list = chosen.list(0, l);
    lists.emplace_back(list + 1, list + 1 + list[0]);
  }
  return lists;
}

/// The same by sorting all blocks.
std::vector<u32> sorted_choice(const select_args& a, u32 own, const std::vector<f32>& scores) {
  std::vector<std::pair<f32, u32>> blocks;
  for (u32 block = 0; block * a.block <= own; ++block) {
    f32 best = std::numeric_limits<f32>::lowest();
    const u32 end = (block + 1) * a.block;
    if (a.one_key && end > own + 1) break;
    for (u32 c = a.one_key ? end - 1 : block * a.block; c <= own && c < end; ++c) best = std::max(best, scores[c]);
    if (own / a.block - block < a.n_local) best = std::numeric_limits<f32>::infinity();
    blocks.emplace_back(-best, block);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.resize(std::min<usize>(blocks.size(), a.top_k));
  std::vector<u32> ids;
  for (const auto& [score, block] : blocks) ids.push_back(block);
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The same where cells share the key of the last one.
std::vector<u32> sorted_sharing(const select_args& a, u32 own, const std::vector<f32>& scores) {
  std::vector<std::pair<f32, u32>> cells;
  for (u32 c = 0; c <= own; ++c) {
    const u32 last = c / a.shared * a.shared + a.shared - 1;
    cells.emplace_back(last <= own ? -scores[last] : -std::numeric_limits<f32>::infinity(), c);
  }
  std::sort(cells.begin(), cells.end());
  cells.resize(std::min<usize>(cells.size(), a.top_k));
  std::vector<u32> ids;
  for (const auto& [score, cell] : cells) ids.push_back(cell);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

TEST_CASE("select_token: the lists are those of sorting all scores, lower cells first among equals") {
  for (u32 top_k : {1u, 2u, 3u, 7u, 8u, 40u, 200u})
    for (u32 block : {1u, 4u, 7u})
      for (u32 local : {0u, 1u, 2u})
        for (u32 own : {0u, 1u, 5u, 39u, 40u, 199u})
          for (u32 values : {1u, 3u, 1000u}) {
            if (local > top_k) continue;
            const select_args a{
                .n_head = 2, .dim = 1, .top_k = top_k, .block = block, .n_local = local, .per_head = true};
            const std::vector<std::vector<f32>> scores = {random_scores(own + 1, own + values, values),
                                                          random_scores(own + 1, 99, values)};
            const auto lists = choose(a, own, scores);
            for (u32 l = 0; l < 2; ++l) REQUIRE(lists[l] == sorted_choice(a, own, scores[l]));
            const select_args one{.n_head = 1, .dim = 1, .top_k = top_k, .block = block, .one_key = true};
            REQUIRE(choose(one, own, scores)[0] == sorted_choice(one, own, scores[0]));
          }
}

TEST_CASE("select_token: cells with one key have one score, the lower go first; those without are always seen") {
  for (u32 shared : {2u, 4u, 5u})
    for (u32 top_k : {5u, 8u, 11u, 40u})
      for (u32 own : {0u, 1u, 3u, 4u, 39u, 40u, 41u, 42u, 199u})
        for (u32 values : {1u, 3u, 1000u}) {
          const select_args a{.n_head = 1, .dim = 1, .top_k = top_k, .shared = shared};
          const std::vector<std::vector<f32>> scores = {random_scores(own + 1, own + values, values)};
          REQUIRE(choose(a, own, scores)[0] == sorted_sharing(a, own, scores[0]));
        }
  const std::vector<std::vector<f32>> scores = {{-1, 2, -1, 9, -1, 3, -1}};
  CHECK(choose({.n_head = 1, .dim = 1, .top_k = 4, .shared = 2}, 6, scores)[0] == std::vector<u32>{2, 3, 4, 6});
}

TEST_CASE("select_token: the hand vector; what is no number is chosen last") {
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  const std::vector<std::vector<f32>> scores = {{1, nan, 3, 3, -1, 2}};
  const auto best = [&](u32 k) { return choose({.n_head = 1, .dim = 1, .top_k = k}, 5, scores)[0]; };
  CHECK(best(1) == std::vector<u32>{2});
  CHECK(best(2) == std::vector<u32>{2, 3});
  CHECK(best(4) == std::vector<u32>{0, 2, 3, 5});
  CHECK(best(5) == std::vector<u32>{0, 2, 3, 4, 5});
  CHECK(best(9) == std::vector<u32>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("cells_of: blocks become cells, the last one up to the end") {
  const u32 list[] = {3, 0, 2, 5};
  const auto cells = [&](u32 block, u32 end) {
    const listed_cells c = cells_of(list, block, end);
    std::vector<u32> v;
    for (u32 i = 0; i < c.size(); ++i) v.push_back(c[i]);
    return v;
  };
  CHECK(cells(1, 6) == std::vector<u32>{0, 2, 5});
  CHECK(cells(1, 60) == std::vector<u32>{0, 2, 5});
  CHECK(cells(3, 17) == std::vector<u32>{0, 1, 2, 6, 7, 8, 15, 16});
  CHECK(cells(3, 18) == std::vector<u32>{0, 1, 2, 6, 7, 8, 15, 16, 17});
}

TEST_CASE("select_args: sequences of no more cells than are chosen need no lists") {
  const select_args a{.n_head = 1, .dim = 1, .top_k = 4, .block = 3};
  CHECK(a.sees_all(12));
  CHECK(!a.sees_all(13));
  CHECK(!a.sees_all(0));
}
