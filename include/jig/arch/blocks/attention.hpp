#pragma once
// Self-attention with grouped queries: projections, norms of queries and keys, rope, the attention itself, output
// gate and projection. Shapes: n is [tokens, n_embd].

#include "jig/arch/blocks/indexer.hpp"

namespace jig {

/// 1 / sqrt(n). The planner's constant evaluation needs no value, and std::sqrt is not constexpr everywhere.
constexpr f32 inverse_sqrt(u32 n) noexcept {
  return std::is_constant_evaluated() ? 0.0f : 1.0f / std::sqrt(static_cast<f32>(n));
}

/// Queries, keys and values: [tokens, heads * dim], views of what the three values own.
struct qkv {
  value first, second, third;
  mat q, k, v;
};

/// Families whose query matrix gives [query | gate of the result] for each head.
template <class M>
inline constexpr bool has_gated_queries = requires { M::architecture::gated_queries; };

/// The three projections of n, from separate matrices or a fused one, clamped if the file says so.
template <class X, class M>
constexpr qkv project_qkv(X& x, const M& m, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  const auto clamped = [&](const mat& v) {
    if (hp.clamp_qkv != 0.0f) x.clamp(v, hp.clamp_qkv);
    return v;
  };
  if (const linear fused = m.get(t::attn_qkv, il)) {
    const u32 q = hp.n_head[il] * hp.dim_k, k = hp.n_head_kv[il] * hp.dim_k, v = hp.n_head_kv[il] * hp.dim_v;
    value all = x.matmul(n, fused);
    const mat cols = clamped(all);
    return {std::move(all), {}, {}, cols.columns(0, q), cols.columns(q, k), cols.columns(q + k, v)};
  }
  auto [q, k, v] = x.project(n, m.get(t::attn_q, il), m.get(t::attn_k, il), m.get(t::attn_v, il));
  const mat cq = clamped(q), ck = clamped(k), cv = clamped(v);
  return {std::move(q), std::move(k), std::move(v), cq, ck, cv};
}

/// What the attention of layer il needs to know.
template <class M>
constexpr attend_args make_attend_args(const decoder_spec& spec, const M& m, const batch& b, u32 il) {
  const hparams& hp = m.hp();
  attend_args a{.n_head = hp.n_head[il], .n_head_kv = hp.n_head_kv[il], .dim_k = hp.head_k(il), .dim_v = hp.head_v(il)};
  a.values_in_keys = hp.values_in_keys;
  a.page_offset = kv_page_offset(m, b.memory, il);
  a.window_pages = in_window_pages(m, b.memory, il);
  a.scale = hp.attn_scale != 0.0f ? hp.attn_scale : inverse_sqrt(hp.dim_k);
  a.softcap = hp.attn_softcap;
  a.window = spec.windowed && spec.windowed(hp, il) ? hp.window : 0;
  a.chunk = spec.windowed && spec.windowed(hp, il) ? hp.chunk : 0;
  a.alibi_bias = hp.alibi_bias;
  a.sinks = m.get(t::attn_sinks, il).w;
  return a;
}

/// The output gate, where the file has one: a factor per value or per head, made from attention's input n.
template <class X, class M>
constexpr void gate_heads(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n, const mat& mixed) {
  const linear gate = m.get(t::attn_gate, il);
  if (!gate) return;
  value g = x.matmul(n, gate);
  x.activate(g, spec.attn_gate);
  x.multiply(mixed, g);
}

/// Queries, keys and values of layer il -> [tokens, n_head * head_v], over all cells or over those that the layer's
/// indexer chooses.
template <class X, class M>
constexpr value attend(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n, const qkv& p,
                       const rope_tables& tables) {
  const attend_args args = make_attend_args(spec, m, b, il);
  if constexpr (has_indexer<M>) {
    if (selects(m, il)) {
      const cell_choice chosen = select_cells(x, spec, m, b, il, n, n, tables.all);
      return x.attend_chosen(p.q, p.k, p.v, args, chosen, b);
    }
  }
  return x.attend(p.q, p.k, p.v, args, b);
}

/// Attention of layer il: n (normed) -> output projection's result [tokens, n_embd].
template <class X, class M>
constexpr value attention(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                          const rope_tables& tables) {
  const hparams& hp = m.hp();
  const auto norm_qk = [&](const qkv& p) {
    norm_heads(x, spec, hp, p.q, m.get(t::attn_q_norm, il));
    norm_heads(x, spec, hp, p.k, m.get(t::attn_k_norm, il));
  };
  qkv p = project_qkv(x, m, il, n);
  value own_gate;
  if constexpr (has_gated_queries<M>) {
    const u32 heads = hp.n_head[il], dim = hp.dim_k;
    value q = x.make(n.rows, heads * dim);
    own_gate = x.make(n.rows, heads * dim);
    x.copy(mat(q).heads(heads, 0, dim), p.q.heads(heads, 0, dim));
    x.copy(mat(own_gate).heads(heads, 0, dim), p.q.heads(heads, dim, dim));
    p.first = std::move(q);
    p.q = p.first;
  }
  if (!spec.qk_norm_after_rope) norm_qk(p);
  if (const rope_kind kind = rope_of(spec, hp, il); kind != rope_kind::none) {
    const value& table = table_of(tables, spec, hp, il);
    x.rope(p.q, hp.n_head[il], kind, table);
    x.rope(p.k, hp.n_head_kv[il], kind, table);
  }
  if (spec.qk_norm_after_rope) norm_qk(p);
  if (spec.plain_qk_norm && spec.plain_qk_norm(hp, il)) {
    const norm_args plain{.eps = hp.norm_eps, .group = hp.dim_k};
    if (!m.get(t::attn_q_norm, il)) x.norm_inplace(p.q, plain);
    if (!m.get(t::attn_k_norm, il)) x.norm_inplace(p.k, plain);
  }
  if (hp.temperature_scale != 0.0f && (!spec.temperature_in || spec.temperature_in(hp, il)))
    x.temperature(p.q, {hp.temperature_scale, hp.temperature_length, spec.temperature_offset}, b);
  x.name("Qcur", il, p.q), x.name("Kcur", il, p.k), x.name("Vcur", il, p.v);

  value mixed = attend(x, spec, m, b, il, n, p, tables);
  p = {};
  x.name("kqv_out", il, mixed);
  if (hp.attn_output_scale != 0.0f) x.scale(mixed, hp.attn_output_scale);
  gate_heads(x, spec, m, il, n, mixed);
  if constexpr (has_gated_queries<M>) {
    x.activate(own_gate, activation::sigmoid);
    x.multiply(mixed, own_gate);
  }
  if (const linear sub = m.get(t::attn_sub_norm, il))
    x.norm_inplace(mixed, {.kind = spec.norm, .eps = hp.norm_eps, .group = mixed.cols(), .w = sub.w});
  return x.matmul(mixed, m.get(t::attn_output, il));
}

}  // namespace jig
