#pragma once
// Q8_1: activations for weight formats with a minimum (Q4_1, Q5_1): Q8_0 plus the sum of the block.

#include "jig/core/endian.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/encode.hpp"

namespace jig {

/// Q8_1: x = d * q. Layout: f16 d, f16 s = d * sum(q), 32 signed bytes. Made at run time, not found in files.
struct q8_1 {
  static constexpr u32 id = 9;
  static constexpr usize size = 32;
  static constexpr char name[] = "q8_1";

  le_f16 d, s;
  i8 qs[32];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const q8_1& b) noexcept { return b.d; }
  static constexpr auto codes(const q8_1& b) noexcept -> const i8 (&)[32] { return b.qs; }

  static constexpr void decode(const q8_1& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }

  /// As Q8_0; s is computed with the unrounded d as well.
  static constexpr void encode(std::span<const f32, size> x, q8_1& b) noexcept {
    const f32 d = detail::max_magnitude(x) / 127.0f;
    const f32 inv = detail::inverse(d);
    i32 sum = 0;
    for (usize i = 0; i < size; ++i) {
      const i32 q = detail::round_away(detail::bounded(x[i] * inv, 127.0f));
      b.qs[i] = static_cast<i8>(q);
      sum += q;
    }
    b.d = d;
    b.s = d * static_cast<f32>(sum);
  }
};
static_assert(coded_block<q8_1> && encodable<q8_1> && sizeof(q8_1) == 36);

}  // namespace jig
