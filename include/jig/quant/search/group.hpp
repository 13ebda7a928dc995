#pragma once
// Searches for the scale of a group of weights that are to become small whole numbers: for each of some starting points
// the codes are rounded, then scale (and minimum) are solved for by least squares, and the best of all is kept.
//
// Errors are sums of w * (x - value)^2, with a weight for each value.

#include <span>

#include "jig/quant/detail/encode.hpp"

namespace jig::search {

/// A scale, and a minimum that is subtracted; `error` is what they leave.
struct fit {
  f32 scale = 0.0f, min = 0.0f, error = 0.0f;
};

/// Weighted squares of x themselves: the error of a group that becomes 0.
constexpr f32 squares(std::span<const f32> x, const f32* w) noexcept {
  f32 sum = 0.0f;
  for (usize i = 0; i < x.size(); ++i) sum += w[i] * x[i] * x[i];
  return sum;
}

/// The code in [0, most] nearest to v, which is bounded.
constexpr i32 code_of(f32 v, i32 most) noexcept {
  const i32 code = jig::detail::round_even(jig::detail::bounded(v, 2048.0f));
  return code < 0 ? 0 : code > most ? most : code;
}

/// The error of values scale * code - min with the best codes in [0, most].
constexpr f32 affine_error(std::span<const f32> x, const f32* w, i32 most, f32 scale, f32 min) noexcept {
  const f32 inverse = jig::detail::inverse(scale);
  f32 error = 0.0f;
  for (usize i = 0; i < x.size(); ++i) {
    const f32 rest = x[i] + min - scale * static_cast<f32>(code_of((x[i] + min) * inverse, most));
    error += w[i] * rest * rest;
  }
  return error;
}

/// x ~ scale * code - min with codes in [0, most] and min >= 0.
constexpr fit fit_affine(std::span<const f32> x, const f32* w, i32 most) noexcept {
  const auto range = jig::detail::range(x);
  const f32 low = range.low < 0.0f ? range.low : 0.0f;
  if (!(range.high > low)) return {0.0f, -low, affine_error(x, w, most, 0.0f, -low)};
  f32 weights = 0.0f, values = 0.0f;
  for (usize i = 0; i < x.size(); ++i) weights += w[i], values += w[i] * x[i];
  fit best{(range.high - low) / static_cast<f32>(most), -low, 0.0f};
  best.error = affine_error(x, w, most, best.scale, best.min);
  const auto take = [&](f32 scale, f32 min) {
    const f32 error = affine_error(x, w, most, scale, min);
    if (error < best.error) best = {scale, min, error};
  };
  for (i32 step = -10; step <= 12; ++step) {
    const f32 inverse = (static_cast<f32>(most) + 0.1f * static_cast<f32>(step)) / (range.high - low);
    f32 codes = 0.0f, code_squares = 0.0f, products = 0.0f;
    for (usize i = 0; i < x.size(); ++i) {
      const f32 code = static_cast<f32>(code_of((x[i] - low) * inverse, most));
      codes += w[i] * code;
      code_squares += w[i] * code * code;
      products += w[i] * code * x[i];
    }
    const f32 determinant = weights * code_squares - codes * codes;
    if (!(determinant > 0.0f)) continue;
    const f32 scale = (weights * products - codes * values) / determinant;
    const f32 min = (codes * products - code_squares * values) / determinant;
    if (scale > 0.0f && min >= 0.0f) take(scale, min);
    else if (code_squares > 0.0f && products > 0.0f) take(products / code_squares, 0.0f);
  }
  return best;
}

/// Evenly spaced numbers low, low + 1 ... high as codes.
struct whole_numbers {
  i32 low, high;
  constexpr f32 nearest(f32 v) const noexcept {
    const i32 n = jig::detail::round_even(jig::detail::bounded(v, 2048.0f));
    return static_cast<f32>(n < low ? low : n > high ? high : n);
  }
  constexpr f32 most() const noexcept { return static_cast<f32>(-low); }
};

/// The 16 rising levels of a table as codes.
struct levels {
  const i8 (&table)[16];
  constexpr i32 number(f32 v) const noexcept {
    i32 at = 0;
    for (i32 i = 1; i < 16; ++i) at += v > 0.5f * static_cast<f32>(table[i - 1] + table[i]);
    return at;
  }
  constexpr f32 nearest(f32 v) const noexcept { return static_cast<f32>(table[number(v)]); }
  constexpr f32 most() const noexcept { return static_cast<f32>(-table[0]); }
};

/// The error of values scale * code with the best codes.
template <class Codes>
constexpr f32 scaled_error(std::span<const f32> x, const f32* w, const Codes& codes, f32 scale) noexcept {
  const f32 inverse = jig::detail::inverse(scale);
  f32 error = 0.0f;
  for (usize i = 0; i < x.size(); ++i) {
    const f32 rest = x[i] - scale * codes.nearest(x[i] * inverse);
    error += w[i] * rest * rest;
  }
  return error;
}

/// x ~ scale * code, the scale of either sign: the side of the codes that reaches further takes the largest value.
template <class Codes>
constexpr fit fit_scaled(std::span<const f32> x, const f32* w, const Codes& codes) noexcept {
  const f32 extreme = jig::detail::signed_extreme(x);
  fit best{0.0f, 0.0f, squares(x, w)};
  if (extreme == 0.0f) return best;
  for (i32 side = -1; side <= 1; side += 2)
    for (i32 step = -12; step <= 12; ++step) {
      const f32 inverse = static_cast<f32>(side) * codes.most() * (1.0f + 0.02f * static_cast<f32>(step)) / extreme;
      f32 products = 0.0f, code_squares = 0.0f;
      for (usize i = 0; i < x.size(); ++i) {
        const f32 code = codes.nearest(x[i] * inverse);
        products += w[i] * code * x[i];
        code_squares += w[i] * code * code;
      }
      if (!(code_squares > 0.0f)) continue;
      const f32 scale = products / code_squares, error = scaled_error(x, w, codes, scale);
      if (error < best.error) best = {scale, 0.0f, error};
    }
  return best;
}

/// Whole numbers [low, high] as multiples of a common unit that stand for given numbers: the one of largest magnitude
/// gets the number that reaches furthest.
constexpr f32 unit_of(std::span<const f32> numbers, i32 low) noexcept {
  return jig::detail::signed_extreme(numbers) / static_cast<f32>(low);
}

}  // namespace jig::search
