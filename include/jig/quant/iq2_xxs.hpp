#pragma once
// IQ2_XXS: 256 weights in groups of eight from a codebook of 256 patterns, with 7-bit sign indices.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq2_xxs_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ2_XXS: w = d * (2s + 1) / 8 * magnitude * sign. Layout: f16 d, then per 32 values two u32 words: four grid
/// indices of 8 bits; four sign indices of 7 bits with the scale s in the top four bits.
struct iq2_xxs {
  static constexpr u32 id = 16;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq2_xxs";
  using dot_with = q8_k;

  le_f16 d;
  struct {
    u8 grid[4];
    le_u32 signs;
  } groups[8];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq2_xxs& b) noexcept { return 0.125f * b.d; }
  static constexpr i32 group_scale(const iq2_xxs& b, usize g) noexcept {
    return static_cast<i32>(2 * (b.groups[g].signs >> 28) + 1);
  }
  static constexpr auto codes(const iq2_xxs& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const auto& g = b.groups[k / 4];
      const u32 signs = codebook::sign7((g.signs >> (7 * (k % 4))) & 127);
      codebook::signed_values<codebook::iq2_xxs_grid>(g.grid[k % 4], signs, out.data() + 8 * k);
    }
    return out;
  }

  static constexpr void decode(const iq2_xxs& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq2_xxs> && coded_block<iq2_xxs> && sizeof(iq2_xxs) == 66);

}  // namespace jig
