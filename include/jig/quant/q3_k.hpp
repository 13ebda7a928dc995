#pragma once
// Q3_K: 256 weights of 3 bits around zero, sixteen groups with signed 6-bit scales.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// Q3_K: w = d * (sc - 32) * (q - 4). Layout: hmask[32], 64 bytes of two-bit planes, 12 bytes of scales, f16 d.
/// Bit i / 32 of hmask[i % 32] is the third bit of w[i]. d may be negative.
struct q3_k {
  static constexpr u32 id = 11;
  static constexpr usize size = 256;
  static constexpr char name[] = "q3_K";
  using dot_with = q8_k;

  u8 hmask[32];
  u8 qs[64];
  u8 scales[12];
  le_f16 d;

  static constexpr usize group = 16;
  static constexpr i32 bias = 4;
  static constexpr f32 scale(const q3_k& b) noexcept { return b.d; }

  /// Low four bits: nibbles of bytes 0-7, first all low halves, then all high halves. Upper two bits: bytes 8-11
  /// hold those of scales j, j + 4, j + 8, j + 12.
  static constexpr i32 group_scale(const q3_k& b, usize j) noexcept {
    const i32 low = j < 8 ? b.scales[j] & 15 : b.scales[j - 8] >> 4;
    const i32 top = (b.scales[8 + j % 4] >> (2 * (j / 4))) & 3;
    return low + 16 * top - 32;
  }

  static constexpr auto codes(const q3_k& b) noexcept {
    auto q = detail::two_bit_planes(b.qs);
    detail::add_bit_planes(b.hmask, 2, q);
    return q;
  }

  static constexpr void decode(const q3_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<q3_k> && coded_block<q3_k> && sizeof(q3_k) == 110);

}  // namespace jig
