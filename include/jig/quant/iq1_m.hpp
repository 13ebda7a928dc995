#pragma once
// IQ1_M: 256 weights in groups of eight ternary digits from a codebook of 2048 patterns, each shifted by an eighth.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq1_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ1_M: w = d * (2s + 1) * (digit + delta), delta = +-1/8. Layout: low 8 bits of 32 grid indices; a nibble for each
/// of them (upper 3 bits, sign of delta on top); four u16 words with 3-bit scales s, four to a word, one per 16
/// values. There is no field d: its f16 bits are the top nibbles of the four words, lowest first.
/// The codes here are 8 * digit +- 1, hence the factor 1/8 in the scale.
struct iq1_m {
  static constexpr u32 id = 29;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq1_m";
  using dot_with = q8_k;

  u8 qs[32];
  u8 qh[16];
  le_u16 scales[4];

  static constexpr usize group = 16;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq1_m& b) noexcept {
    u32 bits = 0;
    for (usize k = 0; k < 4; ++k) bits |= (u32{b.scales[k]} >> 12) << (4 * k);
    return 0.125f * f16_to_f32(static_cast<u16>(bits));
  }
  static constexpr i32 group_scale(const iq1_m& b, usize g) noexcept {
    return 2 * ((b.scales[g / 4] >> (3 * (g % 4))) & 7) + 1;
  }
  static constexpr auto codes(const iq1_m& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const u32 high = static_cast<u32>(detail::nibble(b.qh, k));
      const u32 index = b.qs[k] + 256u * (high & 7);
      codebook::shifted_digits<codebook::iq1_grid>(index, high & 8 ? -1 : 1, out.data() + 8 * k);
    }
    return out;
  }

  static constexpr void decode(const iq1_m& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq1_m> && coded_block<iq1_m> && sizeof(iq1_m) == 56);

}  // namespace jig
