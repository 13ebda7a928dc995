// jig/sample/random.hpp: against the published sequences and the standard library's mt19937.
#include "jig/sample/random.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace jig;
using namespace jig::sample;

TEST_CASE("mt19937: the 10,000th number of the standard") {
  mt19937 g;
  u32 v = 0;
  for (int i = 0; i < 10000; ++i) v = g.next();
  CHECK(v == 4123659995u);
}

TEST_CASE("mt19937: as std::mt19937 for many seeds") {
  for (u32 seed : {0u, 1u, 42u, 123456789u, 0x80000000u, 0xffffffffu}) {
    mt19937 a(seed);
    std::mt19937 b(seed);
    for (int i = 0; i < 2000; ++i) REQUIRE(a.next() == static_cast<u32>(b()));
  }
}

TEST_CASE("mt19937: works at compile time") {
  constexpr u32 first = [] {
    mt19937 g(5489);
    return g.next();
  }();
  static_assert(first == 3499211612u);
  CHECK(first == 3499211612u);
}

TEST_CASE("pcg32: the sequence of the reference's demonstration (seed 42, stream 54)") {
  pcg32 g(42);
  for (u32 want : {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u, 0x83d2f293u, 0xbfa4784bu, 0xcbed606eu})
    CHECK(g.next() == want);
}

TEST_CASE("uniform: (a + b 2^32) / 2^64, below 1 even at the top") {
  struct fixed {
    u32 values[2];
    int at = 0;
    constexpr explicit fixed(u32 v) : values{v, v} {}
    constexpr u32 next() noexcept { return values[at++ & 1]; }
  };
  fixed top(0xffffffffu), zero(0), half(0);
  half.values[1] = 0x80000000u;
  CHECK(uniform(top) < 1.0);
  CHECK(uniform(top) > 0.99999999);
  CHECK(uniform(zero) == 0.0);
  CHECK(uniform(half) == 0.5);
}
