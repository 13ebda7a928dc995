#pragma once
// Dot products of weight blocks with activation blocks: one plain loop per partner format, right for every type.
//
// Integer codes are multiplied and summed exactly in 32 bits; scales enter per group in f32. Codes with a bias are
// handled as sum(q * y) - bias * sum(y): GCC 12 vectorises sum((q - bias) * y) wrongly where the machine has an
// instruction for u8 x i8 dots (AVX512-VNNI, AVX-VNNI, Arm i8mm), and the split form is also the faster one.
// Backends overload by instruction set and fall back to these.

#include "jig/quant/coded.hpp"
#include "jig/quant/f32.hpp"
#include "jig/quant/q8_0.hpp"
#include "jig/quant/q8_1.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

namespace detail {

/// sum((q[i] - Bias) * y[i]) over N codes; Code is u8, or i8 with Bias 0.
template <usize N, i32 Bias, class Code>
constexpr i32 dot_codes(const Code* q, const i8* y) noexcept {
  i32 sum = 0, ys = 0;
  for (usize i = 0; i < N; ++i) {
    sum += i32{q[i]} * i32{y[i]};
    if constexpr (Bias != 0) ys += y[i];
  }
  return sum - Bias * ys;
}

/// Weight blocks of 32 or more values against Q8_0 or Q8_1 blocks of 32.
template <class W, class A>
constexpr f32 dot_q8(const W* w, const A* a, usize n) noexcept {
  constexpr usize step = W::group < A::size ? W::group : A::size;
  static_assert(W::size % A::size == 0 && W::group % step == 0 && A::size % step == 0);
  f32 total = 0;
  for (usize k = 0; k < n; ++k) {
    const auto& codes = W::codes(w[k]);
    f32 sum = 0;
    for (usize i = 0; i < W::size; i += step) {
      const A& y = a[i / A::size];
      const i32 s = dot_codes<step, W::bias>(&codes[i], y.qs + i % A::size);
      sum += y.d * static_cast<f32>(group_scale(w[k], i / W::group)) * static_cast<f32>(s);
    }
    total += W::scale(w[k]) * sum;
    if constexpr (has_min<W>) {
      static_assert(W::size == A::size);
      total -= W::min(w[k]) * a->s;
    }
    a += W::size / A::size;
  }
  return total;
}

/// Weight blocks of 256 values against Q8_K: scales and minima of the groups are integers and stay so.
template <class W>
constexpr f32 dot_q8_k(const W* w, const q8_k* a, usize n) noexcept {
  static_assert(W::size == q8_k::size && W::group % 16 == 0);
  f32 total = 0;
  for (usize k = 0; k < n; ++k) {
    const auto& codes = W::codes(w[k]);
    i32 sum = 0, mins = 0;
    for (usize g = 0; g < W::size / W::group; ++g) {
      i32 s = dot_codes<W::group, 0>(&codes[g * W::group], a[k].qs + g * W::group);
      if constexpr (W::bias != 0 || has_min<W>) {
        i32 ys = 0;
        for (usize j = 0; j < W::group / 16; ++j) ys += q8_k::sum(a[k], g * (W::group / 16) + j);
        s -= W::bias * ys;
        if constexpr (has_min<W>) mins += group_min(w[k], g) * ys;
      }
      sum += group_scale(w[k], g) * s;
    }
    f32 block = W::scale(w[k]) * static_cast<f32>(sum);
    if constexpr (has_min<W>) block -= W::min(w[k]) * static_cast<f32>(mins);
    total += a[k].d * block;
  }
  return total;
}

inline constexpr usize dot_lanes = 8;  ///< partial sums, so that compilers can vectorise float dots

constexpr f32 add_lanes(const f32 (&lanes)[dot_lanes]) noexcept {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// Blocks of one plain number.
template <class W, class A>
constexpr f32 dot_plain(const W* w, const A* a, usize n) noexcept {
  f32 lanes[dot_lanes] = {};
  for (usize k = 0; k < n / dot_lanes; ++k, w += dot_lanes, a += dot_lanes) {
    for (usize j = 0; j < dot_lanes; ++j) lanes[j] += f32(w[j].value) * f32(a[j].value);
  }
  for (usize j = 0; j < n % dot_lanes; ++j) lanes[j] += f32(w[j].value) * f32(a[j].value);
  return add_lanes(lanes);
}

}  // namespace detail

/// Dot product of `n` weight blocks with activations in the partner format, both covering the same values.
/// Integer sums are exact; the rest is f32. Against real arithmetic on the same blocks the error stays below
/// 5e-6 * sum |w * a| for rows of usual length (with Q8_1, whose sum is an f16, below 2e-3).
template <weight_block W>
constexpr f32 dot(const W* w, const typename W::dot_with* a, usize n) noexcept {
  using A = typename W::dot_with;
  if constexpr (!coded_block<W>) return detail::dot_plain(w, a, n);
  else if constexpr (std::is_same_v<A, q8_k>) return detail::dot_q8_k(w, a, n);
  else return detail::dot_q8(w, a, n);
}

/// Dot product of `n` blocks with plain f32 values [n * W::size]: the weights are decoded, nothing else is rounded
/// to fewer bits than f32. Slow and accurate; for references and for activations that are not encoded.
template <quant_block W>
constexpr f32 dot_f32(const W* w, const f32* x, usize n) noexcept {
  f32 lanes[detail::dot_lanes] = {};
  for (usize k = 0; k < n; ++k, x += W::size) {
    code_array<f32, W::size> values;
    W::decode(w[k], values);
    for (usize i = 0; i < W::size; ++i) {
      // blocks of one value take the lanes in turn, longer ones (multiples of 8) walk through them
      lanes[(W::size == 1 ? k : i) % detail::dot_lanes] += values[i] * x[i];
    }
  }
  return detail::add_lanes(lanes);
}

}  // namespace jig
