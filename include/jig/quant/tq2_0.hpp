#pragma once
// TQ2_0: 256 ternary weights of two bits, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// TQ2_0: w = d * (q - 1). Layout: 64 bytes of two-bit planes, f16 d (at the end). Code 3 (= 2d) is never written,
/// but decodes so.
struct tq2_0 {
  static constexpr u32 id = 35;
  static constexpr usize size = 256;
  static constexpr char name[] = "tq2_0";
  using dot_with = q8_k;

  u8 qs[64];
  le_f16 d;

  static constexpr usize group = 256;
  static constexpr i32 bias = 1;
  static constexpr f32 scale(const tq2_0& b) noexcept { return b.d; }
  static constexpr auto codes(const tq2_0& b) noexcept { return detail::two_bit_planes(b.qs); }

  static constexpr void decode(const tq2_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = max |x|; digit = round(x / d) + 1, halves away from zero.
  static constexpr void encode(std::span<const f32, size> x, tq2_0& b) noexcept {
    const f32 d = detail::max_magnitude(x);
    const f32 inv = detail::inverse(d);
    b.d = d;
    for (usize k = 0; k < 64; ++k) {
      const usize first = 128 * (k / 32) + k % 32;
      i32 byte = 0;
      for (usize p = 0; p < 4; ++p) byte |= detail::ternary_code(x[first + 32 * p] * inv) << (2 * p);
      b.qs[k] = static_cast<u8>(byte);
    }
  }
};
static_assert(weight_block<tq2_0> && coded_block<tq2_0> && encodable<tq2_0> && sizeof(tq2_0) == 66);

}  // namespace jig
