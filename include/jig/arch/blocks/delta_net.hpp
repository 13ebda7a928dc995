#pragma once
// Gated delta rule (https://arxiv.org/abs/2412.06464) and Kimi Delta Attention (https://arxiv.org/abs/2510.26692):
// linear attention whose state forgets what it holds under a key before it is written to. Queries, keys and values pass
// a short convolution; the decay is one per head, or one per head and key column. n: [tokens, n_embd].

#include "jig/arch/blocks/latent_attention.hpp"
#include "jig/arch/blocks/mamba.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.ssm_ba"> ssm_ba{};
inline constexpr tensor_tag<"blk.{}.ssm_alpha"> ssm_alpha{};
inline constexpr tensor_tag<"blk.{}.ssm_beta"> ssm_beta{};
inline constexpr tensor_tag<"blk.{}.ssm_conv1d_q"> ssm_conv1d_q{};
inline constexpr tensor_tag<"blk.{}.ssm_conv1d_k"> ssm_conv1d_k{};
inline constexpr tensor_tag<"blk.{}.ssm_conv1d_v"> ssm_conv1d_v{};
inline constexpr tensor_tag<"blk.{}.ssm_f_a"> ssm_f_a{};
inline constexpr tensor_tag<"blk.{}.ssm_f_b"> ssm_f_b{};
inline constexpr tensor_tag<"blk.{}.ssm_g"> ssm_g{};
inline constexpr tensor_tag<"blk.{}.ssm_g_a"> ssm_g_a{};
inline constexpr tensor_tag<"blk.{}.ssm_g_b"> ssm_g_b{};
}  // namespace t

namespace keys {
/// Which layers are recurrent: flags, or all but every so many-th.
inline constexpr std::array recurrent_layers = {
    key_row{"attention.recurrent_layers", &hparams::recurrent_layers, need::optional, 0, 1},
    key_row{"full_attention_interval", &hparams::attention_interval, need::optional, 1, 2048},
};
inline constexpr std::array kda = {
    key_row{"ssm.conv_kernel", &hparams::ssm_taps, need::required, 2, 64},
    key_row{"kda.head_dim", &hparams::kda_head, need::required, 1, 1 << 14},
};
}  // namespace keys

namespace d {
/// Columns of keys (and of queries), and of all that the convolution reads.
constexpr u64 delta_k(const hparams& hp, u32) { return u64{hp.ssm_groups} * hp.ssm_state; }
constexpr u64 delta_in(const hparams& hp, u32 il) { return ssm_conv(hp, il) + hp.ssm_inner; }
constexpr u64 delta_ba(const hparams& hp, u32) { return u64{2} * hp.ssm_rank; }
constexpr u64 delta_v_head(const hparams& hp, u32) { return hp.ssm_inner / hp.ssm_rank; }
constexpr u64 kda_head(const hparams& hp, u32) { return hp.kda_head; }
constexpr u64 kda_inner(const hparams& hp, u32 il) { return u64{hp.kda_head} * hp.n_head[il]; }
}  // namespace d

/// Layers of delta nets, by keys::recurrent_layers; attention stands in the others.
constexpr bool is_delta(const hparams& hp, u32 il) {
  if (hp.recurrent_layers.varies()) return hp.recurrent_layers[il] != 0;
  return (il + 1) % hp.attention_interval != 0;
}
constexpr bool is_not_delta(const hparams& hp, u32 il) { return !is_delta(hp, il); }

/// Layers of Kimi Delta Attention: those that the file gives no heads of keys and values.
constexpr bool is_kda(const hparams& hp, u32 il) { return hp.attending[il] == 0; }
constexpr bool is_not_kda(const hparams& hp, u32 il) { return hp.attending[il] != 0; }

/// State of a layer of Kimi Delta Attention: three convolutions, and the heads.
constexpr recurrent_state kda_state(const hparams& hp, u32 il) noexcept {
  const u64 inner = d::kda_inner(hp, il);
  return {3 * (u64{hp.ssm_taps} - 1) * inner, inner * hp.kda_head};
}

