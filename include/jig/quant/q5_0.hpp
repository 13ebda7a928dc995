#pragma once
// Q5_0: 32 weights of 5 bits around zero, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// Q5_0: w = d * (q - 16). Layout: f16 d, u32 qh, 16 bytes; byte i holds the low four bits of w[i] and w[i + 16],
/// bit i of qh is the fifth bit of w[i]. d may be negative.
struct q5_0 {
  static constexpr u32 id = 6;
  static constexpr usize size = 32;
  static constexpr char name[] = "q5_0";
  using dot_with = q8_0;

  le_f16 d;
  le_u32 qh;
  u8 qs[16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 16;
  static constexpr f32 scale(const q5_0& b) noexcept { return b.d; }
  static constexpr auto codes(const q5_0& b) noexcept {
    return detail::add_fifth_bits(detail::nibble_halves(b.qs), b.qh);
  }

  static constexpr void decode(const q5_0& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// The value of largest magnitude becomes code 0 (= -16 d), so d takes the opposite of its sign.
  static constexpr void encode(std::span<const f32, size> x, q5_0& b) noexcept {
    const f32 d = detail::signed_extreme(x) / -16.0f;
    const f32 inv = detail::inverse(d);
    code_array<u8, size> q;
    for (usize i = 0; i < size; ++i) {
      const i32 code = static_cast<i32>(detail::bounded(x[i] * inv, 16.0f) + 16.5f);
      q[i] = static_cast<u8>(code < 31 ? code : 31);
    }
    b.d = d;
    b.qh = detail::fifth_bits(q);
    detail::pack_nibble_halves(q, b.qs);
  }
};
static_assert(weight_block<q5_0> && coded_block<q5_0> && encodable<q5_0> && sizeof(q5_0) == 22);

}  // namespace jig
