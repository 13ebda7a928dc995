#pragma once
// Feed-forward networks: gated, plain, fused, and mixtures of experts with shared ones. n: [tokens, n_embd].

#include "jig/arch/blocks/norm.hpp"

namespace jig {

/// A feed-forward network: gated, plain if there is no gate matrix, or with gate and up in one matrix (gate first) if
/// `up` is twice as wide as `down`'s input. `sub` is a norm in front of down, or absent.
template <class X, class Act>
constexpr value mlp(X& x, const decoder_spec& spec, const Act& act, f32 eps, const mat& n, const linear& gate,
                    const linear& up, const linear& down, const linear& sub = {}) {
  if (gate && !sub) return x.feed_forward(n, gate, up, down, act);
  value u = x.matmul(n, up), g;
  mat inner = u;
  if (gate) {
    g = x.matmul(n, gate);
    x.gated(g, u, act);
    inner = g;
  } else if (up.w.rows == 2 * down.w.cols) {
    inner = u.columns(0, down.w.cols);
    x.gated(inner, u.columns(down.w.cols, down.w.cols), act);
  } else {
    x.activate(u, act);
  }
  if (sub) x.norm_inplace(inner, {.kind = spec.norm, .eps = eps, .group = inner.cols, .w = sub.w});
  return x.matmul(inner, down);
}

/// relu(v - mean - scale * deviation) in place, by rows: only the largest values stay (Gaussian top-k of Gemma 3n).
template <class X>
constexpr void keep_largest(X& x, const mat& v, f32 scale) {
  const f32 n = static_cast<f32>(v.cols);
  value z = x.norm(v, {.kind = norm_kind::layer, .eps = 0.0f, .group = v.cols});
  const value deviation = x.dot_groups(v, z, 1);  // n times the deviation with n in its denominator
  x.scale(deviation, 1.0f / n);
  const value cut = x.make(v.rows, v.cols);
  x.fill(cut, scale * (std::is_constant_evaluated() ? 1.0f : std::sqrt(n / (n - 1.0f))));
  x.add(z, cut, -1.0f);
  x.activate(z, activation::relu);
  x.multiply(z, deviation);
  x.copy(v, z);
}

/// Families whose activation is SiTU say so: `static constexpr bool situ = true`.
template <class M>
inline constexpr bool has_situ = requires { M::architecture::situ; };

/// Families whose gates are limited in front of SiLU: `static constexpr bool limits_gate = true`.
template <class M>
inline constexpr bool has_limited_gate = requires { M::architecture::limits_gate; };

/// The activation of dense layers and shared experts, with its parameters.
constexpr activation_args make_activation(const decoder_spec& spec, const hparams& hp, u32 il) {
  activation_args a(hp.act_silu ? activation::silu : spec.act, hp.clamp_shared[il]);
  if (spec.act == activation::xielu)
    a.alpha_n = hp.xielu_alpha_n[il], a.alpha_p = hp.xielu_alpha_p[il], a.beta = hp.xielu_beta[il],
    a.eps = hp.xielu_eps[il];
  return a;
}
template <class M>
constexpr auto make_activation(const decoder_spec& spec, const M& m, u32 il) {
  if constexpr (has_situ<M>) return situ_args{m.hp().situ_beta, m.hp().situ_linear_beta};
  else if constexpr (has_limited_gate<M>) return limited_swiglu{m.hp().clamp_shared[il]};
  else return make_activation(spec, m.hp(), il);
}

/// The activation of experts.
template <class M>
constexpr auto expert_activation(const decoder_spec& spec, const M& m, u32 il) {
  if constexpr (has_situ<M>) return make_activation(spec, m, il);
  else if constexpr (has_limited_gate<M>) return limited_swiglu{m.hp().clamp_expert[il]};
  else return activation_args(spec.act, m.hp().clamp_expert[il]);
}

/// Dense feed-forward of layer il.
template <class X, class M>
constexpr value dense(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n) {
  constexpr const slot_map& slots = slots_of<typename M::architecture>;
  // Known at compile time for most families, which then carry no code for the other kinds.
  if constexpr (slots.always(t::ffn_gate.name) && !slots.find(t::ffn_sub_norm.name).found)
    return x.feed_forward(n, m.get(t::ffn_gate, il), m.get(t::ffn_up, il), m.get(t::ffn_down, il),
                          make_activation(spec, m, il));
  else
    return mlp(x, spec, make_activation(spec, m, il), m.hp().norm_eps, n, m.get(t::ffn_gate, il), m.get(t::ffn_up, il),
               m.get(t::ffn_down, il), m.get(t::ffn_sub_norm, il));
}

/// What the router of layer il does, from the family's spec and the file.
template <class M>
constexpr route_args make_route_args(const decoder_spec& spec, const M& m, u32 il) {
  const hparams& hp = m.hp();
  route_args r{.n_expert = hp.n_expert, .n_used = hp.n_expert_used};
  r.kind = hp.expert_gating ? static_cast<gating>(hp.expert_gating) : spec.router;
  r.normalize = spec.router_norm_from_file ? hp.expert_norm : spec.router_normalize;
  r.scale = hp.expert_scale != 0.0f ? hp.expert_scale : 1.0f;
  r.bias = m.get(t::exp_probs_b, il).w;
  r.weigh_input = spec.router_weighs_input;
  r.n_groups = hp.n_expert_groups;
  r.n_groups_used = hp.n_expert_groups_used;
  return r;
}

/// The shared experts' part: a feed-forward for every token, scaled by a gate of its own if there is one.
template <class X, class M>
constexpr value shared_experts(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n) {
  value y = mlp(x, spec, make_activation(spec, m, il), m.hp().norm_eps, n, m.get(t::ffn_gate_shexp, il),
                m.get(t::ffn_up_shexp, il), m.get(t::ffn_down_shexp, il));
  if (const linear gate = m.get(t::ffn_gate_inp_shexp, il)) {
    value g = x.matmul(n, gate);
    x.activate(g, activation::sigmoid);
    x.multiply(y, g);
  }
  return y;
}

/// The chosen experts' part: logits [tokens, n_expert] choose, n is what the experts read.
template <class X, class M>
constexpr value routed_experts(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n, const mat& logits) {
  const linear fused = m.get(t::ffn_gate_up_exps, il);
  x.name("ffn_moe_logits", il, logits);
  value y = x.experts(n, logits, m.get(t::ffn_gate_exps, il), fused ? fused : m.get(t::ffn_up_exps, il),
                      m.get(t::ffn_down_exps, il), expert_activation(spec, m, il), make_route_args(spec, m, il));
  x.name("ffn_moe_out", il, y);
  return y;
}

/// Mixture of experts of layer il; `scores` are router logits computed before, or empty. The experts may work in a
/// narrower space that all of them share (https://arxiv.org/abs/2601.18089).
template <class X, class M>
constexpr value mixture(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n, const value& scores) {
  const linear latent = m.get(t::ffn_latent_down, il), latent_up = m.get(t::ffn_latent_up, il);
  const linear down = latent ? latent : m.get(t::ffn_routed_down, il);
  const linear up = latent ? latent_up : m.get(t::ffn_routed_up, il);
  value own, low;
  if (scores.cols() == 0) own = x.matmul(n, m.get(t::ffn_gate_inp, il));
  if (down) low = x.matmul(n, down);
  value y = routed_experts(x, spec, m, il, down ? mat(low) : n, scores.cols() ? scores : own);
  low = value();
  if (const weight w = m.get(t::ffn_routed_norm, il).w)
    x.norm_inplace(y, {.kind = spec.norm, .eps = m.hp().norm_eps, .group = y.cols(), .w = w});
  if (up) y = x.matmul(y, up);
  if (m.get(t::ffn_up_shexp, il)) {
    const value s = shared_experts(x, spec, m, il, n);
    x.name("ffn_shexp", il, s);
    x.add(y, s);
    if (spec.experts_factor != 0.0f) x.scale(y, spec.experts_factor);
  }
  return y;
}

/// Feed-forward of layer il: experts where the layer has a router, else dense; both if the family adds them up.
template <class X, class M>
constexpr value feed_forward(X& x, const decoder_spec& spec, const M& m, u32 il, const mat& n, const value& scores) {
  // The number of experts is asked first: firmware knows it at compile time and then carries no code for experts.
  if (m.hp().n_expert == 0 || !m.get(t::ffn_gate_inp, il)) return dense(x, spec, m, il, n);
  value y = mixture(x, spec, m, il, n, scores);
  if (spec.dense_beside_experts != 0.0f && m.get(t::ffn_up, il)) {
    const value d = dense(x, spec, m, il, n);
    x.add(y, d);
    x.scale(y, spec.dense_beside_experts);
  }
  return y;
}

}  // namespace jig
