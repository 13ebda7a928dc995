#pragma once
// IQ1_S: 256 weights in groups of eight ternary digits from a codebook of 2048 patterns, shifted by an eighth.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq1_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ1_S: w = d * (2s + 1) * (digit + delta), delta = +-1/8. Layout: f16 d, low 8 bits of 32 grid indices, then per
/// 32 values a u16 word: upper 3 bits of four indices, scale s (3 bits), sign of delta in the top bit.
/// The codes here are 8 * digit +- 1, hence the factor 1/8 in the scale.
struct iq1_s {
  static constexpr u32 id = 19;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq1_s";
  using dot_with = q8_k;

  le_f16 d;
  u8 qs[32];
  le_u16 qh[8];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq1_s& b) noexcept { return 0.125f * b.d; }
  static constexpr i32 group_scale(const iq1_s& b, usize g) noexcept { return 2 * ((b.qh[g] >> 12) & 7) + 1; }
  static constexpr auto codes(const iq1_s& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const u32 word = b.qh[k / 4];
      const u32 index = b.qs[k] + 256u * ((word >> (3 * (k % 4))) & 7u);
      codebook::shifted_digits<codebook::iq1_grid>(index, word >> 15 ? -1 : 1, out.data() + 8 * k);
    }
    return out;
  }

  static constexpr void decode(const iq1_s& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq1_s> && coded_block<iq1_s> && sizeof(iq1_s) == 50);

}  // namespace jig
