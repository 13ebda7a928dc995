#pragma once
// BF16: plain bfloat16 numbers, seen as blocks of one value.

#include "jig/core/endian.hpp"
#include "jig/quant/block.hpp"

namespace jig {

/// BF16: one bfloat16 number, the upper half of a binary32. Encoding rounds to nearest even.
struct bf16_block {
  static constexpr u32 id = 30;
  static constexpr usize size = 1;
  static constexpr char name[] = "bf16";
  using dot_with = bf16_block;

  le_bf16 value;

  static constexpr void decode(const bf16_block& b, std::span<f32, size> out) noexcept { out[0] = b.value; }
  static constexpr void encode(std::span<const f32, size> x, bf16_block& b) noexcept { b.value = x[0]; }
};
static_assert(weight_block<bf16_block> && encodable<bf16_block> && sizeof(bf16_block) == 2);

}  // namespace jig
