#pragma once
// Candidates: the tokens that are still in the running, in the caller's memory. Samplers shrink, reorder and rescore
// them; the last one selects.
//
// Definitions that hold for all samplers: a NaN logit counts as -infinity. Equal logits are ordered by id, lower first.
// If all logits are -infinity the first candidate gets the whole probability.

#include <span>

#include "jig/core/result.hpp"
#include "jig/sample/detail/math.hpp"
#include "jig/sample/detail/select.hpp"

namespace jig::sample {

/// A token with its logit (natural logarithm of an unnormalised probability). `p` is valid after softmax().
struct candidate {
  i32 id;
  f32 logit;
  f32 p;
};

/// True if a is better than b: higher logit, or equal logits and lower id. A total order, NaN included.
constexpr bool precedes(const candidate& a, const candidate& b) noexcept {
  if (a.logit > b.logit) return true;
  if (a.logit < b.logit) return false;
  const bool a_nan = a.logit != a.logit, b_nan = b.logit != b.logit;
  constexpr f32 lowest = -std::numeric_limits<f32>::infinity();
  if (a_nan != b_nan) {  // a NaN equals -infinity and loses to everything above
    if (a_nan && b.logit > lowest) return false;
    if (b_nan && a.logit > lowest) return true;
  }
  return a.id < b.id;
}

/// What passes through a chain of samplers. Invariant: `sorted` implies that no logit is above the one before it.
struct candidates {
  static constexpr usize none = ~usize{0};

  std::span<candidate> items;
  bool sorted = false;
  usize selected = none;  ///< index into items, set by a sampler that draws

  constexpr usize size() const noexcept { return items.size(); }
  constexpr bool empty() const noexcept { return items.empty(); }

  /// The selected token, or -1.
  constexpr i32 id() const noexcept { return selected < items.size() ? items[selected].id : -1; }

  /// Index of the first candidate with the highest logit; 0 if all are -infinity or NaN. Precondition: not empty.
  constexpr usize best() const noexcept {
    if (sorted) return 0;
    usize at = 0;
    f32 highest = -std::numeric_limits<f32>::infinity();
    for (usize i = 0; i < items.size(); ++i)
      if (items[i].logit > highest) highest = items[at = i].logit;
    return at;
  }

  /// The highest logit, -infinity if there is none.
  constexpr f32 max_logit() const noexcept {
    constexpr f32 lowest = -std::numeric_limits<f32>::infinity();
    if (items.empty()) return lowest;
    const f32 v = items[best()].logit;
    return v == v ? v : lowest;
  }

  /// Sorts all candidates, best first.
  constexpr void sort() noexcept {
    if (!sorted) detail::sort_all(items);
    sorted = true;
  }

  /// Keeps the k best, sorted. Linear in the number of candidates for small k.
  constexpr void keep_best(usize k) noexcept {
    if (k > items.size()) k = items.size();
    if (!sorted) detail::sort_best(items, k);
    sorted = true;
    items = items.first(k);
  }
};

/// All tokens of a vocabulary, in the order of their ids.
/// \param logits  [n_vocab]
/// \param memory  at least n_vocab candidates; used until the candidates are gone
/// Errors: bad_argument (no logits, or more than 2^31 - 1), buffer_too_small.
constexpr result<candidates> from_logits(std::span<const f32> logits, std::span<candidate> memory) noexcept {
  if (logits.empty() || logits.size() > 0x7fffffffu) return fail(errc::bad_argument, "logits").got(logits.size());
  if (memory.size() < logits.size()) return fail(errc::buffer_too_small, "candidates").got(memory.size());
  for (usize i = 0; i < logits.size(); ++i) {
    const f32 v = logits[i];
    memory[i] = {static_cast<i32>(i), v == v ? v : -std::numeric_limits<f32>::infinity(), 0.0f};
  }
  return candidates{memory.first(logits.size())};
}

/// Puts e^(logit - highest) into every p and returns their sum (single precision terms, double sum, in order).
/// With all logits -infinity the first p is 1 and the others 0. The sum is at least 1 unless there are no candidates.
constexpr f64 weigh(candidates& c) noexcept {
  const f32 highest = c.max_logit();
  const bool hopeless = highest == -std::numeric_limits<f32>::infinity();
  f64 sum = 0;
  for (usize i = 0; i < c.items.size(); ++i) {
    candidate& x = c.items[i];
    // The first comparison also covers +infinity, whose difference to itself is no number.
    x.p = hopeless ? (i == 0 ? 1.0f : 0.0f) : x.logit == highest ? 1.0f : detail::exp_nonpositive(x.logit - highest);
    sum += static_cast<f64>(x.p);
  }
  return sum;
}

/// Puts the probabilities of the current logits into every p.
constexpr void softmax(candidates& c) noexcept {
  const f64 sum = weigh(c);
  for (candidate& x : c.items) x.p = static_cast<f32>(static_cast<f64>(x.p) / sum);
}

}  // namespace jig::sample
