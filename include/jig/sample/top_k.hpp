#pragma once
// Top-k: keeps the k candidates with the highest logits, sorted. k <= 0 is off.

#include <string_view>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct top_k {
  static constexpr std::string_view name = "top_k";
  static constexpr char letter = 'k';
  struct options {
    i32 top_k = 40;  ///< <= 0 = off
  };
  template <class Params>
  static constexpr top_k from(const Params& p) noexcept {
    return {p.top_k};
  }

  i32 k = 40;

  constexpr void apply(candidates& c) const noexcept {
    if (k > 0) c.keep_best(static_cast<usize>(k));
  }
};

}  // namespace jig::sample
