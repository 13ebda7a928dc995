#pragma once
// Q1_0: 128 weights of one bit, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// Q1_0: w = bit ? d : -d. Layout: f16 d, 16 bytes; bit i % 8 of byte i / 8 belongs to w[i].
/// The codes here are 0 and 2 with a bias of 1.
struct q1_0 {
  static constexpr u32 id = 41;
  static constexpr usize size = 128;
  static constexpr char name[] = "q1_0";
  using dot_with = q8_0;

  le_f16 d;
  u8 qs[16];

  static constexpr usize group = 128;
  static constexpr i32 bias = 1;
  static constexpr f32 scale(const q1_0& b) noexcept { return b.d; }
  static constexpr auto codes(const q1_0& b) noexcept {
    code_array<u8, size> out;
    for (usize i = 0; i < size; ++i) out[i] = static_cast<u8>(2 * ((b.qs[i / 8] >> (i % 8)) & 1));
    return out;
  }

  static constexpr void decode(const q1_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = mean of |x|, added up in order; the bit is x >= 0 (also for -0).
  static constexpr void encode(std::span<const f32, size> x, q1_0& b) noexcept {
    f32 sum = 0;
    for (f32 v : x) sum += detail::magnitude(v);
    b.d = sum / 128.0f;
    for (usize k = 0; k < 16; ++k) {
      u32 bits = 0;
      for (usize j = 0; j < 8; ++j) bits |= u32{x[8 * k + j] >= 0} << j;
      b.qs[k] = static_cast<u8>(bits);
    }
  }
};
static_assert(weight_block<q1_0> && coded_block<q1_0> && encodable<q1_0> && sizeof(q1_0) == 18);

}  // namespace jig
