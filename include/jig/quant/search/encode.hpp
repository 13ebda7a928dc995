#pragma once
// Encoders of the block types for which there are many good encodings: Q2_K to Q6_K, IQ4_NL, IQ4_XS. Scales are
// searched for (group.hpp), rounded to the type's own, and then tried some steps up and down; d is solved for again.
// Errors of rows are at most 3% above those of llama.cpp v0.4.0, mostly below (tests/quant/search_test.cpp).
//
//   search::encode(x, importance, block);   // x: T::size values; importance: as many weights, or null

#include <cmath>

#include "jig/quant/iq4_nl.hpp"
#include "jig/quant/iq4_xs.hpp"
#include "jig/quant/q2_k.hpp"
#include "jig/quant/q3_k.hpp"
#include "jig/quant/q4_k.hpp"
#include "jig/quant/q5_k.hpp"
#include "jig/quant/q6_k.hpp"
#include "jig/quant/search/group.hpp"

namespace jig::search {

namespace detail {

/// The weight of each value's error: larger values matter more, and columns with large activations.
inline void error_weights(std::span<const f32> x, const f32* importance, f32* w) noexcept {
  f32 square = 0.0f;
  for (f32 v : x) square += v * v;
  square /= static_cast<f32>(x.size());
  for (usize i = 0; i < x.size(); ++i) {
    w[i] = std::sqrt(square + x[i] * x[i]);
    if (importance != nullptr) w[i] *= importance[i];
    w[i] += 1e-30f;
  }
}

/// As f16 holds it; the largest one for what is larger, so that no value becomes infinite.
inline f32 rounded_f16(f32 v) noexcept { return f16_to_f32(f32_to_f16(jig::detail::bounded(v, 65504.0f))); }

inline i32 limited(f32 v, i32 low, i32 high) noexcept {
  const i32 n = jig::detail::round_even(jig::detail::bounded(v, 4096.0f));
  return n < low ? low : n > high ? high : n;
}

/// Codes and whole-number scales of a block of type T in groups.
template <class T>
struct parts {
  static constexpr usize groups = T::size / T::group;
  f32 d = 0.0f, dmin = 0.0f;
  i32 scales[groups] = {}, minima[groups] = {};
  u8 codes[T::size] = {};
};

/// How far from the nearest whole number scales (and minima) are tried, too.
inline constexpr i32 near_affine = 2, near_scaled = 3;

/// Chooses scales and minima of all groups, and codes, for given d and dmin. Returns the error.
template <class T>
f32 choose_affine(std::span<const f32, T::size> x, const f32* w, i32 most, i32 most_scale,
                  const fit (&fits)[parts<T>::groups], parts<T>& p) noexcept {
  const f32 per_d = jig::detail::inverse(p.d), per_dmin = jig::detail::inverse(p.dmin);
  f32 sum = 0.0f;
  for (usize g = 0; g < p.groups; ++g) {
    const auto values = x.subspan(g * T::group, T::group);
    const i32 s = limited(fits[g].scale * per_d, 0, most_scale), m = limited(fits[g].min * per_dmin, 0, most_scale);
    f32 best = std::numeric_limits<f32>::infinity();
    for (i32 a = s - near_affine; a <= s + near_affine; ++a)
      for (i32 b = m - near_affine; b <= m + near_affine; ++b) {
        if (a < 0 || b < 0 || a > most_scale || b > most_scale) continue;
        const f32 error =
            affine_error(values, w + g * T::group, most, p.d * static_cast<f32>(a), p.dmin * static_cast<f32>(b));
        if (error < best) best = error, p.scales[g] = a, p.minima[g] = b;
      }
    sum += best;
    const f32 scale = p.d * static_cast<f32>(p.scales[g]), min = p.dmin * static_cast<f32>(p.minima[g]);
    for (usize i = 0; i < T::group; ++i)
      p.codes[g * T::group + i] = static_cast<u8>(code_of((values[i] + min) * jig::detail::inverse(scale), most));
  }
  return sum;
}

/// d and dmin of least error for the whole numbers that were chosen.
template <class T>
void solve_affine(std::span<const f32, T::size> x, const f32* w, parts<T>& p) noexcept {
  f32 aa = 0.0f, ab = 0.0f, bb = 0.0f, ax = 0.0f, bx = 0.0f;
  for (usize i = 0; i < T::size; ++i) {
    const usize g = i / T::group;
    const f32 a = static_cast<f32>(p.scales[g] * p.codes[i]), b = static_cast<f32>(-p.minima[g]);
    aa += w[i] * a * a, ab += w[i] * a * b, bb += w[i] * b * b, ax += w[i] * a * x[i], bx += w[i] * b * x[i];
  }
  const f32 determinant = aa * bb - ab * ab;
  if (determinant > 1e-6f * aa * bb) {
    p.d = (ax * bb - bx * ab) / determinant, p.dmin = (bx * aa - ax * ab) / determinant;
  } else if (aa > 0.0f) {
    p.d = ax / aa;
  }
  p.d = rounded_f16(p.d), p.dmin = rounded_f16(p.dmin);
}

/// Where the search for d begins, as parts of what the largest group's scale asks for; how often it is then solved for.
inline constexpr f32 starts[] = {1.0f, 0.94f, 1.06f};
inline constexpr u32 rounds = 3;

/// Types with minima: codes in [0, most], scales and minima in [0, most_scale].
template <class T>
parts<T> search_affine(std::span<const f32, T::size> x, const f32* w, i32 most, i32 most_scale) noexcept {
  parts<T> best;
  fit fits[parts<T>::groups];
  f32 largest = 0.0f, largest_min = 0.0f;
  for (usize g = 0; g < best.groups; ++g) {
    fits[g] = fit_affine(x.subspan(g * T::group, T::group), w + g * T::group, most);
    largest = fits[g].scale > largest ? fits[g].scale : largest;
    largest_min = fits[g].min > largest_min ? fits[g].min : largest_min;
  }
  f32 least = std::numeric_limits<f32>::infinity();
  for (const f32 start : starts) {
    parts<T> p;
    p.d = rounded_f16(start * largest / static_cast<f32>(most_scale));
    p.dmin = rounded_f16(start * largest_min / static_cast<f32>(most_scale));
    for (u32 k = 0; k < rounds; ++k) {
      if (k != 0) solve_affine<T>(x, w, p);
      const f32 error = choose_affine<T>(x, w, most, most_scale, fits, p);
      if (error < least) least = error, best = p;
      else if (k != 0) break;
    }
  }
  return best;
}

/// Chooses scales of all groups, and codes, for a given d. Returns the error.
template <class T, class Codes, class Number>
f32 choose_scaled(std::span<const f32, T::size> x, const f32* w, const Codes& codes, i32 low, Number number,
                  const f32 (&wanted)[parts<T>::groups], parts<T>& p) noexcept {
  f32 sum = 0.0f;
  for (usize g = 0; g < p.groups; ++g) {
    const auto values = x.subspan(g * T::group, T::group);
    const i32 s = limited(wanted[g] * jig::detail::inverse(p.d), low, -low - 1);
    f32 best = std::numeric_limits<f32>::infinity();
    for (i32 a = s - near_scaled; a <= s + near_scaled; ++a) {
      if (a < low || a > -low - 1) continue;
      const f32 error = scaled_error(values, w + g * T::group, codes, p.d * static_cast<f32>(a));
      if (error < best) best = error, p.scales[g] = a;
    }
    sum += best;
    const f32 inverse = jig::detail::inverse(p.d * static_cast<f32>(p.scales[g]));
    for (usize i = 0; i < T::group; ++i) p.codes[g * T::group + i] = static_cast<u8>(number(values[i] * inverse));
  }
  return sum;
}

/// d of least error for the scales and codes that were chosen.
template <class T, class Codes>
void solve_scaled(std::span<const f32, T::size> x, const f32* w, const Codes& codes, parts<T>& p) noexcept {
  f32 products = 0.0f, squares = 0.0f;
  for (usize i = 0; i < T::size; ++i) {
    const usize g = i / T::group;
    const f32 s = static_cast<f32>(p.scales[g]);
    const f32 value = s * codes.nearest(x[i] * jig::detail::inverse(p.d * s));
    products += w[i] * value * x[i], squares += w[i] * value * value;
  }
  if (squares > 0.0f) p.d = rounded_f16(products / squares);
}

/// Types without minima: scales in [low, -low - 1]; `number(v)` gives the stored code of the value v / scale.
template <class T, class Codes, class Number>
parts<T> search_scaled(std::span<const f32, T::size> x, const f32* w, const Codes& codes, i32 low,
                       Number number) noexcept {
  parts<T> best;
  f32 wanted[parts<T>::groups];
  for (usize g = 0; g < best.groups; ++g)
    wanted[g] = fit_scaled(x.subspan(g * T::group, T::group), w + g * T::group, codes).scale;
  f32 least = std::numeric_limits<f32>::infinity();
  for (const f32 start : starts) {
    parts<T> p;
    p.d = rounded_f16(start * unit_of(wanted, low));
    for (u32 k = 0; k < rounds; ++k) {
      if (k != 0) solve_scaled<T>(x, w, codes, p);
      const f32 error = choose_scaled<T>(x, w, codes, low, number, wanted, p);
      if (error < least) least = error, best = p;
      else if (k != 0) break;
    }
  }
  return best;
}

/// 2-bit codes to the layout of two_bit_planes.
inline void put_two_bits(const u8* codes, u8 (&qs)[64]) noexcept {
  for (usize l = 0; l < 64; ++l) {
    const u8* const c = codes + l / 32 * 128 + l % 32;
    qs[l] = static_cast<u8>((c[0] & 3) | (c[32] & 3) << 2 | (c[64] & 3) << 4 | (c[96] & 3) << 6);
  }
}
/// 4-bit codes to the layout of nibble_planes.
inline void put_nibbles(const u8* codes, u8 (&qs)[128]) noexcept {
  for (usize l = 0; l < 128; ++l) {
    const u8* const c = codes + l / 32 * 64 + l % 32;
    qs[l] = static_cast<u8>((c[0] & 15) | (c[32] & 15) << 4);
  }
}
/// Bit `place` of each code to the layout of add_bit_planes.
inline void put_bits(const u8* codes, u32 place, u8 (&bits)[32]) noexcept {
  for (usize l = 0; l < 32; ++l) {
    u32 byte = 0;
    for (usize p = 0; p < 8; ++p) byte |= ((codes[32 * p + l] >> place) & 1u) << p;
    bits[l] = static_cast<u8>(byte);
  }
}
/// Eight scales and minima of six bits, see detail/k_scales.hpp.
template <class T>
void put_k_scales(const parts<T>& p, u8 (&s)[12]) noexcept {
  for (usize j = 0; j < 4; ++j) {
    s[j] = static_cast<u8>(p.scales[j] | (p.scales[j + 4] >> 4) << 6);
    s[j + 4] = static_cast<u8>(p.minima[j] | (p.minima[j + 4] >> 4) << 6);
    s[j + 8] = static_cast<u8>((p.scales[j + 4] & 15) | (p.minima[j + 4] & 15) << 4);
  }
}

inline void write(const parts<q2_k>& p, q2_k& b) noexcept {
  b.d = p.d, b.dmin = p.dmin;
  for (usize g = 0; g < 16; ++g) b.scales[g] = static_cast<u8>(p.scales[g] | p.minima[g] << 4);
  put_two_bits(p.codes, b.qs);
}
inline void write(const parts<q4_k>& p, q4_k& b) noexcept {
  b.d = p.d, b.dmin = p.dmin;
  put_k_scales(p, b.scales);
  put_nibbles(p.codes, b.qs);
}
inline void write(const parts<q5_k>& p, q5_k& b) noexcept {
  b.d = p.d, b.dmin = p.dmin;
  put_k_scales(p, b.scales);
  put_nibbles(p.codes, b.qs);
  put_bits(p.codes, 4, b.qh);
}
inline void write(const parts<q3_k>& p, q3_k& b) noexcept {
  b.d = p.d;
  for (u8& s : b.scales) s = 0;
  for (usize j = 0; j < 16; ++j) {
    const u32 s = static_cast<u32>(p.scales[j] + 32);
    b.scales[j % 8] = static_cast<u8>(b.scales[j % 8] | (s & 15) << (j < 8 ? 0 : 4));
    b.scales[8 + j % 4] = static_cast<u8>(b.scales[8 + j % 4] | (s >> 4) << (2 * (j / 4)));
  }
  put_two_bits(p.codes, b.qs);
  put_bits(p.codes, 2, b.hmask);
}
inline void write(const parts<q6_k>& p, q6_k& b) noexcept {
  b.d = p.d;
  for (usize g = 0; g < 16; ++g) b.scales[g] = static_cast<i8>(p.scales[g]);
  u8 high[256];
  for (usize i = 0; i < 256; ++i) high[i] = p.codes[i] >> 4;
  put_two_bits(high, b.qh);
  for (usize l = 0; l < 128; ++l) {
    const u8* const c = p.codes + l / 64 * 128 + l % 64;
    b.ql[l] = static_cast<u8>((c[0] & 15) | (c[64] & 15) << 4);
  }
}
inline void write(const parts<iq4_xs>& p, iq4_xs& b) noexcept {
  b.d = p.d;
  u32 high = 0;
  for (u8& s : b.scales_low) s = 0;
  for (usize g = 0; g < 8; ++g) {
    const u32 s = static_cast<u32>(p.scales[g] + 32);
    b.scales_low[g / 2] = static_cast<u8>(b.scales_low[g / 2] | (s & 15) << (g % 2 * 4));
    high |= (s >> 4) << (2 * g);
    for (usize i = 0; i < 16; ++i) b.qs[g][i] = static_cast<u8>(p.codes[32 * g + i] | p.codes[32 * g + 16 + i] << 4);
  }
  b.scales_high = static_cast<u16>(high);
}

inline constexpr levels iq4_levels{codebook::iq4_nl};

/// The stored code of a signed number whose codes are `bias` too high.
template <i32 Bias>
struct biased {
  whole_numbers numbers{-Bias, Bias - 1};
  i32 operator()(f32 v) const noexcept { return static_cast<i32>(numbers.nearest(v)) + Bias; }
};

}  // namespace detail

/// Encodes a block. importance: how much each column matters (mean squares of activations), or null.
template <class T>
void encode(std::span<const f32, T::size> x, const f32* importance, T& b) noexcept {
  f32 w[T::size];
  detail::error_weights(x, importance, w);
  if constexpr (T::id == q2_k::id) detail::write(detail::search_affine<T>(x, w, 3, 15), b);
  else if constexpr (T::id == q4_k::id) detail::write(detail::search_affine<T>(x, w, 15, 63), b);
  else if constexpr (T::id == q5_k::id) detail::write(detail::search_affine<T>(x, w, 31, 63), b);
  else if constexpr (T::id == q3_k::id)
    detail::write(detail::search_scaled<T>(x, w, whole_numbers{-4, 3}, -32, detail::biased<4>{}), b);
  else if constexpr (T::id == q6_k::id)
    detail::write(detail::search_scaled<T>(x, w, whole_numbers{-32, 31}, -128, detail::biased<32>{}), b);
  else if constexpr (T::id == iq4_xs::id)
    detail::write(
        detail::search_scaled<T>(x, w, detail::iq4_levels, -32, [](f32 v) { return detail::iq4_levels.number(v); }), b);
  else {
    static_assert(T::id == iq4_nl::id, "this type has an encoder that is a formula, or none yet");
    const f32 d = detail::rounded_f16(fit_scaled(x, w, detail::iq4_levels).scale), inverse = jig::detail::inverse(d);
    code_array<u8, 32> codes;
    for (usize i = 0; i < 32; ++i) codes[i] = static_cast<u8>(detail::iq4_levels.number(x[i] * inverse));
    b.d = d;
    jig::detail::pack_nibble_halves(codes, b.qs);
  }
}

}  // namespace jig::search
