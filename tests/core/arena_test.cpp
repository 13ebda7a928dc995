// jig/core/arena.hpp: ranges never overlap, freed ones are used again, and the peak is what was needed.
#include "jig/core/arena.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace jig;

TEST_CASE("arena: first fit, by hand") {
  arena_map a(1024);
  CHECK(a.take(1) == 0);
  CHECK(a.take(65) == 64);
  CHECK(a.take(64) == 192);
  CHECK(a.peak() == 256);
  a.give(64);
  CHECK(a.take(129) == 256);  // the gap of 128 is too small
  CHECK(a.take(128) == 64);
  CHECK(a.peak() == 448);
  CHECK(a.live() == 4);
  a.give(1000);  // not taken: ignored
  CHECK(a.live() == 4);
}

TEST_CASE("arena: the end of the block, absurd sizes and too many ranges give none") {
  arena_map a(128);
  CHECK(a.take(129) == arena_map::none);
  CHECK(a.take(64) == 0);
  CHECK(a.take(65) == arena_map::none);
  CHECK(a.take(64) == 64);
  CHECK(a.take(0) == arena_map::none);
  CHECK(a.take(~u64{0}) == arena_map::none);
  arena_map endless(~u64{0});
  CHECK(endless.take(~u64{0}) == arena_map::none);

  arena_map many(1u << 20);
  for (u32 i = 0; i < arena_map::max_live; ++i) REQUIRE(many.take(64) == u64{i} * 64);
  CHECK(many.take(64) == arena_map::none);
  many.give(640);
  CHECK(many.take(64) == 640);
}

TEST_CASE("arena: random takes and gives against a map of bytes") {
  constexpr u64 capacity = 4096;
  std::mt19937 random(7);
  arena_map a(capacity);
  std::vector<u32> owner(capacity, 0);  // who owns each byte
  struct taken {
    u64 offset, bytes;
  };
  std::vector<taken> live;
  for (u32 step = 1; step <= 20000; ++step) {
    if (random() % 2 == 0 && !live.empty()) {
      const usize i = random() % live.size();
      for (u64 k = 0; k < live[i].bytes; ++k) owner[live[i].offset + k] = 0;
      a.give(live[i].offset);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const u64 bytes = 1 + random() % 700;
    const u64 offset = a.take(bytes);
    if (offset == arena_map::none) continue;
    REQUIRE(offset % arena_map::alignment == 0);
    REQUIRE(offset + bytes <= capacity);
    for (u64 k = 0; k < bytes; ++k) {
      if (owner[offset + k] != 0) FAIL("byte taken twice");
      owner[offset + k] = step;
    }
    live.push_back({offset, bytes});
    REQUIRE(a.live() == live.size());
  }
  CHECK(a.peak() <= capacity);
}
