#pragma once
// A seed from the system's source of randomness, for runs that need not be repeated.

#include <chrono>
#include <random>

#include "jig/sample/random.hpp"

namespace jig::host {

/// `seed` itself, or a random one (never sample::random_seed) if it is sample::random_seed. Print it: it repeats the
/// run.
inline u32 resolve_seed(u32 seed) noexcept {
  if (seed != sample::random_seed) return seed;
  try {
    seed = std::random_device{}();
  } catch (...) {  // no such source here: the clock is better than always the same number
    seed = static_cast<u32>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return seed == sample::random_seed ? 0 : seed;
}

}  // namespace jig::host
