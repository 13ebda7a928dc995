#pragma once
// NVFP4: 64 four-bit floats (E2M1), each 16 under an 8-bit float (UE4M3).

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/e2m1.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// NVFP4: w = E2M1[q] * UE4M3(d[i / 16]). Layout: four scale bytes d, 32 bytes; of each 8 bytes, the low halves hold
/// eight values and the high halves the next eight. The codes here are the doubled E2M1 values, hence scale = 1/2.
///
/// A file may carry one more f32 tensor "X.scale" beside "X.weight": it multiplies the result of the product.
struct nvfp4 {
  static constexpr u32 id = 40;
  static constexpr usize size = 64;
  static constexpr char name[] = "nvfp4";
  using dot_with = q8_0;

  u8 d[4];
  u8 qs[4][8];

  static constexpr usize group = 16;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const nvfp4&) noexcept { return 0.5f; }
  static constexpr f32 group_scale(const nvfp4& b, usize g) noexcept { return ue4m3_to_f32(b.d[g]); }
  static constexpr auto codes(const nvfp4& b) noexcept {
    code_array<i8, size> out;
    for (usize s = 0; s < 4; ++s) {
      const auto values = detail::look_up(detail::nibble_halves(b.qs[s]), codebook::e2m1_doubled);
      for (usize j = 0; j < 16; ++j) out[16 * s + j] = values[j];
    }
    return out;
  }

  static constexpr void decode(const nvfp4& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = UE4M3(max |x| / 6) of each 16 values; each value takes the nearest code, the lowest on a tie.
  static constexpr void encode(std::span<const f32, size> x, nvfp4& b) noexcept {
    for (usize s = 0; s < 4; ++s) {
      const auto values = x.subspan(16 * s, 16);
      b.d[s] = to_ue4m3(detail::max_magnitude(values) / 6.0f);
      const f32 step = 0.5f * ue4m3_to_f32(b.d[s]);
      code_array<u8, 16> q;
      for (usize i = 0; i < 16; ++i) q[i] = detail::nearest_code(values[i], step, codebook::e2m1_doubled);
      detail::pack_nibble_halves(q, b.qs[s]);
    }
  }

  /// The scale byte for v >= 0 as the encoder rounds it: half up on three mantissa bits; below 2^-6 in units of 2^-9,
  /// at most 7 of them. Any v of 256 or more becomes 0x7E = 448: encoders of this format are defined so.
  static constexpr u8 to_ue4m3(f32 v) noexcept {
    if (!(v > 0)) return 0;
    if (v >= 256.0f) return 0x7e;
    if (v < 0x1p-6f) {
      const i32 units = static_cast<i32>(v * 512.0f + 0.5f);
      return static_cast<u8>(units < 7 ? units : 7);
    }
    const u32 half_up = (std::bit_cast<u32>(v) >> 19) + 1;  // exponent, three mantissa bits, the next bit + 1
    const u32 code = (half_up >> 1) - (120u << 3);          // a carry runs on into the exponent
    return static_cast<u8>(code < 0x78 ? code : 0x7e);
  }
};
static_assert(weight_block<nvfp4> && coded_block<nvfp4> && encodable<nvfp4> && sizeof(nvfp4) == 36);

}  // namespace jig
