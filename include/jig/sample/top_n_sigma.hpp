#pragma once
// Top-n-sigma: logits more than n standard deviations below the highest become -infinity; the candidates stay.
//
// Mean and (population) deviation are over the finite logits. n <= 0 (or NaN) is off. Source: Tang et al. 2024,
// arXiv:2411.07641.

#include <cmath>
#include <string_view>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct top_n_sigma {
  static constexpr std::string_view name = "top_n_sigma";
  static constexpr char letter = 's';
  struct options {
    f32 top_n_sigma = -1.0f;  ///< <= 0 = off
  };
  template <class Params>
  static constexpr top_n_sigma from(const Params& p) noexcept {
    return {p.top_n_sigma};
  }

  f32 n = -1.0f;

  void apply(candidates& c) const noexcept {
    if (!(n > 0.0f) || c.size() <= 1) return;
    constexpr f32 infinity = std::numeric_limits<f32>::infinity();
    const auto finite = [](f32 x) { return x < infinity && x > -infinity; };
    f64 sum = 0, squares = 0, count = 0;
    f32 highest = -infinity;
    for (const candidate& x : c.items) {
      if (!finite(x.logit)) continue;
      sum += static_cast<f64>(x.logit);
      count += 1;
      highest = x.logit > highest ? x.logit : highest;
    }
    if (count == 0) return;
    const f64 mean = sum / count;
    for (const candidate& x : c.items) {
      const f64 d = static_cast<f64>(x.logit) - mean;
      if (finite(x.logit)) squares += detail::product(d, d);
    }
    const f32 deviation = static_cast<f32>(std::sqrt(squares / count));
    const f32 lowest = static_cast<f32>(static_cast<f64>(highest) - detail::product(n, deviation));
    for (candidate& x : c.items)
      if (!(x.logit >= lowest)) x.logit = -infinity;
  }
};

}  // namespace jig::sample
