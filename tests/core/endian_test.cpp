// jig/core/endian.hpp: bytes as they lie in files, whatever the host's order.
#include "jig/core/endian.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace jig;

TEST_CASE("endian: loads and stores put the low byte first") {
  const u8 bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x55};
  CHECK(load_le<u8>(bytes) == 0x01);
  CHECK(load_le<u16>(bytes) == 0x2301);
  CHECK(load_le<u32>(bytes) == 0x67452301u);
  CHECK(load_le<u64>(bytes) == 0xefcdab8967452301u);
  CHECK(load_le<u32>(bytes + 1) == 0x89674523u);  // any address

  u8 out[9] = {};
  store_le<u64>(out, 0xefcdab8967452301u);
  for (usize i = 0; i < 8; ++i) CHECK(out[i] == bytes[i]);
  CHECK(out[8] == 0);
}

TEST_CASE("endian: constant evaluation gives what run time gives") {
  static constexpr u8 bytes[] = {0x80, 0xff, 0x00, 0x7f};
  constexpr u32 at_compile_time = load_le<u32>(bytes);
  u8 copy[4];
  std::memcpy(copy, bytes, sizeof copy);
  CHECK(load_le<u32>(copy) == at_compile_time);
  static_assert(at_compile_time == 0x7f00ff80u);
}

TEST_CASE("endian: byteswap reverses and is its own inverse") {
  static_assert(byteswap<u8>(0x12) == 0x12);
  static_assert(byteswap<u16>(0x1234) == 0x3412);
  static_assert(byteswap<u32>(0x12345678) == 0x78563412);
  static_assert(byteswap<u64>(0x0123456789abcdef) == 0xefcdab8967452301);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const u64 v = random();
    REQUIRE(byteswap(byteswap(v)) == v);
    REQUIRE(byteswap(static_cast<u32>(v)) == static_cast<u32>(byteswap(v) >> 32));
  }
}

TEST_CASE("endian: stored numbers have alignment 1 and round-trip") {
  static_assert(alignof(le_u16) == 1 && sizeof(le_u16) == 2 && alignof(le_u32) == 1 && sizeof(le_u32) == 4);
  static_assert(alignof(le_f16) == 1 && sizeof(le_f16) == 2 && alignof(le_bf16) == 1 && sizeof(le_bf16) == 2);
  static_assert(alignof(le_f32) == 1 && sizeof(le_f32) == 4);
  le_u32 a{};
  a = 0x12345678u;
  CHECK(a.bytes[0] == 0x78);
  CHECK(u32(a) == 0x12345678u);
  le_f16 h{};
  h = -1.5f;
  CHECK(h.bytes[1] == 0xbe);
  CHECK(f32(h) == -1.5f);
  h = 1.0f + 0x1p-12f;  // rounds
  CHECK(f32(h) == 1.0f);
  le_bf16 b{};
  b = 3.0f;
  CHECK(b.bytes[0] == 0x40);
  CHECK(b.bytes[1] == 0x40);
  CHECK(f32(b) == 3.0f);
  le_f32 f{};
  f = -0.0f;
  CHECK(f.bytes[3] == 0x80);
}
