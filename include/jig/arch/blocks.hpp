#pragma once
// Building blocks of decoder-only transformers, shared by the architectures: they read what varies from a
// constexpr `decoder_spec` and from which tensors the model has.
//
// Shapes: h and n are [tokens, n_embd]. Names given to x.name() are the field's conventional ones.

#include <cmath>

#include "jig/arch/model.hpp"
#include "jig/ops/executor.hpp"
#include "jig/ops/kv_rows.hpp"

namespace jig {

/// What distinguishes the decoders of one family from another.
struct decoder_spec {
  norm_kind norm = norm_kind::rms;
  rope_kind rope = rope_kind::norm;
  activation act = activation::silu;
};

/// The norm that a tensor's weight (and bias) belong to, over all columns.
template <class X>
constexpr value normed(X& x, const decoder_spec& spec, const hparams& hp, const mat& h, const linear& w) {
  return x.norm(h, {.kind = spec.norm, .eps = hp.norm_eps, .group = h.cols, .w = w.w, .b = w.bias});
}

/// 1 / sqrt(n). The planner's constant evaluation needs no value, and std::sqrt is not constexpr everywhere.
constexpr f32 inverse_sqrt(u32 n) noexcept {
  return std::is_constant_evaluated() ? 0.0f : 1.0f / std::sqrt(static_cast<f32>(n));
}

/// Bytes from a page's start to the keys of layer il.
constexpr u64 kv_page_offset(const hparams& hp, const kv_memory& memory, u32 il) noexcept {
  u64 bytes = 0;
  for (u32 l = 0; l < il; ++l) bytes += kv_token_bytes(memory.type, hp.n_head_kv[l], hp.dim_k, hp.dim_v);
  return bytes * memory.page_tokens;
}

/// Self-attention of layer il: n (normed) -> output projection's result.
template <class X, class M>
constexpr value attention(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                          const mat& rope_table) {
  const hparams& hp = m.hp();
  const u32 n_head = hp.n_head[il], n_head_kv = hp.n_head_kv[il];
  const u32 width_q = n_head * hp.dim_k, width_k = n_head_kv * hp.dim_k, width_v = n_head_kv * hp.dim_v;

  std::array<value, 3> held;
  mat q, k, v;
  if (const linear fused = m.get(t::attn_qkv, il)) {
    held[0] = x.matmul(n, fused);
    q = held[0].columns(0, width_q);
    k = held[0].columns(width_q, width_k);
    v = held[0].columns(width_q + width_k, width_v);
  } else {
    held = x.project(n, m.get(t::attn_q, il), m.get(t::attn_k, il), m.get(t::attn_v, il));
    q = held[0], k = held[1], v = held[2];
  }
  x.rope(q, n_head, spec.rope, rope_table);
  x.rope(k, n_head_kv, spec.rope, rope_table);
  x.name("Qcur", il, q), x.name("Kcur", il, k), x.name("Vcur", il, v);

  attend_args a{.n_head = n_head, .n_head_kv = n_head_kv, .dim_k = hp.dim_k, .dim_v = hp.dim_v};
  a.page_offset = kv_page_offset(hp, b.memory, il);
  a.scale = inverse_sqrt(hp.dim_k);
  value mixed = x.attend(q, k, v, a, b);
  held = {};
  x.name("kqv_out", il, mixed);
  return x.matmul(mixed, m.get(t::attn_output, il));
}

/// Feed-forward of layer il: gated and dense, or gated experts where the model has a router.
template <class X, class M>
constexpr value feed_forward(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  // Asked first, because firmware knows it at compile time and then carries no code for experts.
  if (const linear router = hp.n_expert != 0 ? m.get(t::ffn_gate_inp, il) : linear{}) {
    value logits = x.matmul(n, router);
    x.name("ffn_moe_logits", il, logits);
    return x.experts(n, logits, m.get(t::ffn_gate_exps, il), m.get(t::ffn_up_exps, il), m.get(t::ffn_down_exps, il),
                     spec.act, {.n_expert = hp.n_expert, .n_used = hp.n_expert_used});
  }
  return x.feed_forward(n, m.get(t::ffn_gate, il), m.get(t::ffn_up, il), m.get(t::ffn_down, il), spec.act);
}

/// A whole pre-norm decoder: token ids -> logits [n_outputs, n_vocab].
template <class X, class M>
constexpr value decoder(X& x, const decoder_spec& spec, const M& m, const batch& b) {
  const hparams& hp = m.hp();
  value h = x.embed(m.get(t::token_embd).w, b);
  x.name("inp_embd", 0, h);
  const value table = x.rope_table(make_rope_args(hp, m.get(t::rope_freqs).w), b);
  for (u32 il = 0; il < hp.n_layer; ++il) {
    {
      const value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
      x.name("attn_norm", il, n);
      const value a = attention(x, spec, m, b, il, n, table);
      x.name("attn_out", il, a);
      x.add(h, a);
    }
    x.name("ffn_inp", il, h);
    const value n = normed(x, spec, hp, h, m.get(t::ffn_norm, il));
    x.name("ffn_norm", il, n);
    const value f = feed_forward(x, spec, m, il, n);
    x.name("ffn_out", il, f);
    x.add(h, f);
    x.name("l_out", il, h);
  }
  h = x.outputs(h, b);
  h = normed(x, spec, hp, h, m.get(t::output_norm));
  x.name("result_norm", 0, h);
  const linear output = m.get(t::output);
  value logits = x.matmul(h, output ? output : m.get(t::token_embd));
  x.name("result_output", 0, logits);
  return logits;
}

}  // namespace jig
