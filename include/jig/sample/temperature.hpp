#pragma once
// Temperature: divides the logits by t; below 1 the likely tokens become likelier.
//
// t <= 0 (or NaN) is greedy: the first maximum keeps its logit, all others become -infinity. t = 1 changes nothing.

#include <string_view>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct temperature {
  static constexpr std::string_view name = "temperature";
  static constexpr std::string_view aliases[] = {"temp"};
  static constexpr char letter = 't';
  struct options {
    f32 temp = 0.8f;  ///< 0 = greedy, 1 = off
  };
  template <class Params>
  static constexpr temperature from(const Params& p) noexcept {
    return {p.temp};
  }

  f32 t = 0.8f;

  constexpr void apply(candidates& c) const noexcept {
    if (c.empty() || t == 1.0f) return;
    constexpr f32 infinity = std::numeric_limits<f32>::infinity();
    const auto finite = [](f32 x) { return x < infinity && x > -infinity; };
    // A tiny t would make several logits infinite and so equal: that, too, means greedy.
    if (const f32 top = c.max_logit(); !(t > 0.0f) || (finite(top) && !finite(top / t))) {
      const usize best = c.best();
      for (usize i = 0; i < c.size(); ++i)
        if (i != best) c.items[i].logit = -infinity;
      return;
    }
    for (candidate& x : c.items)
      if (finite(x.logit)) x.logit /= t;  // infinity / infinity is no number
  }
};

}  // namespace jig::sample
