#pragma once
// Q8_0: 32 signed 8-bit weights and one scale; also the partner format of most 32-value weight formats.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"

namespace jig {

/// Q8_0: w = d * q. Layout: f16 d, 32 signed bytes. Encoders write -127..127; -128 is legal in files.
struct q8_0 {
  static constexpr u32 id = 8;
  static constexpr usize size = 32;
  static constexpr char name[] = "q8_0";
  using dot_with = q8_0;

  le_f16 d;
  i8 qs[32];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q8_0& b) noexcept { return b.d; }
  static constexpr auto codes(const q8_0& b) noexcept -> const i8 (&)[32] { return b.qs; }

  static constexpr void decode(const q8_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = max |x| / 127; the codes are computed with the unrounded d, halves away from zero.
  static constexpr void encode(std::span<const f32, size> x, q8_0& b) noexcept {
    const f32 d = detail::max_magnitude(x) / 127.0f;
    const f32 inv = detail::inverse(d);
    b.d = d;
    for (usize i = 0; i < size; ++i) b.qs[i] = static_cast<i8>(detail::round_away(detail::bounded(x[i] * inv, 127.0f)));
  }
};
static_assert(weight_block<q8_0> && coded_block<q8_0> && encodable<q8_0> && sizeof(q8_0) == 34);

}  // namespace jig
