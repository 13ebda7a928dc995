#pragma once
// The inner loop of products whose lanes are rows of weights: some rows times a few columns of activations, sums in
// registers. Nothing is summed across a vector, and every result is the same sum in the same order whatever is computed
// beside it and wherever the weights come from.
//
// A source brings the weights of vectors of rows, 32 columns at a time; O: the operations (ops.hpp):
//   group, has_minima, one_scale   columns for each scale; whether there are minima; whether the activations' scale is
//                                  that of the first group throughout
//   codes<K>(v)                    step K (four columns) of vector v, as dots() takes it
//   dots(sums, codes, four)        + four products for each lane
//   begin(group of activations, half)   sums to begin with
//   scales(half, v), minima(half, v)    f32 of the group, or of the half that has scales of its own
//   next()                         on to the next 32 columns
//
// Error of a result: below 6e-8 * (groups + 3) * sum |w * a| against real arithmetic on the same blocks.

#include <utility>

#include "jig/backend/cpu/wide/activations.hpp"
#include "jig/backend/cpu/wide/ops.hpp"
#include "jig/backend/cpu/wide/panel.hpp"

namespace jig::cpu {

/// Weights from a panel, from row `row` on.
template <class O, u32 Group, bool Min, bool OneScale>
class panel_source {
 public:
  static constexpr u32 group = Group;
  static constexpr bool has_minima = Min, one_scale = OneScale;

  panel_source(const panel& p, u32 row) noexcept
      : codes_(p.codes[0][row]), scales_(p.scales[0] + row), minima_(p.minima[0] + row) {}

  template <u32 K>
  auto codes(u32 v) const noexcept {
    return O::as_signed(O::load_bytes(codes_ + 4 * (K * panel_rows + v * O::lanes)));
  }
  static auto dots(typename O::i sums, const typename O::signed_codes& w, auto four) noexcept {
    return O::dots(sums, w, four);
  }
  static auto begin(const wide_group& a, u32 half) noexcept {
    return O::begin(O::offset == 0 ? 0 : Group == 32 ? a.bias : a.biases[half]);
  }
  auto scales(u32 half, u32 v) const noexcept { return O::load(scales_ + half * panel_rows + v * O::lanes); }
  auto minima(u32 half, u32 v) const noexcept { return O::load(minima_ + half * panel_rows + v * O::lanes); }
  void next() noexcept {
    codes_ += 32 * panel_rows;
    scales_ += 32 / Group * panel_rows;
    minima_ += 32 / Group * panel_rows;
  }

 private:
  const i8* codes_;
  const f32 *scales_, *minima_;
};

namespace detail {

/// Calls f.template operator()<k>() for k from First up to First + N - 1.
template <u32 First, u32 N, class F>
void each_step(F&& f) noexcept {
  [&]<u32... K>(std::integer_sequence<u32, K...>) {
    (f.template operator()<First + K>(), ...);
  }(std::make_integer_sequence<u32, N>{});
}

}  // namespace detail

/// V vectors of rows of n columns times C columns of activations; a[c]: the groups that meet the weights' columns;
/// out[c]: the rows of that column's results. first: results begin here; else they are added to.
template <class O, u32 C, u32 V, class Source>
void wide_tile(Source w, u32 n, const wide_group* const* a, bool first, f32* const* out) noexcept {
  using f = typename O::f;
  using i = typename O::i;
  constexpr u32 Group = Source::group, halves = 32 / Group;
  const wide_group* now[C];
  f sums[C][V];
#pragma GCC unroll 8
  for (u32 c = 0; c < C; ++c) {
    now[c] = a[c];
#pragma GCC unroll 8
    for (u32 v = 0; v < V; ++v) sums[c][v] = Source::one_scale || first ? O::zero() : O::load(out[c] + v * O::lanes);
  }
  for (u32 g = 0; g < n / 32; ++g) {
    detail::each_step<0, halves>([&]<u32 H>() {
      i dots[C][V];
#pragma GCC unroll 8
      for (u32 c = 0; c < C; ++c)
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) dots[c][v] = Source::begin(*now[c], H);
      detail::each_step<H * Group / 4, Group / 4>([&]<u32 K>() {
        decltype(w.template codes<K>(0)) codes[V];
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) codes[v] = w.template codes<K>(v);
#pragma GCC unroll 8
        for (u32 c = 0; c < C; ++c) {
          const auto four = O::four(now[c]->codes + 4 * K);
#pragma GCC unroll 8
          for (u32 v = 0; v < V; ++v) dots[c][v] = Source::dots(dots[c][v], codes[v], four);
        }
      });
      f row_scales[V];
#pragma GCC unroll 8
      for (u32 v = 0; v < V; ++v) row_scales[v] = w.scales(H, v);
#pragma GCC unroll 8
      for (u32 c = 0; c < C; ++c) {
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) {
          f scale = row_scales[v];
          if constexpr (!Source::one_scale) scale = O::times(scale, O::all(now[c]->scale));
          sums[c][v] = O::plus(O::numbers(dots[c][v]), scale, sums[c][v]);
        }
      }
      if constexpr (Source::has_minima) {
#pragma GCC unroll 8
        for (u32 c = 0; c < C; ++c) {
          const f sum = O::all(Group == 32 ? now[c]->sum : now[c]->sums[H]);
#pragma GCC unroll 8
          for (u32 v = 0; v < V; ++v) sums[c][v] = O::minus(w.minima(H, v), sum, sums[c][v]);
        }
      }
    });
    w.next();
#pragma GCC unroll 8
    for (u32 c = 0; c < C; ++c) ++now[c];
  }
#pragma GCC unroll 8
  for (u32 c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (u32 v = 0; v < V; ++v) {
      f32* const to = out[c] + v * O::lanes;
      if constexpr (Source::one_scale) {
        const f scale = O::all(a[c]->scale);
        sums[c][v] = first ? O::times(sums[c][v], scale) : O::plus(sums[c][v], scale, O::load(to));
      }
      O::store(to, sums[c][v]);
    }
}

/// A whole panel times `columns` columns, at most O::columns.
template <class O, u32 Group, bool Min, bool OneScale, u32 C = O::columns>
void wide_columns(const panel& p, u32 n, u32 columns, const wide_group* const* a, bool first,
                  f32* const* out) noexcept {
  if constexpr (C > 1)
    if (columns < C) return wide_columns<O, Group, Min, OneScale, C - 1>(p, n, columns, a, first, out);
  for (u32 row = 0; row < panel_rows; row += O::vectors * O::lanes) {
    f32* rows[C];
    for (u32 c = 0; c < C; ++c) rows[c] = out[c] + row;
    wide_tile<O, C, O::vectors>(panel_source<O, Group, Min, OneScale>(p, row), n, a, first, rows);
  }
}

}  // namespace jig::cpu
