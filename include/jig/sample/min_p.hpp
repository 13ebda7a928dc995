#pragma once
// Min-p: keeps the candidates whose probability is at least p times that of the likeliest: logit >= max + ln(p).
//
// Unsorted candidates keep their order if at least min_keep (and one) remain; otherwise the best min_keep stay, sorted.
// p <= 0 (or NaN) is off. Source: Nguyen et al. 2024, arXiv:2407.01082.

#include <string_view>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct min_p {
  static constexpr std::string_view name = "min_p";
  static constexpr char letter = 'm';
  struct options {
    f32 min_p = 0.05f;  ///< <= 0 = off
  };
  template <class Params>
  static constexpr min_p from(const Params& o) noexcept {
    return {o.min_p, o.min_keep};
  }

  f32 p = 0.05f;
  usize min_keep = 0;

  void apply(candidates& c) const noexcept {
    if (!(p > 0.0f) || c.empty()) return;
    const f32 lowest = c.max_logit() + static_cast<f32>(detail::log(p));
    const usize least = min_keep > 1 ? min_keep : 1;
    usize count = 0;
    for (const candidate& x : c.items) count += keeps(x, lowest);
    if (count < least || c.sorted) {
      c.keep_best(count < least ? least : count);
      return;
    }
    usize to = 0;
    for (const candidate& x : c.items)
      if (keeps(x, lowest)) c.items[to++] = x;
    c.items = c.items.first(count);
  }

 private:
  static constexpr bool keeps(const candidate& x, f32 lowest) noexcept { return x.logit >= lowest; }
};

}  // namespace jig::sample
