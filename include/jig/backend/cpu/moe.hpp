#pragma once
// Mixture of experts: the choice of experts and the weighted sum of their outputs.

#include "jig/backend/cpu/elementwise.hpp"

namespace jig::cpu {

namespace detail {

/// The expert with the largest logit among those that come after (value, id) in falling order: a lower logit, or the
/// same and a higher id. NaN counts as minus infinity, so that there always is one while fewer than n are taken.
inline u32 next_expert(const f32* logits, u32 n, f32& value, u32 id) noexcept {
  constexpr f32 lowest = -std::numeric_limits<f32>::infinity();
  const f32 limit = value;
  u32 best = n;
  for (u32 e = 0; e < n; ++e) {
    const f32 l = logits[e] >= lowest ? logits[e] : lowest;
    const bool follows = l < limit || (l == limit && (id == n || e > id));
    if (follows && (best == n || l > value)) best = e, value = l;
  }
  return best;
}

}  // namespace detail

/// logits: [tokens, n_expert] -> ids [tokens, n_used], falling by probability (the lower id on a tie), and weights
/// [tokens, n_used]: softmax over all experts, renormalised over the chosen ones and scaled as asked.
/// Relative error of the weights below 1e-6 + n_expert * 6e-8.
/// Everything but plain softmax is done in double precision (ops/exact.hpp).
inline void route(const parallel& p, const route_args& a, const mat& logits, i32* ids, const mat& weights) noexcept {
  if (a.kind != gating::softmax || a.bias || a.n_groups > 1 || a.per_group > 1) {
    return each_row(p, logits.rows, a.n_expert * a.n_used * 16, [&](u32 t) {
      route_token(a, logits.row(t), ids + usize{t} * a.n_used, weights.row(t));
    });
  }
  each_row(p, logits.rows, a.n_expert * a.n_used, [&](u32 t) {
    const f32* l = logits.row(t);
    f32* w = weights.row(t);
    f32 value = std::numeric_limits<f32>::infinity(), top = 0.0f, chosen = 0.0f, all = 0.0f;
    u32 id = a.n_expert;
    for (u32 j = 0; j < a.n_used; ++j) {
      id = detail::next_expert(l, a.n_expert, value, id);
      ids[usize{t} * a.n_used + j] = static_cast<i32>(id);
      if (j == 0) top = value;
      w[j] = exp(one_float(value - top)).v;
      chosen += w[j];
    }
    if (a.normalize) all = chosen;
    else for (u32 e = 0; e < a.n_expert; ++e) all += exp(one_float(l[e] - top)).v;
    for (u32 j = 0; j < a.n_used; ++j) w[j] *= a.scale / all;
  });
}

/// The experts that a table has for the tokens ([n_used, n_vocab] i32), weighed in double precision.
inline void route_tokens(const parallel& p, const route_args& a, const mat& logits, const weight& table,
                         const i32* tokens, i32* ids, const mat& weights) noexcept {
  each_row(p, logits.rows, a.n_expert * 8, [&](u32 t) {
    route_by_table(a, logits.row(t), table, tokens[t], ids + usize{t} * a.n_used, weights.row(t));
  });
}

/// out[t] = sum_j weights[t][j] * y[t * n_used + j]. Shapes: y [tokens * n_used, cols], weights [tokens, n_used],
/// out [tokens, cols]. Absolute error below 6e-8 * n_used * sum |w y|.
template <class V>
void combine(const parallel& p, const mat& y, const mat& weights, const mat& out) noexcept {
  const u32 n = weights.cols;
  each_row(p, out.rows, out.cols, [&](u32 t) {
    f32* o = out.row(t);
    const V first(weights.row(t)[0]);
    transform_to<V>(y.row(t * n), o, out.cols, [&](V v) { return first * v; });
    for (u32 j = 1; j < n; ++j) {
      const V w(weights.row(t)[j]);
      transform<V>(o, y.row(t * n + j), out.cols, [&](V sum, V v) { return madd(w, v, sum); });
    }
  });
}

}  // namespace jig::cpu
