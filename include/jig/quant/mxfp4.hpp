#pragma once
// MXFP4: 32 four-bit floats (E2M1) under one power of two, as in the OCP microscaling formats.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/e2m1.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// MXFP4: w = E2M1[q] * 2^(e - 127). Layout: E8M0 e, 16 bytes; byte i holds w[i] low, w[i + 16] high.
/// The codes here are the doubled E2M1 values, so the scale is 2^(e - 128): an f32 subnormal for e < 2.
struct mxfp4 {
  static constexpr u32 id = 39;
  static constexpr usize size = 32;
  static constexpr char name[] = "mxfp4";
  using dot_with = q8_0;

  u8 e;
  u8 qs[16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const mxfp4& b) noexcept { return e8m0_half_to_f32(b.e); }
  static constexpr auto codes(const mxfp4& b) noexcept {
    return detail::look_up(detail::nibble_halves(b.qs), codebook::e2m1_doubled);
  }

  static constexpr void decode(const mxfp4& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// e = floor(log2(max |x|)) - 2 + 127, at least 0; each value takes the nearest code, the lowest on a tie.
  /// Values beyond 6 * 2^(e - 127) saturate.
  static constexpr void encode(std::span<const f32, size> x, mxfp4& b) noexcept {
    const u32 exponent = std::bit_cast<u32>(detail::max_magnitude(x)) >> 23;  // floor(log2) + 127; 0: below 2^-126
    b.e = static_cast<u8>(exponent > 2 ? exponent - 2 : 0);
    const f32 s = scale(b);
    code_array<u8, size> q;
    for (usize i = 0; i < size; ++i) q[i] = detail::nearest_code(x[i], s, codebook::e2m1_doubled);
    detail::pack_nibble_halves(q, b.qs);
  }
};
static_assert(weight_block<mxfp4> && coded_block<mxfp4> && encodable<mxfp4> && sizeof(mxfp4) == 17);

}  // namespace jig
