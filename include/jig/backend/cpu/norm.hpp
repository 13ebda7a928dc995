#pragma once
// RMS, layer and L2 norm.

#include "jig/backend/cpu/elementwise.hpp"

namespace jig::cpu {

namespace detail {

/// One group of n values; in and out may be the same.
template <class V>
void norm_group(const norm_args& a, const f32* in, f32* out, u32 n, u32 from) noexcept {
  const f32* x = in;
  if (a.kind == norm_kind::layer) {
    const V mean(sum_of<V>(in, n, [](V v) { return v; }) / static_cast<f32>(n));
    transform_to<V>(in, out, n, [&](V v) { return v - mean; });
    x = out;
  }
  const f32 squares = sum_of<V>(x, n, [](V v) { return v * v; });
  f32 length = std::sqrt(squares / static_cast<f32>(n) + a.eps);
  if (a.kind == norm_kind::l2) length = squares > a.eps * a.eps ? std::sqrt(squares) : a.eps;
  const u32 group = a.w.rows > 1 ? from / n : 0;  // whose weights these are
  const bool one_factor = a.w.cols == 1;
  const V inverse((one_factor ? a.w.floats()[group] : 1.0f) / length);
  transform_to<V>(x, out, n, [&](V v) { return v * inverse; });
  if (a.w && !one_factor) transform<V>(out, a.w.floats() + group * n, n, [](V v, V w) { return v * w; });
  if (a.b) transform<V>(out, a.b.floats(), n, [](V v, V b) { return v + b; });
}

}  // namespace detail

/// Normalises each group of a.group neighbouring values of x ([rows, cols]; 0: the whole row) into out; x and out may
/// be the same. a.w, a.b: see norm_args. Relative error below 1e-6 + n * 6e-8 / (4 * lanes), n the group's length,
/// for the RMS norm; for the layer norm the same of the largest |x - mean| and of |mean|.
template <class V>
void norm(const parallel& p, const norm_args& a, const mat& x, const mat& out) noexcept {
  const u32 n = a.group ? a.group : x.cols;
  each_row(p, x.rows, x.cols, [&](u32 t) {
    for (u32 from = 0; from < x.cols; from += n) detail::norm_group<V>(a, x.row(t) + from, out.row(t) + from, n, from);
  });
}

}  // namespace jig::cpu
