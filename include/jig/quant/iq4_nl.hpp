#pragma once
// IQ4_NL: 32 weights of 4 bits on 16 unevenly spaced levels, one scale.

#include "jig/core/endian.hpp"
#include "jig/quant/codebook/iq4_nl.hpp"
#include "jig/quant/coded.hpp"
#include "jig/quant/detail/unpack.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// IQ4_NL: w = d * level[q]. Layout: f16 d, 16 bytes; byte i holds w[i] low, w[i + 16] high. d may be negative.
struct iq4_nl {
  static constexpr u32 id = 20;
  static constexpr usize size = 32;
  static constexpr char name[] = "iq4_nl";
  using dot_with = q8_0;

  le_f16 d;
  u8 qs[16];

  static constexpr usize group = 32;
  static constexpr i32 bias = 0;
  static constexpr f32 scale(const iq4_nl& b) noexcept { return b.d; }
  static constexpr auto codes(const iq4_nl& b) noexcept {
    return detail::look_up(detail::nibble_halves(b.qs), codebook::iq4_nl);
  }

  static constexpr void decode(const iq4_nl& b, std::span<f32, size> out) noexcept { decode_codes(b, out); }
};
static_assert(weight_block<iq4_nl> && coded_block<iq4_nl> && sizeof(iq4_nl) == 18);

}  // namespace jig
