#pragma once
// Q4_K: 256 weights of 4 bits, eight groups with 6-bit scales and minima.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/k_scales.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// Q4_K: w = d * sc * q - dmin * mn. Layout: f16 d, f16 dmin, 12 bytes of scales and minima (detail/k_scales.hpp),
/// 128 bytes of codes; each 32 bytes hold 64 values, the low halves first.
struct q4_k {
  static constexpr u32 id = 12;
  static constexpr usize size = 256;
  static constexpr char name[] = "q4_K";
  using dot_with = q8_k;

  le_f16 d, dmin;
  u8 scales[12];
  u8 qs[128];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q4_k& b) noexcept { return b.d; }
  static constexpr i32 group_scale(const q4_k& b, usize g) noexcept { return detail::k_scale(b.scales, g); }
  static constexpr f32 min(const q4_k& b) noexcept { return b.dmin; }
  static constexpr i32 group_min(const q4_k& b, usize g) noexcept { return detail::k_min(b.scales, g); }
  static constexpr auto codes(const q4_k& b) noexcept { return detail::nibble_planes(b.qs); }

  static constexpr void decode(const q4_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<q4_k> && coded_block<q4_k> && sizeof(q4_k) == 144);

}  // namespace jig
