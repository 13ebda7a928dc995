#pragma once
// Q4_1: 32 weights of 4 bits above a minimum.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_1.hpp"

namespace jig {

/// Q4_1: w = d * q + m. Layout: f16 d, f16 m, 16 bytes; byte i holds w[i] low, w[i + 16] high.
struct q4_1 {
  static constexpr u32 id = 3;
  static constexpr usize size = 32;
  static constexpr char name[] = "q4_1";
  using dot_with = q8_1;

  le_f16 d, m;
  u8 qs[16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q4_1& b) noexcept { return b.d; }
  static constexpr f32 min(const q4_1& b) noexcept { return -b.m; }  // stored to be added, not subtracted
  static constexpr auto codes(const q4_1& b) noexcept { return detail::nibble_halves(b.qs); }

  static constexpr void decode(const q4_1& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  static constexpr void encode(std::span<const f32, size> x, q4_1& b) noexcept {
    const auto [low, high] = detail::range(x);
    const f32 d = (high - low) / 15.0f;
    const f32 inv = detail::inverse(d);
    code_array<u8, size> q;
    for (usize i = 0; i < size; ++i) {
      const i32 code = static_cast<i32>(detail::bounded((x[i] - low) * inv, 15.0f) + 0.5f);
      q[i] = static_cast<u8>(code > 0 ? code : 0);
    }
    b.d = d;
    b.m = low;
    detail::pack_nibble_halves(q, b.qs);
  }
};
static_assert(weight_block<q4_1> && coded_block<q4_1> && encodable<q4_1> && sizeof(q4_1) == 20);

}  // namespace jig
