#pragma once
// Arithmetic of the exact encoders: everything in f32, with one rule for rounding that holds on every compiler.
//
// A product that is rounded to a code must itself be rounded to f32 first. Compilers may fuse `x * id + 8.5f` into
// one operation and so change a code here and there; `bounded` between the two prevents it, and makes the conversion
// to an integer safe for infinities and NaNs.

#include <span>

#include "jig/core/types.hpp"

namespace jig::detail {

/// v within [-limit, limit]; NaN gives -limit.
constexpr f32 bounded(f32 v, f32 limit) noexcept { return v > limit ? limit : v >= -limit ? v : -limit; }

constexpr f32 magnitude(f32 v) noexcept { return v < 0 ? -v : v; }

/// To the nearest integer, halves away from zero. v: a bounded number, |v| < 2^22.
constexpr i32 round_away(f32 v) noexcept {
  const i32 whole = static_cast<i32>(v);
  const f32 rest = v - static_cast<f32>(whole);
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

/// To the nearest integer, halves to the even one. v: a bounded number, |v| < 2^22.
constexpr i32 round_even(f32 v) noexcept {
  const i32 whole = static_cast<i32>(v);
  const f32 rest = v - static_cast<f32>(whole);
  const bool odd = (whole & 1) != 0;
  return whole + (rest > 0.5f || (rest == 0.5f && odd)) - (rest < -0.5f || (rest == -0.5f && odd));
}

/// 1 / d, and 0 for d = 0.
constexpr f32 inverse(f32 d) noexcept { return d != 0 ? 1.0f / d : 0.0f; }

/// The largest magnitude. NaNs are skipped.
constexpr f32 max_magnitude(std::span<const f32> x) noexcept {
  f32 best = 0;
  for (f32 v : x) best = magnitude(v) > best ? magnitude(v) : best;
  return best;
}

/// The value of largest magnitude with its sign, the first one on a tie. NaNs are skipped.
constexpr f32 signed_extreme(std::span<const f32> x) noexcept {
  f32 best = 0;
  for (f32 v : x) best = magnitude(v) > magnitude(best) ? v : best;
  return best;
}

/// The smallest and the largest value. NaNs are skipped.
struct value_range {
  f32 low, high;
};
constexpr value_range range(std::span<const f32> x) noexcept {
  value_range r{std::numeric_limits<f32>::max(), std::numeric_limits<f32>::lowest()};
  for (f32 v : x) {
    if (v < r.low) r.low = v;
    if (v > r.high) r.high = v;
  }
  return r;
}

/// The digit 0, 1, 2 for a value in [-1, 1]: rounded, halves away from zero.
constexpr i32 ternary_code(f32 v) noexcept { return round_away(bounded(v, 1.0f)) + 1; }

/// The code whose value `table[code] * scale` lies nearest to v, the lowest one on a tie.
constexpr u8 nearest_code(f32 v, f32 scale, const i8 (&table)[16]) noexcept {
  u8 best = 0;
  f32 best_distance = magnitude(static_cast<f32>(table[0]) * scale - v);
  for (u8 code = 1; code < 16; ++code) {
    const f32 distance = magnitude(static_cast<f32>(table[code]) * scale - v);
    if (distance < best_distance) best = code, best_distance = distance;
  }
  return best;
}

}  // namespace jig::detail
