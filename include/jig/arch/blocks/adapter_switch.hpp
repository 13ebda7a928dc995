#pragma once
// Adapters that control tokens switch on, each for itself and the tokens behind it (Granite Switch,
// https://github.com/generative-computing/granite-switch).
//
// What a sequence remembers of its control tokens is one more head of attention, whose key says whether a token is one
// and whose value is the number of its adapter, so that a token's own adapter is what attention finds (the rounded mean
// if there were several control tokens). It lies in pages like all keys and values, and a sequence can be cut, forked
// and saved anywhere.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/lora.hpp"

namespace jig {

/// Numbers of adapters up to this stay apart in every type of memory.
inline constexpr u32 most_adapters = 256;
/// Width of key and of value of the extra head: an architecture's `extra_head`.
inline constexpr u32 switch_head = 1;

/// Calls f(t, i) for every control token t of the batch, which switches adapter i on, from 0. A plan has no tokens
/// and counts one.
template <class F>
constexpr void each_control_token(const hparams& hp, const batch& b, F&& f) {
  if (b.tokens == nullptr) return f(0u, 0u);
  for (u32 t = 0; t < b.n_tokens; ++t)
    for (u32 i = hp.n_adapters; i-- > 0;)
      if (hp.adapter_tokens[i] == static_cast<u32>(b.tokens[t])) {
        f(t, i);
        break;
      }
}

/// Scores of the adapters of each token, its own the largest: [tokens, n_adapters + 1]; the first is none.
template <class X, class M>
constexpr value adapter_scores(X& x, const M& m, const batch& b) {
  const hparams& hp = m.hp();
  const u32 n = hp.n_adapters + 1;
  value own;
  {
    const value q = x.make(b.n_tokens, 1), k = x.make(b.n_tokens, 1), v = x.make(b.n_tokens, 1);
    x.fill(q, hp.adapter_gain), x.fill(k, -1.0f), x.fill(v, 0.0f);
    each_control_token(hp, b, [&](u32 t, u32 i) {
      x.fill(mat(k).only(t), 1.0f);
      x.fill(mat(v).only(t), static_cast<f32>(i + 1));
    });
    attend_args a{.n_head = 1, .n_head_kv = 1, .dim_k = switch_head, .dim_v = switch_head};
    a.page_offset = extra_head_offset(m, b.memory);
    own = x.attend(q, k, v, a, b);
  }
  // -(i - own)^2; a little less than i, so that halves are rounded up.
  const value numbers = x.make(1, n);
  for (u32 i = 0; i < n; ++i) x.fill(numbers.columns(i, 1), 0x1p-10f - static_cast<f32>(i));
  mat each = numbers;
  each.rows = b.n_tokens, each.stride = 0;
  value scores = x.make(b.n_tokens, n);
  x.fill(scores, 1.0f);
  x.multiply(scores, own);
  x.add(scores, each);
  x.multiply(scores, scores);
  x.scale(scores, -1.0f);
  return scores;
}

/// The rows of h that belong to control tokens become those of the tokens that the model reads in their place.
template <class X, class M>
constexpr void substitute(X& x, const M& m, const batch& b, const value& h) {
  const hparams& hp = m.hp();
  each_control_token(hp, b, [&](u32 t, u32 i) {
    const i32 id = static_cast<i32>(hp.adapter_substitutes[i]);
    batch one;
    one.n_tokens = 1, one.tokens = &id;
    const value row = x.embed(m.get(t::token_embd).w, one);
    if (hp.embedding_scale != 0.0f) x.scale(row, hp.embedding_scale);
    x.copy(mat(h).only(t), row);
  });
}

}  // namespace jig
