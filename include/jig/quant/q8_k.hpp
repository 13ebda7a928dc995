#pragma once
// Q8_K: activations for the 256-value weight formats, with the sums of each 16 codes.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"

namespace jig {

/// Q8_K: x = d * q. Layout: f32 d, 256 signed bytes, 16 i16 sums of 16 codes each. Not found in files.
struct q8_k {
  static constexpr u32 id = 15;
  static constexpr usize size = 256;
  static constexpr char name[] = "q8_K";

  le_f32 d;
  i8 qs[256];
  le_u16 bsums[16];  ///< two's complement; read with `sum`

  static constexpr usize group = 256;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q8_k& b) noexcept { return b.d; }
  static constexpr auto codes(const q8_k& b) noexcept -> const i8 (&)[256] { return b.qs; }

  /// Sum of codes 16k .. 16k+15.
  static constexpr i32 sum(const q8_k& b, usize k) noexcept { return static_cast<i16>(u16(b.bsums[k])); }

  static constexpr void decode(const q8_k& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// The value of largest magnitude becomes -127, so d is negative where that value is positive; halves to even.
  /// A block of zeros gets d = 0 and zero codes.
  static constexpr void encode(std::span<const f32, size> x, q8_k& b) noexcept {
    const f32 extreme = detail::signed_extreme(x);
    const f32 inverse = extreme != 0 ? -127.0f / extreme : 0.0f;
    b.d = detail::inverse(inverse);
    for (usize k = 0; k < 16; ++k) {
      i32 sum = 0;
      for (usize i = 16 * k; i < 16 * k + 16; ++i) {
        const i32 q = detail::round_even(detail::bounded(x[i] * inverse, 127.0f));
        b.qs[i] = static_cast<i8>(q);
        sum += q;
      }
      b.bsums[k] = static_cast<u16>(sum);
    }
  }
};
static_assert(coded_block<q8_k> && encodable<q8_k> && sizeof(q8_k) == 292);

}  // namespace jig
