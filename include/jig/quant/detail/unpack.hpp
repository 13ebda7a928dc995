#pragma once
// The few ways in which block types lay small codes into bytes.
//
// GCC 12 unrolls short loops before it looks for vectors and then finds none: `unroll 1` keeps them as they are.

#include <cstring>
#include <type_traits>

#include "jig/core/types.hpp"
#include "jig/quant/code_array.hpp"

namespace jig::detail {

/// 4-bit codes: all low halves of the bytes, then all high halves.
template <usize N>
constexpr code_array<u8, 2 * N> nibble_halves(const u8 (&qs)[N]) noexcept {
  code_array<u8, 2 * N> out;
#pragma GCC unroll 1
  for (usize i = 0; i < N; ++i) {
    out[i] = qs[i] & 15;
    out[i + N] = qs[i] >> 4;
  }
  return out;
}

/// The inverse of nibble_halves.
template <usize N>
constexpr void pack_nibble_halves(const code_array<u8, 2 * N>& codes, u8 (&qs)[N]) noexcept {
  for (usize i = 0; i < N; ++i) qs[i] = static_cast<u8>((codes[i] & 15) | (codes[i + N] << 4));
}

/// Q5_0 and Q5_1: bit i of `bits` is the fifth bit of code i.
constexpr code_array<u8, 32> add_fifth_bits(const code_array<u8, 32>& codes, u32 bits) noexcept {
  code_array<u8, 32> out;
#pragma GCC unroll 1
  for (usize i = 0; i < 32; ++i) out[i] = static_cast<u8>(codes[i] | (((bits >> i) & 1) << 4));
  return out;
}

/// The inverse: the fifth bits of 32 codes.
constexpr u32 fifth_bits(const code_array<u8, 32>& codes) noexcept {
  u32 bits = 0;
  for (usize i = 0; i < 32; ++i) bits |= u32((codes[i] >> 4) & 1u) << i;
  return bits;
}

/// 2-bit codes in planes: of each 32 bytes, bits 0-1 hold the first 32 values, bits 2-3 the next, and so on.
constexpr code_array<u8, 256> two_bit_planes(const u8 (&qs)[64]) noexcept {
  code_array<u8, 256> out;
  for (usize h = 0; h < 2; ++h) {
    for (usize p = 0; p < 4; ++p) {
      for (usize l = 0; l < 32; ++l) out[128 * h + 32 * p + l] = (qs[32 * h + l] >> (2 * p)) & 3;
    }
  }
  return out;
}

/// One more bit of 256 codes, in planes: bit i / 32 of bits[i % 32] becomes bit `place` of code i.
constexpr void add_bit_planes(const u8 (&bits)[32], u32 place, code_array<u8, 256>& codes) noexcept {
  for (usize p = 0; p < 8; ++p) {
#pragma GCC unroll 1
    for (usize l = 0; l < 32; ++l)
      codes[32 * p + l] = static_cast<u8>(codes[32 * p + l] | (((bits[l] >> p) & 1) << place));
  }
}

/// The 4-bit codes of Q4_K and Q5_K: each 32 bytes hold 64 values, the low halves first.
constexpr code_array<u8, 256> nibble_planes(const u8 (&qs)[128]) noexcept {
  code_array<u8, 256> out;
  for (usize c = 0; c < 4; ++c) {
    for (usize l = 0; l < 32; ++l) {
      out[64 * c + l] = qs[32 * c + l] & 15;
      out[64 * c + 32 + l] = qs[32 * c + l] >> 4;
    }
  }
  return out;
}

/// Each 4-bit code replaced by its value in a table.
template <usize N>
constexpr code_array<i8, N> look_up(const code_array<u8, N>& codes, const i8 (&table)[16]) noexcept {
  code_array<i8, N> out;
#if defined(__SSSE3__) && defined(__GNUC__)  // one instruction, which compilers do not find
  if constexpr (N % 16 == 0) {
    if (!std::is_constant_evaluated()) {
      using bytes = char __attribute__((vector_size(16)));
      bytes all, some;
      std::memcpy(&all, table, sizeof all);
      for (usize i = 0; i < N; i += 16) {
        std::memcpy(&some, codes.data() + i, sizeof some);
        some = __builtin_ia32_pshufb128(all, some);
        std::memcpy(out.data() + i, &some, sizeof some);
      }
      return out;
    }
  }
#endif
#pragma GCC unroll 1
  for (usize i = 0; i < N; ++i) out[i] = table[codes[i]];
  return out;
}

/// Nibble g of a row of bytes, the low half of each byte first.
constexpr i32 nibble(const u8* bytes, usize g) noexcept { return (bytes[g / 2] >> (4 * (g % 2))) & 15; }

}  // namespace jig::detail
