#pragma once
// Q6_K: 256 weights of 6 bits around zero, sixteen groups with signed 8-bit scales.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// Q6_K: w = d * sc * (q - 32). Layout: ql[128], 64 bytes of two-bit planes (the upper bits), 16 signed scales,
/// f16 d. Of each 64 bytes of ql, the low halves hold 64 values and the high halves the next 64. d may be negative.
struct q6_k {
  static constexpr u32 id = 14;
  static constexpr usize size = 256;
  static constexpr char name[] = "q6_K";
  using dot_with = q8_k;

  u8 ql[128];
  u8 qh[64];
  i8 scales[16];
  le_f16 d;

  static constexpr usize group = 16;
  static constexpr i32 bias = 32;
  static constexpr f32 scale(const q6_k& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const q6_k& b, usize g) noexcept { return b.scales[g]; }
  static constexpr auto codes(const q6_k& b) noexcept {
    auto q = detail::two_bit_planes(b.qh);
    for (usize h = 0; h < 2; ++h) {
      for (usize l = 0; l < 64; ++l) {
        u8 &low = q[128 * h + l], &high = q[128 * h + 64 + l];
        low = static_cast<u8>((low << 4) | (b.ql[64 * h + l] & 15));
        high = static_cast<u8>((high << 4) | (b.ql[64 * h + l] >> 4));
      }
    }
    return q;
  }

  static constexpr void decode(const q6_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<q6_k> && coded_block<q6_k> && sizeof(q6_k) == 210);

}  // namespace jig
