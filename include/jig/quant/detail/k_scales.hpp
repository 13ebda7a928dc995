#pragma once
// The 12 bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit minima.
//
// The first four of each are the low six bits of bytes 0-3 and 4-7. The last four have their low halves in bytes
// 8-11 (scale low, minimum high); their upper two bits are the top bits of bytes 0-3 (scales) and 4-7 (minima).

#include "jig/core/types.hpp"

namespace jig::detail {

constexpr i32 k_scale(const u8 (&s)[12], usize j) noexcept {
  return j < 4 ? s[j] & 63 : (s[j + 4] & 15) + 16 * (s[j - 4] >> 6);
}

constexpr i32 k_min(const u8 (&s)[12], usize j) noexcept {
  return j < 4 ? s[j + 4] & 63 : (s[j + 4] >> 4) + 16 * (s[j] >> 6);
}

}  // namespace jig::detail
