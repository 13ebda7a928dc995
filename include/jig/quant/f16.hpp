#pragma once
// F16: plain binary16 numbers, seen as blocks of one value.

#include "jig/core/endian.hpp"
#include "jig/quant/block.hpp"

namespace jig {

/// F16: one binary16 number. Encoding rounds to nearest even; above 65519.99 it gives infinity.
struct f16_block {
  static constexpr u32 id = 1;
  static constexpr usize size = 1;
  static constexpr char name[] = "f16";
  using dot_with = f16_block;

  le_f16 value;

  static constexpr void decode(const f16_block& b, std::span<f32, size> out) noexcept { out[0] = b.value; }
  static constexpr void encode(std::span<const f32, size> x, f16_block& b) noexcept { b.value = x[0]; }
};
static_assert(weight_block<f16_block> && encodable<f16_block> && sizeof(f16_block) == 2);

}  // namespace jig
