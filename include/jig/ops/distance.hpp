#pragma once
// Relative position bias (T5, https://arxiv.org/abs/1910.10683): a number for each head that is added to the scores by
// the distance of key and query. Weights hold one for each bucket of distances; attention reads a table of distances.

#include <cmath>

#include "jig/ops/tensor.hpp"

namespace jig {

/// Keys further away than this have the bias of this distance.
inline constexpr u32 far_distance = 128;
/// Columns of a table of distances, from far_distance before the query to as many behind it.
inline constexpr u32 distance_columns = 2 * far_distance + 1;

/// The column of a key and a query in these cells.
constexpr u32 distance_column(u32 key, u32 query) noexcept {
  if (key > query) return far_distance + (key - query < far_distance ? key - query : far_distance);
  return query - key < far_distance ? far_distance - (query - key) : 0;
}

/// The bucket of a column: exact for near keys, then logarithmic. If tokens see both sides, half of the buckets are for
/// the keys behind the query. n_buckets: 4 to far_distance.
inline u32 relative_bucket(u32 column, u32 n_buckets, bool causal) noexcept {
  const u32 n = causal ? n_buckets : n_buckets / 2, exact = n / 2;
  const bool behind = column > far_distance;
  if (causal && behind) return 0;
  const u32 first = behind ? n : 0, d = behind ? column - far_distance : far_distance - column;
  if (d < exact) return first + d;
  const f64 steps = f64(std::log(static_cast<f32>(d) / static_cast<f32>(exact))) * (n - exact);
  const u32 bucket = static_cast<u32>(static_cast<f32>(exact + steps / std::log(f64(far_distance) / exact)));
  return first + (bucket < n ? bucket : n - 1);
}

/// Biases of buckets, w [n_buckets, n_head], as a table of distances: out [n_head, distance_columns].
inline void spread_biases(const weight& w, bool causal, const mat& out) noexcept {
  for (u32 c = 0; c < distance_columns; ++c) {
    const f32* biases = w.floats() + usize{relative_bucket(c, w.rows, causal)} * w.cols;
    for (u32 h = 0; h < out.rows; ++h) out.row(h)[c] = biases[h];
  }
}

}  // namespace jig
