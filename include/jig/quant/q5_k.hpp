#pragma once
// Q5_K: 256 weights of 5 bits, eight groups with 6-bit scales and minima.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/k_scales.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// Q5_K: w = d * sc * q - dmin * mn. Layout: f16 d, f16 dmin, 12 bytes of scales and minima (detail/k_scales.hpp),
/// qh[32], 128 bytes of low codes as in Q4_K. Bit i / 32 of qh[i % 32] is the fifth bit of w[i].
struct q5_k {
  static constexpr u32 id = 13;
  static constexpr usize size = 256;
  static constexpr char name[] = "q5_K";
  using dot_with = q8_k;

  le_f16 d, dmin;
  u8 scales[12];
  u8 qh[32];
  u8 qs[128];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q5_k& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const q5_k& b, usize g) noexcept { return detail::k_scale(b.scales, g); }
  static constexpr f32 min(const q5_k& b) noexcept { return b.dmin; }
  static constexpr i32 group_min(const q5_k& b, usize g) noexcept { return detail::k_min(b.scales, g); }
  static constexpr auto codes(const q5_k& b) noexcept {
    auto q = detail::nibble_planes(b.qs);
    detail::add_bit_planes(b.qh, 4, q);
    return q;
  }

  static constexpr void decode(const q5_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<q5_k> && coded_block<q5_k> && sizeof(q5_k) == 176);

}  // namespace jig
