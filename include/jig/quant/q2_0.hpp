#pragma once
// Q2_0: 64 weights of two bits, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// Q2_0: w = d * (q - 1): -d, 0, d, 2d. Layout: f16 d, 16 bytes; byte k holds w[4k .. 4k+3], the first one lowest
/// (neighbours share a byte, unlike in Q2_K and TQ2_0).
struct q2_0 {
  static constexpr u32 id = 42;
  static constexpr usize size = 64;
  static constexpr char name[] = "q2_0";
  using dot_with = q8_0;

  le_f16 d;
  u8 qs[16];

  static constexpr usize group = 64;
  static constexpr i32 bias = 1;
  static constexpr f32 scale(const q2_0& b) noexcept { return b.d; }
  static constexpr auto codes(const q2_0& b) noexcept {
    code_array<u8, size> out;
    for (usize i = 0; i < size; ++i) out[i] = (b.qs[i / 4] >> (2 * (i % 4))) & 3;
    return out;
  }

  static constexpr void decode(const q2_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = max |x|; code = round(x / d) + 1, halves away from zero, so that 3 is never written.
  static constexpr void encode(std::span<const f32, size> x, q2_0& b) noexcept {
    const f32 d = detail::max_magnitude(x);
    const f32 inv = detail::inverse(d);
    b.d = d;
    for (usize k = 0; k < 16; ++k) {
      i32 byte = 0;
      for (usize j = 0; j < 4; ++j) byte |= detail::ternary_code(x[4 * k + j] * inv) << (2 * j);
      b.qs[k] = static_cast<u8>(byte);
    }
  }
};
static_assert(weight_block<q2_0> && coded_block<q2_0> && encodable<q2_0> && sizeof(q2_0) == 18);

}  // namespace jig
