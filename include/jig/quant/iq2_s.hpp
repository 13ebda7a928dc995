#pragma once
// IQ2_S: 256 weights in groups of eight from a codebook of 1024 patterns, with free signs.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/grid.hpp"
#include "jig/quant/codebook/iq2_s_grid.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// IQ2_S: w = d * (2s + 1) / 8 * magnitude * sign. Layout: f16 d, low 8 bits of 32 grid indices, 32 sign bytes,
/// upper 2 bits of the indices (four to a byte), 8 bytes of 4-bit scales s, one per 16 values.
struct iq2_s {
  static constexpr u32 id = 22;
  static constexpr usize size = 256;
  static constexpr char name[] = "iq2_s";
  using dot_with = q8_k;

  le_f16 d;
  u8 qs[32];
  u8 signs[32];
  u8 qh[8];
  u8 scales[8];

  static constexpr usize group = 16;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq2_s& b) noexcept { return 0.125f * b.d; }
  static constexpr i32 group_scale(const iq2_s& b, usize g) noexcept { return 2 * detail::nibble(b.scales, g) + 1; }
  static constexpr auto codes(const iq2_s& b) noexcept {
    code_array<i8, size> out;
    for (usize k = 0; k < 32; ++k) {
      const u32 index = b.qs[k] + 256u * ((b.qh[k / 4] >> (2 * (k % 4))) & 3u);
      codebook::signed_values<codebook::iq2_s_grid>(index, b.signs[k], out.data() + 8 * k);
    }
    return out;
  }

  static constexpr void decode(const iq2_s& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq2_s> && coded_block<iq2_s> && sizeof(iq2_s) == 82);

}  // namespace jig
