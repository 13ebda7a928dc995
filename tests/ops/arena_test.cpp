// core/arena.hpp: first fit by hand and against a naive byte map.
#include "jig/core/arena.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace jig;

TEST_CASE("arena: ranges are taken first-fit, aligned, and reused") {
  arena_map a(1024);
  CHECK(a.take(100) == 0);
  CHECK(a.take(1) == 128);
  CHECK(a.take(64) == 192);
  a.give(128);
  CHECK(a.take(65) == 256);
  CHECK(a.take(64) == 128);
  CHECK(a.peak() == 384);
  CHECK(a.take(1024) == arena_map::none);
  CHECK(a.take(~u64{0}) == arena_map::none);
  CHECK(a.live() == 4);
}

TEST_CASE("arena: random takes never overlap and fail only when there is no gap") {
  std::mt19937 random(3);
  arena_map a(64 * 40);
  std::vector<bool> used(40);
  std::vector<std::pair<u64, u64>> live;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 && !live.empty()) {
      const usize i = random() % live.size();
      a.give(live[i].first);
      for (u64 k = 0; k < live[i].second; ++k) used[live[i].first / 64 + k] = false;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const u64 units = random() % 9 + 1;
    u64 first = 40;  // the naive first fit
    for (u64 at = 0; at + units <= 40 && first == 40; ++at) {
      bool free = true;
      for (u64 k = 0; k < units; ++k) free = free && !used[at + k];
      if (free) first = at;
    }
    const u64 got = a.take(units * 64 - random() % 64);
    REQUIRE(got == (first == 40 ? arena_map::none : first * 64));
    if (first == 40) continue;
    for (u64 k = 0; k < units; ++k) used[first + k] = true;
    live.emplace_back(got, units);
  }
}
