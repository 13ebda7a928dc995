#pragma once
// Sinkhorn normalisation (https://arxiv.org/abs/2512.24880): from scores of n sources for n targets to the weights by
// which streams are mixed, with rows and columns that sum up to nearly 1.

#include <cmath>

#include "jig/ops/tensor.hpp"

namespace jig {

/// Softmax over the targets, then columns and rows are divided by their sums in turn, columns first and last.
struct sinkhorn_args {
  static constexpr u32 most = 16;  ///< streams

  u32 n = 0;           ///< sources and targets
  u32 iterations = 1;  ///< times that columns are divided
  f32 eps = 0.0f;      ///< added to what the softmax gives, and to every sum
};

/// One token: scores [source][target] -> weights [target][source]. In double precision.
inline void sinkhorn_token(const sinkhorn_args& a, const f32* scores, f32* weights) noexcept {
  const u32 n = a.n;
  const f64 eps = f64(a.eps);
  f64 m[sinkhorn_args::most * sinkhorn_args::most];
  const auto divide = [&](u32 first, u32 step, f64 by) {
    for (u32 i = 0; i < n; ++i) m[first + i * step] /= by;
  };
  const auto sum = [&](u32 first, u32 step) {
    f64 s = 0.0;
    for (u32 i = 0; i < n; ++i) s += m[first + i * step];
    return s;
  };
  for (u32 source = 0; source < n; ++source) {
    const f32* row = scores + source * n;
    f32 top = row[0];
    for (u32 i = 1; i < n; ++i) top = row[i] > top ? row[i] : top;
    for (u32 i = 0; i < n; ++i) m[source * n + i] = std::exp(f64(row[i]) - f64(top));
    divide(source * n, 1, sum(source * n, 1));
    for (u32 i = 0; i < n; ++i) m[source * n + i] += eps;
  }
  for (u32 i = 0; i < a.iterations; ++i) {
    for (u32 source = 0; source < n && i != 0; ++source) divide(source * n, 1, sum(source * n, 1) + eps);
    for (u32 target = 0; target < n; ++target) divide(target, n, sum(target, n) + eps);
  }
  for (u32 source = 0; source < n; ++source)
    for (u32 target = 0; target < n; ++target)
      weights[target * n + source] = static_cast<f32>(m[source * n + target]);
}

}  // namespace jig
