#include "quant/support.hpp"

using namespace quant_test;

namespace {

/// The binary16 nearest to v by search over all of them, ties to even: exact and independent of bit tricks.
u16 nearest_half(f32 v) {
  const auto value = [](u32 h) {
    return (h >> 10) == 0 ? std::ldexp(h, -24) : std::ldexp(1024 + (h & 1023), int(h >> 10) - 25);
  };
  const u16 sign = std::signbit(v) ? 0x8000 : 0;
  const f64 m = std::fabs(f64{v});
  if (m >= 65520.0) return sign | 0x7c00;
  u32 low = 0, high = 0x7bff;  // values grow with the bits
  while (low < high) {
    const u32 mid = (low + high + 1) / 2;
    if (value(mid) <= m) low = mid;
    else high = mid - 1;
  }
  if (low == 0x7bff) return static_cast<u16>(sign | low);
  const f64 below = m - value(low), above = value(low + 1) - m;
  if (above < below || (above == below && (low & 1))) ++low;
  return static_cast<u16>(sign | low);
}

template <class T>
u16 bits_of(const T& b) {
  return load_le<u16>(b.value.bytes);
}

template <class T>
T with_bits(u32 bits) {
  T b;
  store_le(b.value.bytes, static_cast<u16>(bits));
  return b;
}

}  // namespace

TEST_CASE("f16_block: all 65536 numbers decode as defined and encode back to themselves") {
  for (u32 bits = 0; bits < 65536; ++bits) {
    const auto b = with_bits<f16_block>(bits);
    f32 v[1];
    f16_block::decode(b, v);
    const u32 e = (bits >> 10) & 31, m = bits & 1023;
    f16_block again;
    f16_block::encode(v, again);
    if (e == 31 && m != 0) {
      REQUIRE(std::isnan(v[0]));
      REQUIRE((bits_of(again) & 0x7c00) == 0x7c00);
      REQUIRE((bits_of(again) & 0x03ff) != 0);
      continue;
    }
    const f64 magnitude = e == 31 ? HUGE_VAL : e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, int(e) - 25);
    REQUIRE(f64{v[0]} == (bits & 0x8000 ? -magnitude : magnitude));
    REQUIRE(std::signbit(v[0]) == ((bits & 0x8000) != 0));
    REQUIRE(bits_of(again) == bits);
  }
}

TEST_CASE("f16_block: encoding rounds to the nearest, ties to even") {
  rng r(1);
  const auto check = [](f32 v) {
    f16_block b;
    f16_block::encode(std::span<const f32, 1>(&v, 1), b);
    CAPTURE(v);
    REQUIRE(bits_of(b) == nearest_half(v));
  };
  for (u32 bits = 0; bits < 0x7bff; ++bits) {  // each midpoint of two neighbours, and next to it
    const f32 middle = (f32(with_bits<f16_block>(bits).value) + f32(with_bits<f16_block>(bits + 1).value)) / 2;
    check(middle);
    check(std::nextafter(middle, 0.0f));
    check(std::nextafter(-middle, -1e9f));
  }
  for (f32 v : {65504.0f, 65519.99f, 65520.0f, 1e9f, -65520.0f, 1e-30f, -1e-45f, 2.98023224e-8f, 0.0f, -0.0f}) check(v);
  for (int i = 0; i < 20000; ++i) {
    const f32 v = std::bit_cast<f32>(static_cast<u32>(r()));
    if (!std::isnan(v)) check(v);
  }
}

TEST_CASE("bf16_block: all 65536 numbers decode to the upper half of an f32 and encode back") {
  for (u32 bits = 0; bits < 65536; ++bits) {
    f32 v[1];
    bf16_block::decode(with_bits<bf16_block>(bits), v);
    REQUIRE(std::bit_cast<u32>(v[0]) == bits << 16);
    bf16_block again;
    bf16_block::encode(v, again);
    if (std::isnan(v[0])) REQUIRE(bits_of(again) == (bits | 0x40));
    else REQUIRE(bits_of(again) == bits);
  }
}

TEST_CASE("bf16_block: encoding rounds to the nearest, ties to even") {
  const auto encoded = [](u32 bits) {
    const f32 v[1] = {std::bit_cast<f32>(bits)};
    bf16_block b;
    bf16_block::encode(v, b);
    return bits_of(b);
  };
  CHECK(encoded(0x3f807fff) == 0x3f80);
  CHECK(encoded(0x3f808000) == 0x3f80);
  CHECK(encoded(0x3f808001) == 0x3f81);
  CHECK(encoded(0x3f818000) == 0x3f82);
  CHECK(encoded(0xbf818000) == 0xbf82);
  CHECK(encoded(0x7f7fffff) == 0x7f80);
}

TEST_CASE("e8m0 and ue4m3: all scale bytes have the defined value") {
  for (u32 e = 0; e < 255; ++e) {
    CHECK(f64{e8m0_to_f32(static_cast<u8>(e))} == std::ldexp(1.0, int(e) - 127));
    CHECK(f64{e8m0_half_to_f32(static_cast<u8>(e))} == std::ldexp(1.0, int(e) - 128));
  }
  for (u32 u = 0; u < 256; ++u) {
    const u32 x = (u >> 3) & 15, m = u & 7;
    const f64 v = (u & 127) == 127 ? 0 : x == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, int(x) - 10);
    CHECK(f64{ue4m3_to_f32(static_cast<u8>(u))} == v);
  }
}
