#pragma once
// exp and log whose results are the same bits on every platform, compiler and optimisation level.
//
// The C library's versions differ between platforms, and a compiler may fuse a * b + c into one rounding. So exp is
// integer arithmetic, and log rounds every product on its own (`product`). Additions, divisions and conversions are
// IEEE everywhere. Not covered: -ffast-math, and x87 arithmetic of 32-bit x86.

#include <array>
#include <bit>

#include "jig/core/types.hpp"

namespace jig::sample::detail {

/// a * b, rounded before it is used: through memory, so that no compiler fuses it with an addition. Samplers that
/// multiply and add must use it.
inline f64 product(f64 a, f64 b) noexcept {
  const volatile f64 p = a * b;
  return p;
}

/// Upper 64 bits of a 128-bit product, from 32-bit halves: bare-metal targets have no wider integer.
constexpr u64 mul_high(u64 a, u64 b) noexcept {
  const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const u64 middle = a1 * b0 + ((a0 * b0) >> 32);
  const u64 carry = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (carry >> 32);
}

inline constexpr f64 ln_2 = 0x1.62e42fefa39efp-1;

/// 2^(-i/32) in units of 2^-31. Evaluated by the compiler, which rounds each step as IEEE says.
inline constexpr std::array<u32, 32> exp2_table = [] {
  std::array<u32, 32> table{};
  for (usize i = 0; i < table.size(); ++i) {
    const f64 x = -static_cast<f64>(i) * ln_2 / 32;
    f64 term = 1, sum = 1;
    for (int k = 1; k < 20; ++k) {
      term = term * x / k;
      sum = sum + term;
    }
    table[i] = static_cast<u32>(sum * 0x1p31 + 0.5);
  }
  return table;
}();

/// e^x for x <= 0 within 0.52 units in the last place. Below 2^-126 (x < -87.34) it is 0, so that no subnormal number
/// appears whose treatment depends on the machine's modes; -infinity and NaN give 0, x > 0 gives 1.
constexpr f32 exp_nonpositive(f32 x) noexcept {
  if (!(x > -88.0f)) return 0.0f;
  if (x >= 0.0f) return 1.0f;
  const u32 bits = std::bit_cast<u32>(x) & 0x7fffffffu;
  const u64 mantissa = (bits & 0x7fffffu) | 0x800000u;
  const int shift = static_cast<int>(bits >> 23) - 114;  // |x| = mantissa * 2^shift / 2^36
  if (shift <= -24) return 1.0f;
  const u64 a = shift >= 0 ? mantissa << shift : mantissa >> -shift;

  // |x| / ln 2 in units of 2^-55 = n + i/32 + rest. The factor is log2(e) * 2^63.
  const u64 y = mul_high(a << 20, 0xb8aa3b295c17f0bcu);
  const u64 n = y >> 55;
  const u64 i = (y >> 50) & 31u;
  // t = rest * ln 2 < 0.0217 in units of 2^-37; r = e^-t by its series, the next term is below 2^-34.
  const u64 rest = (y & ((u64{1} << 50) - 1)) >> 18;
  const u64 t = (rest * 0xb17217f8u) >> 32;
  const u64 t2 = (t * t) >> 37, t3 = (t2 * t) >> 37, t4 = (t3 * t) >> 37;
  const u64 r = (u64{1} << 37) - t + t2 / 2 - t3 / 6 + t4 / 24;

  const u64 v = exp2_table[i] * ((r + 16) >> 5);  // in units of 2^-63, from 2^62 to 2^63
  if (n > 125) return 0.0f;
  const u32 rounded = static_cast<u32>((v + (u64{1} << 38)) >> 39);  // 24 bits; a carry moves into the exponent
  return std::bit_cast<f32>((static_cast<u32>(125 - n) << 23) + rounded);
}

/// Natural logarithm of a positive f32 within 2^-50 relative; 0 and negative numbers give -infinity, +infinity itself,
/// NaN -infinity (a sampler must not be stopped by it).
inline f64 log(f32 x) noexcept {
  if (!(x > 0.0f)) return -std::numeric_limits<f64>::infinity();
  if (x > std::numeric_limits<f32>::max()) return std::numeric_limits<f64>::infinity();
  u64 bits = std::bit_cast<u64>(static_cast<f64>(x));
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)): subtracting the lower limit's bits leaves e in the exponent field.
  const i64 e = static_cast<i64>(bits - 0x3fe6a09e00000000u) >> 52;
  bits -= static_cast<u64>(e) << 52;
  const f64 m = std::bit_cast<f64>(bits);
  // ln m = 2 artanh(s) = 2 s (1 + z/3 + z^2/5 + ...) with s = (m-1)/(m+1), z = s^2 < 0.0295.
  const f64 s = (m - 1) / (m + 1), z = product(s, s);
  f64 sum = 1.0 / 19;
  for (int k = 17; k >= 1; k -= 2) sum = 1.0 / k + product(sum, z);
  return product(static_cast<f64>(e), ln_2) + product(s + s, sum);
}

}  // namespace jig::sample::detail
