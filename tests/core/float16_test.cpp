// jig/core/float16.hpp: each 16-bit pattern against its definition, and the rounding at every boundary.
#include "jig/core/float16.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace jig;

namespace {

constexpr f32 inf = std::numeric_limits<f32>::infinity();

/// The definition: (-1)^s * m * 2^e, for a format with `bits` mantissa bits and exponent bias `bias`.
f64 by_definition(u32 code, int bits, int bias, u32 exponents) {
  const u32 exponent = (code >> bits) % exponents, mantissa = code & ((1u << bits) - 1);
  const f64 magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - bits)
                                      : std::ldexp(mantissa + (1u << bits), static_cast<int>(exponent) - bias - bits);
  return code >> 15 ? -magnitude : magnitude;
}

bool same_bits(f32 a, f32 b) { return std::bit_cast<u32>(a) == std::bit_cast<u32>(b); }

}  // namespace

TEST_CASE("f16: hand-computed values") {
  CHECK(f16_to_f32(0x3c00) == 1.0f);
  CHECK(f16_to_f32(0xc000) == -2.0f);
  CHECK(f16_to_f32(0x3555) == 0.333251953125f);
  CHECK(f16_to_f32(0x7bff) == 65504.0f);
  CHECK(f16_to_f32(0x0001) == 0x1p-24f);
  CHECK(f16_to_f32(0x7c00) == inf);
  CHECK(std::signbit(f16_to_f32(0x8000)));
  static_assert(f16_to_f32(0x3800) == 0.5f && f32_to_f16(0.5f) == 0x3800);
}

TEST_CASE("f16: every code equals its definition and survives the way back") {
  for (u32 code = 0; code < 0x10000; ++code) {
    const u16 h = static_cast<u16>(code);
    const f32 v = f16_to_f32(h);
    if ((code & 0x7fff) > 0x7c00) {
      REQUIRE(std::isnan(v));
      REQUIRE(std::isnan(f16_to_f32(f32_to_f16(v))));
      continue;
    }
    if ((code & 0x7fff) < 0x7c00) REQUIRE(static_cast<f64>(v) == by_definition(code, 10, 15, 32));
    REQUIRE(std::signbit(v) == (code >> 15 != 0));
    REQUIRE(f32_to_f16(v) == h);
  }
}

TEST_CASE("f16: rounding is to nearest, ties to even, on both sides of every boundary") {
  for (u16 h = 0; h < 0x7bff; ++h) {  // h and h + 1 are neighbours; their midpoint is exact in f32
    const u16 next = static_cast<u16>(h + 1);
    const f32 middle = (f16_to_f32(h) + f16_to_f32(next)) / 2;
    REQUIRE(f32_to_f16(middle) == (h % 2 == 0 ? h : next));
    REQUIRE(f32_to_f16(std::nextafter(middle, 0.0f)) == h);
    REQUIRE(f32_to_f16(std::nextafter(middle, inf)) == next);
    REQUIRE(f32_to_f16(-middle) == (f32_to_f16(middle) | 0x8000));
  }
  CHECK(f32_to_f16(std::nextafter(65520.0f, 0.0f)) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(-1e30f) == 0xfc00);
}

TEST_CASE("bf16: every code is the upper half of its f32, and rounding is to nearest even at every boundary") {
  for (u32 code = 0; code < 0x10000; ++code) {
    const u16 h = static_cast<u16>(code);
    const f32 v = bf16_to_f32(h);
    REQUIRE(std::bit_cast<u32>(v) == code << 16);
    if (std::isnan(v)) {
      REQUIRE(std::isnan(bf16_to_f32(f32_to_bf16(v))));
      continue;
    }
    REQUIRE(f32_to_bf16(v) == h);
    if ((code & 0x7fff) >= 0x7f7f) continue;
    const u32 middle = (code << 16) | 0x8000;
    const u16 next = static_cast<u16>(h + 1);
    REQUIRE(f32_to_bf16(std::bit_cast<f32>(middle)) == (h % 2 == 0 ? h : next));
    REQUIRE(f32_to_bf16(std::bit_cast<f32>(middle - 1)) == h);
    REQUIRE(f32_to_bf16(std::bit_cast<f32>(middle + 1)) == next);
  }
  CHECK(f32_to_bf16(std::numeric_limits<f32>::max()) == 0x7f80);
  // A NaN whose payload lies in the lower half only must not become infinity.
  CHECK(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<f32>(0x7f800001u)))));
}

TEST_CASE("e8m0: every code but the invalid one is its power of two, and the halved scale is exactly half") {
  for (u32 e = 0; e < 255; ++e) {
    const u8 code = static_cast<u8>(e);
    REQUIRE(static_cast<f64>(e8m0_to_f32(code)) == std::ldexp(1.0, static_cast<int>(e) - 127));
    REQUIRE(static_cast<f64>(e8m0_half_to_f32(code)) == std::ldexp(1.0, static_cast<int>(e) - 128));
  }
  CHECK(same_bits(e8m0_to_f32(255), inf));
}

TEST_CASE("ue4m3: every code equals its definition; bit 7 is ignored and 0x7f is zero") {
  for (u32 u = 0; u < 256; ++u) {
    const u32 code = u & 0x7f;
    const f64 expected = code == 0x7f ? 0.0 : by_definition(code, 3, 7, 16);
    REQUIRE(static_cast<f64>(ue4m3_to_f32(static_cast<u8>(u))) == expected);
  }
}
