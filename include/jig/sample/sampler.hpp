#pragma once
// A sampler for programs: the samplers of a list in an order chosen at run time, then the draw. No heap; a value.

#include <array>
#include <string_view>

#include "jig/sample/chain.hpp"
#include "jig/sample/names.hpp"
#include "jig/sample/params.hpp"

namespace jig::sample {

template <class List, generator G>
class basic_sampler;

/// \tparam S  samplers that may be ordered, in their default order
/// \tparam G  the generator of the final draw
template <class... S, generator G>
class basic_sampler<type_list<S...>, G> {
 public:
  using list = type_list<S...>;
  using params_type = basic_params<list>;
  static constexpr usize max_steps = 32;
  static_assert(sizeof...(S) <= max_steps);

  /// All samplers in their default order; those whose parameters say "off" do nothing.
  constexpr explicit basic_sampler(const params_type& p = {}) noexcept
      : links_{{S::from(p)}...}, draw_(p.seed), count_(sizeof...(S)) {
    for (usize i = 0; i < count_; ++i) order_[i] = static_cast<u8>(i);
  }

  /// Chooses samplers and their order by names separated by ';', e.g. "top_k;temperature". Empty text chooses none.
  /// A sampler named twice is applied twice, with one state. On error nothing changes.
  /// Errors: bad_argument with the name that is unknown; buffer_too_small for more than 32 names.
  constexpr result<void> order_by_names(std::string_view names) noexcept {
    steps chosen;
    while (!names.empty()) {
      const std::string_view one = names.substr(0, names.find(';'));
      names.remove_prefix(one.size() < names.size() ? one.size() + 1 : one.size());
      JIG_CHECK(chosen.add(find_name(list{}, one), one));
    }
    return use(chosen);
  }

  /// The same by letters, e.g. "kpmt".
  constexpr result<void> order_by_letters(std::string_view letters) noexcept {
    steps chosen;
    for (usize i = 0; i < letters.size(); ++i)
      JIG_CHECK(chosen.add(find_letter(list{}, letters[i]), letters.substr(i, 1)));
    return use(chosen);
  }

  /// Applies the chosen samplers, then draws. The candidates' `selected` and `p` are set.
  constexpr void apply(candidates& c) noexcept {
    for (usize i = 0; i < count_; ++i) at(order_[i], [&](auto& s) { s.apply(c); });
    draw_.apply(c);
  }

  /// Draws a token for one position; see jig::sample::pick for `memory` and errors. The caller decides whether to
  /// accept() it.
  constexpr result<i32> pick(std::span<const f32> logits, std::span<candidate> memory) noexcept {
    return sample::pick(*this, logits, memory);
  }

  /// To be called for every token that enters the text, prompt included: some samplers look at the history.
  constexpr void accept(i32 id) noexcept {
    each([&](auto& s) { detail::accept(s, id); });
  }

  /// Back to the state after construction: the same seed again, no history. Order and parameters stay.
  constexpr void reset() noexcept {
    each([](auto& s) { detail::reset(s); });
    draw_.reset();
  }

  /// Number of steps before the draw.
  constexpr usize steps_count() const noexcept { return count_; }

  /// Canonical name of a step; empty beyond the last.
  constexpr std::string_view step_name(usize i) const noexcept {
    constexpr std::string_view names[] = {S::name...};
    return i < count_ ? names[order_[i]] : std::string_view{};
  }

 private:
  struct steps {
    std::array<u8, max_steps> order{};
    usize count = 0;
    constexpr result<void> add(usize index, std::string_view text) noexcept {
      if (index >= sizeof...(S)) return fail(errc::bad_argument, text);
      if (count == max_steps) return fail(errc::buffer_too_small, text).got(max_steps);
      order[count++] = static_cast<u8>(index);
      return {};
    }
  };

  constexpr result<void> use(const steps& chosen) noexcept {
    order_ = chosen.order;
    count_ = chosen.count;
    return {};
  }

  template <class F>
  constexpr void each(F f) noexcept {
    for (usize i = 0; i < sizeof...(S); ++i) at(i, f);
  }

  /// Calls f with the sampler at a position of the list.
  template <class F>
  constexpr void at(usize index, F f) noexcept {
    [&]<usize... I>(std::index_sequence<I...>) {
      (void)((I == index && (f(detail::get<I>(links_)), true)) || ...);
    }(std::index_sequence_for<S...>{});
  }

  detail::links<std::index_sequence_for<S...>, S...> links_;
  dist<G> draw_;
  std::array<u8, max_steps> order_{};
  usize count_;
};

/// The sampler of the programs: all built-in samplers, the field's generator.
using sampler = basic_sampler<builtin, mt19937>;

}  // namespace jig::sample
