#pragma once
// Q4_0: 32 weights of 4 bits around zero, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// Q4_0: w = d * (q - 8). Layout: f16 d, 16 bytes; byte i holds w[i] low, w[i + 16] high. d may be negative.
struct q4_0 {
  static constexpr u32 id = 2;
  static constexpr usize size = 32;
  static constexpr char name[] = "q4_0";
  using dot_with = q8_0;

  le_f16 d;
  u8 qs[16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 8;
  static constexpr f32 scale(const q4_0& b) noexcept { return b.d; }
  static constexpr auto codes(const q4_0& b) noexcept { return detail::nibble_halves(b.qs); }

  static constexpr void decode(const q4_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// The value of largest magnitude becomes code 0 (= -8 d), so d takes the opposite of its sign.
  static constexpr void encode(std::span<const f32, size> x, q4_0& b) noexcept {
    const f32 d = detail::signed_extreme(x) / -8.0f;
    const f32 inv = detail::inverse(d);
    code_array<u8, size> q;
    for (usize i = 0; i < size; ++i) {
      const i32 code = static_cast<i32>(detail::bounded(x[i] * inv, 8.0f) + 8.5f);
      q[i] = static_cast<u8>(code < 15 ? code : 15);
    }
    b.d = d;
    detail::pack_nibble_halves(q, b.qs);
  }
};
static_assert(weight_block<q4_0> && coded_block<q4_0> && encodable<q4_0> && sizeof(q4_0) == 18);

}  // namespace jig
