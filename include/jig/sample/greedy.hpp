#pragma once
// Greedy: selects the first candidate with the highest logit. Draws no random number.

#include "jig/sample/candidates.hpp"

namespace jig::sample {

struct greedy {
  constexpr void apply(candidates& c) const noexcept {
    if (!c.empty()) c.selected = c.best();
  }
};

}  // namespace jig::sample
