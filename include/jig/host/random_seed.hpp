#pragma once
// A seed from the system's source of randomness, for runs that need not be repeated.

#include <chrono>

#include "jig/sample/random.hpp"

#if defined(__linux__)
#include <sys/random.h>
#else
#include <random>
#endif

namespace jig::host {

namespace detail {

/// 32 bits from the system; false where it has none to give. (On Linux without <random>, which is slow to compile.)
inline bool system_random(u32& bits) noexcept {
#if defined(__linux__)
  return ::getentropy(&bits, sizeof bits) == 0;
#else
  try {
    bits = std::random_device{}();
    return true;
  } catch (...) {
    return false;
  }
#endif
}

}  // namespace detail

/// `seed` itself, or a random one (never sample::random_seed) if it is sample::random_seed. Print it: it repeats the
/// run.
inline u32 resolve_seed(u32 seed) noexcept {
  if (seed != sample::random_seed) return seed;
  if (!detail::system_random(seed))  // the clock is better than always the same number
    seed = static_cast<u32>(std::chrono::steady_clock::now().time_since_epoch().count());
  return seed == sample::random_seed ? 0 : seed;
}

}  // namespace jig::host
