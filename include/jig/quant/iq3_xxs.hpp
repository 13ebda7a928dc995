#pragma once
// IQ3_XXS: 256 weights in groups of four from a codebook of 256 patterns, with 7-bit sign indices per eight.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq3_xxs_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ3_XXS: w = d * (2s + 1) / 4 * magnitude * sign. Layout: f16 d, 64 grid indices of 8 bits (one per four values),
/// then per 32 values a u32 word: four sign indices of 7 bits with the scale s in the top four bits.
struct iq3_xxs {
  static constexpr u32 id = 18;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq3_xxs";
  using dot_with = q8_k;

  le_f16 d;
  u8 qs[64];
  le_u32 signs[8];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq3_xxs& b) noexcept { return 0.25f * b.d; }
  static constexpr i32 group_scale(const iq3_xxs& b, usize g) noexcept {
    return static_cast<i32>(2 * (b.signs[g] >> 28) + 1);
  }
  static constexpr auto codes(const iq3_xxs& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const u32 signs = codebook::sign7((b.signs[k / 4] >> (7 * (k % 4))) & 127);
      codebook::signed_values<codebook::iq3_xxs_grid>(b.qs[2 * k], signs, out.data() + 8 * k);
      codebook::signed_values<codebook::iq3_xxs_grid>(b.qs[2 * k + 1], signs >> 4, out.data() + 8 * k + 4);
    }
    return out;
  }

  static constexpr void decode(const iq3_xxs& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq3_xxs> && coded_block<iq3_xxs> && sizeof(iq3_xxs) == 98);

}  // namespace jig