/// `complete` of the families with Kimi Delta Attention and latent attention.
inline result<void> complete_kda(std::string_view arch, hparams& hp) noexcept {
  hp.attending = hp.n_head_kv;
  return complete_latent(arch, hp);
}

/// What the recurrence of one layer reads: q, k [tokens, n_head_k * dim_k], v [tokens, n_head * dim_v], decay factors,
/// rates [tokens, n_head] in 0..1.
struct delta_inputs {
  mat q, k, v, decay, rate;
  u32 n_head = 0, n_head_k = 0, dim_k = 0;
  bool tiled = false;  ///< see scan_args
};

/// The delta rule over normalised queries and keys (in place), each head's result normed and multiplied by
/// act(gate): [tokens, n_head * dim_v]. gate is overwritten.
template <class X, class M>
constexpr value delta_rule(X& x, const M& m, const batch& b, u32 il, const delta_inputs& in, const mat& gate,
                           activation act) {
  const hparams& hp = m.hp();
  const norm_args unit{.kind = norm_kind::l2, .eps = hp.norm_eps, .group = in.dim_k};
  x.norm_inplace(in.q, unit);
  x.norm_inplace(in.k, unit);
  scan_args a{.n_head = in.n_head, .n_head_k = in.n_head_k, .dim_k = in.dim_k, .dim_v = in.v.cols / in.n_head};
  a.tiled = in.tiled;
  a.state_offset = state_floats_in(m, il) + state_of(m, il).conv;
  a.erase = scan_erase::after_decay;
  a.scale = inverse_sqrt(in.dim_k);
  value y = x.scan(a, {.q = in.q, .k = in.k, .v = in.v, .decay = in.decay, .rate = in.rate}, b);
  x.norm_inplace(y, {.eps = hp.norm_eps, .group = a.dim_v, .w = m.get(t::ssm_norm, il).w});
  x.activate(gate, act);
  x.multiply(y, gate);
  return y;
}

/// Decay factors exp(rates * softplus(steps + offset)), in place; rates has one value per head.
template <class X>
constexpr void make_decay(X& x, const mat& steps, const weight& offset, const weight& rates) {
  x.add(steps, row_of(offset, steps.rows));
  x.activate(steps, activation::softplus);
  x.multiply(steps, row_of(rates, steps.rows));
  x.activate(steps, activation::exp);
}

namespace detail {
/// Columns of `from`, cut into groups of the given widths one after the other: each `to[i]` takes its part of every
/// group in turn.
template <class X, usize N>
constexpr void ungroup(X& x, const mat& from, u32 groups, const std::array<u32, N>& widths,
                       const std::array<mat, N>& to) {
  const u32 all = from.cols / groups;
  for (u32 g = 0; g < groups; ++g) {
    u32 at = g * all;
    for (usize i = 0; i < N; at += widths[i++])
      x.copy(to[i].columns(g * widths[i], widths[i]), from.columns(at, widths[i]));
  }
}
}  // namespace detail

