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
    // Few tokens carry most of the probability: sort only as far as the sum needs, in growing pieces.
    f64 sum = 0;
    usize keep = 0;
    for (usize piece = 128, done = 0; done < c.size(); done += piece, piece *= 8) {
      const std::span<candidate> rest = c.items.subspan(done);
      if (piece > rest.size()) piece = rest.size();
      if (!c.sorted) detail::sort_best(rest, piece);
      for (usize i = 0; i < piece; ++i) {
        sum += static_cast<f64>(rest[i].p);
        keep = done + i + 1;
        if (sum >= goal && keep >= min_keep) {
          c.items = c.items.first(keep);
          c.sorted = true;
          return;
        }
      }
    }
    c.sorted = true;  // everything stays: min_keep is above the size, or the sum is rounded differently in this order
  }
};

}  // namespace jig::sample
