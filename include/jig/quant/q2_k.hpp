#pragma once
// Q2_K: 256 weights of 2 bits, sixteen groups with 4-bit scales and minima.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// Q2_K: w = d * sc * q - dmin * mn. Layout: 16 bytes (sc low, mn high, one per 16 values), 64 bytes of two-bit
/// planes, f16 d, f16 dmin.
struct q2_k {
  static constexpr u32 id = 10;
  static constexpr usize size = 256;
  static constexpr char name[] = "q2_K";
  using dot_with = q8_k;

  u8 scales[16];
  u8 qs[64];
  le_f16 d, dmin;

  static constexpr usize group = 16;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q2_k& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const q2_k& b, usize g) noexcept { return b.scales[g] & 15; }
  static constexpr f32 min(const q2_k& b) noexcept { return b.dmin; }
  static constexpr i32 group_min(const q2_k& b, usize g) noexcept { return b.scales[g] >> 4; }
  static constexpr auto codes(const q2_k& b) noexcept { return detail::two_bit_planes(b.qs); }

  static constexpr void decode(const q2_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<q2_k> && coded_block<q2_k> && sizeof(q2_k) == 84);

}  // namespace jig
