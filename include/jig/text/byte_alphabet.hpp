#pragma once
// The byte alphabet of GPT-2 and its descendants: each of the 256 byte values has a printable code point.
//
// 33-126, 161-172 and 174-255 stand for themselves; the other 68 values take 256, 257, ... in order.

#include "jig/core/types.hpp"

namespace jig {

namespace detail {

struct byte_alphabet {
  u16 code_of[256] = {};
  constexpr byte_alphabet() noexcept {
    u16 next = 256;
    for (u32 b = 0; b < 256; ++b) {
      const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      code_of[b] = itself ? static_cast<u16>(b) : next++;
    }
  }
};
inline constexpr byte_alphabet alphabet;

}  // namespace detail

/// The code point that stands for a byte.
constexpr u32 byte_to_code(u8 byte) noexcept { return detail::alphabet.code_of[byte]; }

/// The byte that a code point stands for, or -1.
constexpr i32 code_to_byte(u32 code) noexcept {
  if (code < 256) return detail::alphabet.code_of[code] == code ? static_cast<i32>(code) : -1;
  const u32 n = code - 256;  // the n-th value that has no printable form: 0-32, 127-160, 173
  if (n <= 32) return static_cast<i32>(n);
  if (n <= 32 + 34) return static_cast<i32>(n - 33 + 127);
  return n == 67 ? 173 : -1;
}

}  // namespace jig