/// A gated delta net: projections, recurrence, output projection: n -> [tokens, n_embd]. gate_by: how the gate is
/// activated. Older files have queries, keys, values and gates of a key's head side by side, in one matrix; likewise
/// rates and steps.
template <class X, class M>
constexpr value delta_net(X& x, const M& m, const batch& b, u32 il, const mat& n, bool tiled,
                          activation gate_by = activation::silu) {
  const hparams& hp = m.hp();
  const u32 dim_k = hp.ssm_state, n_k = hp.ssm_groups, n_v = hp.ssm_rank, inner = hp.ssm_inner, keys = n_k * dim_k;
  value mixed, gate, rate, steps;
  if (const linear all = m.get(t::ssm_in, il)) {
    const value v = x.matmul(n, all);
    mixed = x.make(n.rows, 2 * keys + inner);
    gate = x.make(n.rows, inner);
    detail::ungroup<X, 4>(x, v, n_k, {dim_k, dim_k, inner / n_k, inner / n_k},
                          {mixed.columns(0, keys), mixed.columns(keys, keys), mixed.columns(2 * keys, inner), gate});
  } else {
    mixed = x.matmul(n, m.get(t::attn_qkv, il));
    gate = x.matmul(n, m.get(t::attn_gate, il));
  }
  if (const linear both = m.get(t::ssm_ba, il)) {
    const value v = x.matmul(n, both);
    rate = x.make(n.rows, n_v);
    steps = x.make(n.rows, n_v);
    detail::ungroup<X, 2>(x, v, n_k, {n_v / n_k, n_v / n_k}, {rate, steps});
  } else {
    rate = x.matmul(n, m.get(t::ssm_beta, il));
    steps = x.matmul(n, m.get(t::ssm_alpha, il));
  }
  x.activate(rate, activation::sigmoid);
  make_decay(x, steps, m.get(t::ssm_dt, il).w, m.get(t::ssm_a, il).w);
  mixed = short_conv(x, m, b, il, mixed);
  const delta_inputs in{mixed.columns(0, keys), mixed.columns(keys, keys), mixed.columns(2 * keys, inner), steps, rate,
                        n_v, n_k, dim_k, tiled};
  const value y = delta_rule(x, m, b, il, in, gate, gate_by);
  return x.matmul(y, m.get(t::ssm_out, il));
}

/// Kimi Delta Attention: n -> [tokens, n_embd]. The decay's steps and the gate are projected in one step or in two;
/// with a lower bound the decay is exp(bound * sigmoid(rates * steps)), of rates that some files hold negated.
template <class X, class M>
constexpr value kimi_delta_attention(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  const u32 heads = hp.n_head[il], inner = heads * hp.kda_head;
  const auto convolved = [&](const linear& w, const linear& taps, u32 which) {
    const value in = x.matmul(n, w);
    const u64 offset = state_floats_in(m, il) + u64{which} * (hp.ssm_taps - 1) * inner;
    value out = x.conv(in, {hp.ssm_taps, offset, taps.w}, b);
    x.activate(out, activation::silu);
    return out;
  };
  const auto projected = [&](const linear& first, const linear& second) {
    value v = x.matmul(n, first);
    if (second) v = x.matmul(v, second);
    return v;
  };
  const value q = convolved(m.get(t::attn_q, il), m.get(t::ssm_conv1d_q, il), 0);
  const value k = convolved(m.get(t::attn_k, il), m.get(t::ssm_conv1d_k, il), 1);
  const value v = convolved(m.get(t::attn_v, il), m.get(t::ssm_conv1d_v, il), 2);
  const value steps = projected(m.get(t::ssm_f_a, il), m.get(t::ssm_f_b, il));
  if (hp.kda_lower_bound != 0.0f) {
    x.add(steps, row_of(m.get(t::ssm_dt, il).w, n.rows));
    x.multiply(steps, row_of(m.get(t::ssm_a, il).w, n.rows));
    if constexpr (requires { M::architecture::negated_rates; }) x.scale(steps, -1.0f);
    x.activate(steps, activation::sigmoid);
    x.scale(steps, hp.kda_lower_bound);
    x.activate(steps, activation::exp);
  } else {
    make_decay(x, steps, m.get(t::ssm_dt, il).w, m.get(t::ssm_a, il).w);
  }
  const value rate = x.matmul(n, m.get(t::ssm_beta, il));
  x.activate(rate, activation::sigmoid);
  const linear full = m.get(t::ssm_g, il);
  const value gate = projected(full ? full : m.get(t::ssm_g_a, il), m.get(t::ssm_g_b, il));
  const value y = delta_rule(x, m, b, il, {q, k, v, steps, rate, heads, heads, hp.kda_head}, gate, activation::sigmoid);
  return x.matmul(y, m.get(t::attn_output, il));
}

}  // namespace jig
