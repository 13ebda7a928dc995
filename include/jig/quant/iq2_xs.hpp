#pragma once
// IQ2_XS: 256 weights in groups of eight from a codebook of 512 patterns, with 7-bit sign indices.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq2_xs_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ2_XS: w = d * (2s + 1) / 8 * magnitude * sign. Layout: f16 d, 32 u16 words (one per eight values: grid index in
/// the low 9 bits, sign index above), 8 bytes of 4-bit scales s, one per 16 values.
struct iq2_xs {
  static constexpr u32 id = 17;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq2_xs";
  using dot_with = q8_k;

  le_f16 d;
  le_u16 qs[32];
  u8 scales[8];

  static constexpr usize group = 16;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq2_xs& b) noexcept { return 0.125f * b.d; }
  static constexpr i32 group_scale(const iq2_xs& b, usize g) noexcept { return 2 * detail::nibble(b.scales, g) + 1; }
  static constexpr auto codes(const iq2_xs& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const u32 word = b.qs[k];
      codebook::signed_values<codebook::iq2_xs_grid>(word & 511, codebook::sign7(word >> 9), out.data() + 8 * k);
    }
    return out;
  }

  static constexpr void decode(const iq2_xs& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq2_xs> && coded_block<iq2_xs> && sizeof(iq2_xs) == 74);

}  // namespace jig
