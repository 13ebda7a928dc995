#pragma once
// IQ3_S: 256 weights in groups of four from a codebook of 512 patterns, with free signs.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq3_s_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ3_S: w = d * (2s + 1) * magnitude * sign (no division, unlike the other codebook types). Layout: f16 d, low 8
/// bits of 64 grid indices, their ninth bits (eight to a byte), 32 sign bytes, 4 bytes of 4-bit scales s, one per 32.
struct iq3_s {
  static constexpr u32 id = 21;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq3_s";
  using dot_with = q8_k;

  le_f16 d;
  u8 qs[64];
  u8 qh[8];
  u8 signs[32];
  u8 scales[4];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq3_s& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const iq3_s& b, usize g) noexcept { return 2 * detail::nibble(b.scales, g) + 1; }
  static constexpr auto codes(const iq3_s& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 64; ++k) {
      const u32 index = b.qs[k] + 256u * ((b.qh[k / 8] >> (k % 8)) & 1u);
      const u32 signs = b.signs[k / 2] >> (4 * (k % 2));
      codebook::signed_values<codebook::iq3_s_grid>(index, signs, out.data() + 4 * k);
    }
    return out;
  }

  static constexpr void decode(const iq3_s& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq3_s> && coded_block<iq3_s> && sizeof(iq3_s) == 110);

}  // namespace jig
