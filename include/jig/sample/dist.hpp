#pragma once
// The final draw: selects a candidate with the probability that softmax gives it.
//
// u in [0, 1) is drawn (also if only one candidate is left); the first candidate, in the current order, whose running
// sum of e^(logit - highest) reaches u times the whole sum is selected. Tokens of probability 0 are never selected.

#include "jig/sample/candidates.hpp"
#include "jig/sample/random.hpp"

namespace jig::sample {

/// \tparam G  the generator; mt19937 gives the field's draws, pcg32 saves 2.5 KB
template <generator G = mt19937>
class dist {
 public:
  constexpr explicit dist(u32 seed = random_seed) noexcept : seed_(seed), random_(seed) {}

  /// Selects a candidate; afterwards every p holds the candidate's probability.
  constexpr void apply(candidates& c) noexcept {
    if (c.empty()) return;
    const f64 u = uniform(random_);
    const f64 whole = weigh(c), goal = whole * u;
    f64 sum = 0;
    usize chosen = candidates::none;
    bool reached = false;
    for (usize i = 0; i < c.size(); ++i) {
      candidate& x = c.items[i];
      sum += static_cast<f64>(x.p);
      if (!reached && x.p > 0) {
        chosen = i;
        reached = sum >= goal;
      }
      x.p = static_cast<f32>(static_cast<f64>(x.p) / whole);
    }
    c.selected = chosen;
  }

  /// Starts the sequence of random numbers again.
  constexpr void reset() noexcept { random_ = G(seed_); }

 private:
  u32 seed_;
  G random_;
};

}  // namespace jig::sample
