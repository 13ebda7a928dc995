// ops/compression.hpp: which cells a row is made of, and what a token sees; the reference by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "jig/ops/compression.hpp"
#include "jig/ops/reference.hpp"

using namespace jig;

TEST_CASE("compress_args: a group's own cells, and those of the group before where groups overlap") {
  const auto cells = [](const compress_args& a, u32 last) {
    const cell_range r = a.cells(last);
    std::vector<u32> v;
    for (u32 c = r.begin; c < r.end; ++c) v.push_back(10 * c + a.head(c, last));
    return v;
  };
  const compress_args alone{.group = 3, .dim = 1}, overlapping{.group = 3, .overlaps = true, .dim = 1};
  CHECK(cells(alone, 0).empty());
  CHECK(cells(alone, 1).empty());
  CHECK(cells(alone, 2) == std::vector<u32>{0, 10, 20});
  CHECK(cells(alone, 5) == std::vector<u32>{30, 40, 50});
  CHECK(cells(overlapping, 2) == std::vector<u32>{1, 11, 21});
  CHECK(cells(overlapping, 4).empty());
  CHECK(cells(overlapping, 5) == std::vector<u32>{0, 10, 20, 31, 41, 51});
  CHECK(cells(overlapping, 8) == std::vector<u32>{30, 40, 50, 61, 71, 81});
}

TEST_CASE("compressed_cells_of: a window, then the last cells of complete groups, all or those chosen") {
  u32 cell[] = {9}, sequence[] = {0}, list[] = {2, 0, 2, 77};
  const sequence_view view{nullptr, 20};
  batch b;
  b.n_tokens = 1;
  b.cell = cell, b.sequence = sequence, b.sequences = &view;
  attend_args a{.n_head = 1, .n_head_kv = 1, .window = 3, .group = 4};
  const auto seen = [&](const chosen_blocks& chosen) {
    const compressed_cells c = compressed_cells_of(a, chosen, b, 0);
    std::vector<u32> v;
    for (u32 i = 0; i < c.size(); ++i) v.push_back(c[i] + (c.is_group(i) ? 100 : 0));
    return v;
  };
  CHECK(seen({}) == std::vector<u32>{7, 8, 9, 103, 107});
  cell[0] = 11;
  CHECK(seen({}) == std::vector<u32>{9, 10, 11, 103, 107, 111});
  CHECK(seen({list, 1, 4, 4}) == std::vector<u32>{9, 10, 11, 103, 111});
  cell[0] = 2;
  CHECK(seen({}) == std::vector<u32>{0, 1, 2});
  list[0] = 0;
  CHECK(seen({list, 1, 4, 4}) == std::vector<u32>{0, 1, 2});
}

TEST_CASE("compress: softmax of the scores over the cells, column by column; zeros where no group ends") {
  // Two columns, groups of two that overlap: a cell has [for the next group | for its own] of each.
  const compress_args a{.group = 2, .overlaps = true, .dim = 2};
  std::vector<f32> vectors = {1, 2, 3, 4, /**/ 5, 6, 7, 8, /**/ -1, -2, -3, -4, /**/ 0, 1, 10, 20};
  std::vector<f32> scores = {0, 1, 0, 0, /**/ 1, 0, 1, 0, /**/ 0, 0, 2, 1, /**/ 0, 0, 0, -1};
  std::vector<u8> memory(2 * 16 * sizeof(f32) * 4);
  const u32 pages[] = {1, 0}, cell[] = {0, 1, 2, 3}, sequence[] = {0, 0, 0, 0};
  const sequence_view view{pages, 4};
  batch b;
  b.n_tokens = 4;
  b.cell = cell, b.sequence = sequence, b.sequences = &view;
  b.memory = {memory.data(), memory.size() / 2, 2, f32_block::id};
  const reference_kernels<> k;
  std::vector<f32> out(8, 77.0f);
  k.store_kv({}, a.inputs(), b, {vectors.data(), 4, 4, 4}, {scores.data(), 4, 4, 4});
  k.compress({}, a, b, {out.data(), 4, 2, 2});
  const f64 e = std::exp(1.0), e2 = e * e;
  const f64 want[] = {0, 0, (3 + 7 * e) / (1 + e), (4 + 8) / 2.0,  // cell 1: the group's own vectors alone
                      0, 0, (1 + 5 * e - 3 * e2 + 10) / (1 + e + e2 + 1),
                      (2 * e + 6 - 4 * e + 20 / e) / (e + 1 + e + 1 / e)};
  for (u32 i = 0; i < 8; ++i) CHECK(f64(out[i]) == doctest::Approx(want[i]).epsilon(1e-6));
}
