#pragma once
// Sparse attention (ops/selection.hpp): an indexer's choice of cells, and attention to what was chosen.

#include "jig/backend/cpu/attention.hpp"
#include "jig/ops/select_token.hpp"

namespace jig::cpu {

namespace detail {

/// What a key ([dim]) scores for token t, for each list.
template <class V>
void index_scores(const select_args& a, const f32* q, const f32* weights, const f32* key, f32* scores) noexcept {
  f32 sum = 0.0f;
  for (u32 h = 0; h < a.n_head; ++h) {
    const f32 s = dot_of<V>(q + u64{h} * a.dim, key, a.dim);
    if (a.per_head) scores[h] = s;
    else if (s > 0.0f) sum += weights != nullptr ? weights[h] * s : s;
  }
  if (!a.per_head) scores[0] = sum;
}

/// A thread's part of the scratch.
struct select_scratch {
  select_scratch(const select_args& a, u8* bytes, u32 thread) noexcept
      : scores(reinterpret_cast<f32*>(bytes + thread * select_scratch_bytes(a, 1))),
        decoded(scores + u64{a.lists()} * (2 + u64{a.top_k})),
        own{reinterpret_cast<u32*>(decoded + round_up(a.dim, 32)), scores + 2 * u64{a.lists()}, a.lists(), a.top_k} {}
  f32* scores;
  f32* decoded;    ///< a key
  best_lists own;  ///< lists of blocks that the thread has looked at
};

/// Token t's lists, its blocks shared out: every thread finds the best of its own, then those are merged. The result is
/// that of one thread: which block comes before which depends on nothing else.
template <class F>
void select_together(const parallel& p, const select_args& a, const batch& b, u32 t, u8* scratch,
                     const chosen_blocks& chosen, F&& score_with) noexcept {
  for (u32 i = 0; i < p.threads; ++i) select_scratch(a, scratch, i).own.clear();
  p.run([&](u32 index, u32 count) {
    const select_scratch s(a, scratch, index);
    const range part = split(seen_blocks(a, b, t), 1, index, count);
    offer_blocks(a, b, t, static_cast<u32>(part.begin), static_cast<u32>(part.end), s.own, s.scores,
                 score_with(t, s.decoded));
  });
  const best_lists all = select_scratch(a, scratch, 0).own;
  for (u32 i = 1; i < p.threads; ++i) {
    const best_lists part = select_scratch(a, scratch, i).own;
    for (u32 l = 0; l < all.n; ++l)
      for (u32 j = 0; j < part[l].list[0]; ++j) all[l].offer(part[l].list[1 + j], part[l].scores[j]);
  }
  all.sort();
  for (u32 l = 0; l < all.n; ++l)
    for (u32 j = 0; j <= all[l].list[0]; ++j) chosen.list(t, l)[j] = all[l].list[j];
}

}  // namespace detail

/// Writes the lists of every token (ops/selection.hpp). q: [tokens, n_head * dim], weights: [tokens, n_head] or absent;
/// scratch: select_scratch_bytes(a, p.threads). Scores in f32: cells that differ by less may change places.
template <class V, class Kv>
void select(const parallel& p, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
            const chosen_blocks& chosen) noexcept {
  u64 work = 0;  // multiply-adds, to keep small jobs on the caller
  for (u32 t = 0; t < b.n_tokens; ++t) work += (u64{b.cell[t]} + 1) * a.n_head * a.dim;
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    const auto score_with = [&](u32 t, f32* decoded) {
      const kv_rows<T> rows(a.keys(), b, b.sequence[t]);
      const f32* w = weights.cols != 0 ? weights.row(t) : nullptr;
      return [=, &a, from = q.row(t)](u32 cell, f32* scores) {
        const f32* key = detail::row_floats<V, T>(rows.key(cell, 0), a.dim, decoded);
        detail::index_scores<V>(a, from, w, key, scores);
      };
    };
    const auto share = [&](u32 index, u32 count) {  // every count-th token: late ones see more cells
      const detail::select_scratch s(a, scratch, index);
      for (u32 t = index; t < b.n_tokens; t += count) select_token(a, b, t, chosen, s.scores, score_with(t, s.decoded));
    };
    if (work < 65536) share(0, 1);
    else if (b.n_tokens >= p.threads) p.run(share);
    else
      for (u32 t = 0; t < b.n_tokens; ++t) detail::select_together(p, a, b, t, scratch, chosen, score_with);
  });
}

/// `attend` over the cells that were chosen; shapes, scratch and error as there.
template <class V, class Kv>
void attend_chosen(const parallel& p, const attend_args& a, const batch& b, const mat& q, const chosen_blocks& chosen,
                   u8* scratch, const mat& out) noexcept {
  u64 work = 0;
  for (u32 t = 0; t < b.n_tokens; ++t)
    work += u64{chosen_cells(chosen, b, t, 0).size()} * a.n_head * (a.dim_k + a.dim_v);
  detail::attend_all<V, Kv>(p, a, b, work, q, scratch, out,
                            [&](u32 t, u32 h) { return chosen_cells(chosen, b, t, h); });
}

}  // namespace jig::cpu
