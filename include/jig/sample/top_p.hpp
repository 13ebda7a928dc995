#pragma once
// Top-p (nucleus): keeps the shortest prefix of the sorted candidates whose probabilities add up to at least p, and at
// least min_keep. p >= 1 (or NaN) is off. Source: Holtzman et al. 2019, arXiv:1904.09751.

#include <string_view>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct top_p {
  static constexpr std::string_view name = "top_p";
  static constexpr std::string_view aliases[] = {"nucleus"};
  static constexpr char letter = 'p';
  struct options {
    f32 top_p = 0.95f;  ///< >= 1 = off
  };
  template <class Params>
  static constexpr top_p from(const Params& o) noexcept {
    return {o.top_p, o.min_keep};
  }

  f32 p = 0.95f;
  usize min_keep = 0;

  constexpr void apply(candidates& c) const noexcept {
    if (!(p < 1.0f) || c.empty()) return;
    const f64 goal = weigh(c) * static_cast<f64>(p);
    const usize keep = c.sorted ? prefix(c.items, goal) : select(c.items, goal);
    if (keep >= min_keep) {
      c.items = c.items.first(keep);
      c.sort();
    } else {
      c.keep_best(min_keep);
    }
  }

 private:
  /// Length of the shortest prefix of sorted candidates whose p add up to the goal; all if they do not.
  static constexpr usize prefix(std::span<const candidate> s, f64 goal) noexcept {
    f64 sum = 0;
    for (usize i = 0; i < s.size(); ++i) {
      sum += static_cast<f64>(s[i].p);
      if (sum >= goal) return i + 1;
    }
    return s.size();
  }

  /// The same length for candidates in any order; it brings those of the prefix to the front, unsorted. As in
  /// quickselect only the part in which the sum passes the goal is divided further: linear on average.
  static constexpr usize select(std::span<candidate> s, f64 goal) noexcept {
    usize before = 0;
    for (int patience = 64; s.size() > 16 && patience > 0; --patience) {
      const usize cut = detail::partition(s);
      f64 sum = 0;
      for (const candidate& x : s.first(cut)) sum += static_cast<f64>(x.p);
      if (sum >= goal) {
        s = s.first(cut);
      } else {
        goal -= sum;
        before += cut;
        s = s.subspan(cut);
      }
    }
    detail::sort_all(s);
    return before + prefix(s, goal);
  }
};

}  // namespace jig::sample
