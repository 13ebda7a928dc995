#pragma once
// Random numbers that are the same on every platform: MT19937 (the field's generator) and PCG32 (16 bytes of state).
//
// A generator is built from a 32-bit seed and has next(): 32 uniform bits. Sources: Matsumoto and Nishimura 1998
// (the 2002 initialisation); O'Neill, pcg-random.org, PCG-XSH-RR 64/32.

#include <array>
#include <concepts>

#include "jig/core/types.hpp"

namespace jig::sample {

/// What the samplers that draw need.
template <class G>
concept generator = std::constructible_from<G, u32> && requires(G g) {
  { g.next() } noexcept -> std::same_as<u32>;
};

/// The seed that asks for a random one; jig::host::resolve_seed() replaces it. A generator takes it as any other seed.
inline constexpr u32 random_seed = 0xffffffffu;

/// MT19937: the same numbers as std::mt19937 with the same seed. 2.5 KB of state.
class mt19937 {
 public:
  constexpr explicit mt19937(u32 seed = 5489) noexcept {
    state_[0] = seed;
    for (u32 i = 1; i < n; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }

  constexpr u32 next() noexcept {
    if (at_ == n) renew();
    u32 y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  static constexpr u32 n = 624, m = 397;

  constexpr void renew() noexcept {
    for (u32 i = 0; i < n; ++i) {
      const u32 y = (state_[i] & 0x80000000u) | (state_[i + 1 < n ? i + 1 : 0] & 0x7fffffffu);
      state_[i] = state_[i + m < n ? i + m : i + m - n] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }

  std::array<u32, n> state_{};
  u32 at_ = n;
};

/// PCG32: for firmware. The stream is the reference's demonstration stream, 54.
class pcg32 {
 public:
  constexpr explicit pcg32(u32 seed = 0) noexcept {
    next();
    state_ += seed;
    next();
  }

  constexpr u32 next() noexcept {
    const u64 old = state_;
    state_ = old * 6364136223846793005u + increment;
    const u32 shifted = static_cast<u32>(((old >> 18) ^ old) >> 27), rotation = static_cast<u32>(old >> 59);
    return (shifted >> rotation) | (shifted << ((32 - rotation) & 31));
  }

 private:
  static constexpr u64 increment = (54u << 1) | 1;
  u64 state_ = 0;
};

/// A number in [0, 1) from two outputs a, b: (a + b 2^32) / 2^64, rounded to double. All operations but one addition
/// are exact, so fusing them changes nothing.
template <generator G>
constexpr f64 uniform(G& g) noexcept {
  const f64 a = static_cast<f64>(g.next());
  const f64 b = static_cast<f64>(g.next());
  const f64 u = (a + b * 0x1p32) * 0x1p-64;
  return u < 1.0 ? u : 0x1.fffffffffffffp-1;
}

static_assert(generator<mt19937> && generator<pcg32>);

}  // namespace jig::sample
