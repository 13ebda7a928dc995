#pragma once
// Samplers as types, applied one after another: chain<top_k, top_p, min_p, temperature, dist<>>.
//
// A sampler is any type with apply(candidates&). It may also have accept(id), called for each token that enters the
// text, and reset(). The chain costs what its members cost: no tables, no calls through pointers.

#include <concepts>
#include <utility>

#include "jig/sample/candidates.hpp"

namespace jig::sample {

/// What a chain is made of.
template <class S>
concept step = requires(S s, candidates& c) {
  { s.apply(c) } noexcept;
};

namespace detail {

template <class S>
constexpr void accept(S& s, i32 id) noexcept {
  if constexpr (requires { s.accept(id); }) s.accept(id);
}

template <class S>
constexpr void reset(S& s) noexcept {
  if constexpr (requires { s.reset(); }) s.reset();
}

template <usize I, class S>
struct link {
  S value;
};

template <class Indices, class... S>
struct links;
template <usize... I, class... S>
struct links<std::index_sequence<I...>, S...> : link<I, S>... {};

template <usize I, class S>
constexpr S& get(link<I, S>& l) noexcept {
  return l.value;
}

}  // namespace detail

/// Members in order. Itself a step, so chains nest.
template <step... S>
class chain {
 public:
  constexpr chain() noexcept = default;
  constexpr explicit chain(S... s) noexcept requires(sizeof...(S) > 0) : links_{{std::move(s)}...} {}

  constexpr void apply(candidates& c) noexcept {
    each([&](auto& s) { s.apply(c); });
  }
  constexpr void accept(i32 id) noexcept {
    each([&](auto& s) { detail::accept(s, id); });
  }
  constexpr void reset() noexcept {
    each([](auto& s) { detail::reset(s); });
  }

  /// The member at a position, to change its parameters.
  template <usize I>
  constexpr auto& get() noexcept {
    return detail::get<I>(links_);
  }

 private:
  template <class F>
  constexpr void each(F f) noexcept {
    [&]<usize... I>(std::index_sequence<I...>) { (f(detail::get<I>(links_)), ...); }(std::index_sequence_for<S...>{});
  }

  detail::links<std::index_sequence_for<S...>, S...> links_{};
};

/// Applies a chain whose last member selects (dist or greedy) to the logits of one position.
/// \param memory  at least as many candidates as logits; afterwards `memory` holds the survivors in front
/// Errors: those of from_logits(); bad_argument if the chain selects nothing.
template <step Chain>
constexpr result<i32> pick(Chain& chain, std::span<const f32> logits, std::span<candidate> memory) noexcept {
  JIG_TRY(candidates c, from_logits(logits, memory));
  chain.apply(c);
  if (c.id() < 0) return fail(errc::bad_argument, "sampler chain without dist or greedy at its end");
  return c.id();
}

}  // namespace jig::sample
