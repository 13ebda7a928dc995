#pragma once
// IQ4_XS: 256 weights of 4 bits on 16 unevenly spaced levels, eight groups with signed 6-bit scales.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/iq4_nl.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ4_XS: w = d * (sc - 32) * level[q]. Layout: f16 d, u16 with the upper 2 bits of eight scales, 4 bytes with their
/// low 4 bits, then per 32 values 16 bytes: low halves first, high halves next. d may be negative.
struct iq4_xs {
  static constexpr u32 id = 23;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq4_xs";
  using dot_with = q8_k;

  le_f16 d;
  le_u16 scales_high;
  u8 scales_low[4];
  u8 qs[8][16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq4_xs& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const iq4_xs& b, usize g) noexcept {
    return detail::nibble(b.scales_low, g) + 16 * ((b.scales_high >> (2 * g)) & 3) - 32;
  }
  static constexpr auto codes(const iq4_xs& b) noexcept {
    code_array<i8, size> out;
    for (usize g = 0; g < 8; ++g) {
      const auto levels = detail::look_up(detail::nibble_halves(b.qs[g]), codebook::iq4_nl);
      for (usize i = 0; i < 32; ++i) out[32 * g + i] = levels[i];
    }
    return out;
  }

  static constexpr void decode(const iq4_xs& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq4_xs> && coded_block<iq4_xs> && sizeof(iq4_xs) == 136);

}  // namespace jig
