#pragma once
// F32: plain binary32 numbers, seen as blocks of one value.

#include "jig/core/endian.hpp"
#include "jig/quant/block.hpp"

namespace jig {

/// F32: one binary32 number. Encoding keeps every bit.
struct f32_block {
  static constexpr u32 id = 0;
  static constexpr usize size = 1;
  static constexpr char name[] = "f32";
  using dot_with = f32_block;

  le_f32 value;

  static constexpr void decode(const f32_block& b, std::span<f32, size> out) noexcept { out[0] = b.value; }
  static constexpr void encode(std::span<const f32, size> x, f32_block& b) noexcept { b.value = x[0]; }
};
static_assert(weight_block<f32_block> && encodable<f32_block> && sizeof(f32_block) == 4);

}  // namespace jig
