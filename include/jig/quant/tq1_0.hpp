#pragma once
// TQ1_0: 256 ternary weights, five to a byte, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig {

/// TQ1_0: w = d * (t - 1). Layout: 48 bytes of five digits, 4 bytes of four digits, f16 d (at the end).
///
/// A byte holds base-3 digits t0 t1 t2 t3 t4 as a binary fraction, ceil(256 * (t0*81 + t1*27 + t2*9 + t3*3 + t4) /
/// 243). Multiplying by 3^n in 8 bits drops the first n digits; the carry of one more multiplication by 3 is digit n.
/// Order of the values: digit n of bytes 0-31 is w[32n + byte], of bytes 32-47 w[160 + 16n + byte - 32], of the
/// last four w[240 + 4n + byte].
struct tq1_0 {
  static constexpr u32 id = 34;
  static constexpr usize size = 256;
  static constexpr char name[] = "tq1_0";
  using dot_with = q8_k;

  u8 qs[48];
  u8 qh[4];
  le_f16 d;

  static constexpr usize group = 256;
  static constexpr i32 bias = 1;
  static constexpr f32 scale(const tq1_0& b) noexcept { return b.d; }
  static constexpr auto codes(const tq1_0& b) noexcept {
    code_array<u8, size> out;
    unpack<5, 32>(b.qs, out.data());
    unpack<5, 16>(b.qs + 32, out.data() + 160);
    unpack<4, 4>(b.qh, out.data() + 240);
    return out;
  }

  static constexpr void decode(const tq1_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// d = max |x|; digit = round(x / d) + 1, halves away from zero. The fifth digit of the last four bytes is 0.
  static constexpr void encode(std::span<const f32, size> x, tq1_0& b) noexcept {
    const f32 d = detail::max_magnitude(x);
    const f32 inv = detail::inverse(d);
    b.d = d;
    pack<5, 32>(x.data(), inv, b.qs);
    pack<5, 16>(x.data() + 160, inv, b.qs + 32);
    pack<4, 4>(x.data() + 240, inv, b.qh);
  }

 private:
  template <usize Digits, usize Bytes>
  static constexpr void unpack(const u8* in, u8* out) noexcept {
    u32 power = 1;
    for (usize n = 0; n < Digits; ++n, power *= 3) {
      for (usize m = 0; m < Bytes; ++m) out[n * Bytes + m] = static_cast<u8>((((in[m] * power) & 255) * 3) >> 8);
    }
  }

  template <usize Digits, usize Bytes>
  static constexpr void pack(const f32* x, f32 inv, u8* out) noexcept {
    for (usize m = 0; m < Bytes; ++m) {
      i32 number = 0;
      for (usize n = 0; n < 5; ++n)
        number = 3 * number + (n < Digits ? detail::ternary_code(x[n * Bytes + m] * inv) : 0);
      out[m] = static_cast<u8>((number * 256 + 242) / 243);
    }
  }
};
static_assert(weight_block<tq1_0> && coded_block<tq1_0> && encodable<tq1_0> && sizeof(tq1_0) == 54);

}  // namespace jig
