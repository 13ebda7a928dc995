#pragma once
// lightning: MiniMax 01, most of whose layers are lightning attention.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/delta_net.hpp"

namespace jig::arch {

/// MiniMax 01 (https://arxiv.org/abs/2501.08313): layers of lightning attention (linear attention with a constant decay
/// per head, https://arxiv.org/abs/2401.04658), every eighth one of softmax attention; experts. A branch is added to
/// its own normed input, scaled.
struct minimax_01 {
  static constexpr std::string_view name = "minimax-01";
  static constexpr u64 q_k_v(const hparams& hp, u32 il) { return 3 * d::q(hp, il); }

  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::recurrent_layers,
           std::array{key_row{"residual_scale", &hparams::residual_scale, need::required, -1e6, 1e6}});
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::none, bias::none, is_not_delta),
      std::array{matrix("blk.{}.attn_qkv", {d::embd, q_k_v}, is_delta),
                 tensor_row{"blk.{}.attn_norm_2", {d::q}, bias::none, need::required, is_delta},
                 matrix("blk.{}.attn_gate", {d::embd, d::q}, is_delta),
                 matrix("blk.{}.attn_output", {d::q, d::embd}, is_delta)},
      tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static constexpr void defaults(hparams& hp) noexcept { hp.attention_interval = 8; }
  static result<void> complete(hparams& hp) noexcept {
    if (hp.dim_v != hp.dim_k) return fail(errc::inconsistent, "minimax-01.attention.value_length").got(hp.dim_v);
    return {};
  }
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return {0, is_delta(hp, il) ? d::q(hp, il) * hp.dim_k : 0};
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return is_not_delta(hp, il); }

  /// The decay of head h in layer il: exp(-slope), by ALiBi's slopes, which shrink with the depth.
  static constexpr f32 decay_of(const hparams& hp, u32 il, u32 h) {
    if (std::is_constant_evaluated()) return 1.0f;  // the planner needs no value
    const f64 depth = hp.n_layer > 1 ? f64(il) / f64(hp.n_layer - 1) : 0.0;
    const f64 slope = std::exp2(-f64(alibi_exponent(8.0f, hp.n_head[il], h)));
    return static_cast<f32>(std::exp(-slope * (1.0 - depth + 1e-5)));
  }

  /// Lightning attention of layer il: n (normed) -> output projection's result [tokens, n_embd].
  template <class X, class M>
  static constexpr value lightning_attention(X& x, const M& m, const batch& b, u32 il, const mat& n) {
    const hparams& hp = m.hp();
    const u32 heads = hp.n_head[il], dim = hp.dim_k;
    const value q = x.make(n.rows, heads * dim), k = x.make(n.rows, heads * dim), v = x.make(n.rows, heads * dim);
    {
      const value all = x.matmul(n, m.get(t::attn_qkv, il));  // [q | k | v] of each head in turn
      x.activate(all, activation::silu);
      x.copy(mat(q).heads(heads, 0, dim), mat(all).heads(heads, 0, dim));
      x.copy(mat(k).heads(heads, 0, dim), mat(all).heads(heads, dim, dim));
      x.copy(mat(v).heads(heads, 0, dim), mat(all).heads(heads, 2 * dim, dim));
    }
    const value decay = x.make(1, heads);
    for (u32 h = 0; h < heads; ++h) x.fill(decay.columns(h, 1), decay_of(hp, il, h));
    scan_args a{.n_head = heads, .n_head_k = heads, .dim_k = dim, .dim_v = dim};
    a.state_offset = state_floats_in(m, il);
    const mat same = {mat(decay).data, n.rows, heads, 0};  // for all tokens
    const value y = x.scan(a, {.q = q, .k = k, .v = v, .decay = same}, b);
    x.norm_inplace(y, {.eps = hp.norm_eps, .group = y.cols(), .w = m.get(t::attn_norm_2, il).w});
    gate_heads(x, spec, m, il, n, y);
    return x.matmul(y, m.get(t::attn_output, il));
  }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (is_delta(m.hp(), il)) return lightning_attention(x, m, b, il, n);
    return attention(x, spec, m, b, il, n, tables);
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const auto branch = [&](const linear& norm, auto&& f) {
        h = normed(x, spec, hp, h, norm);
        const value y = f(h);
        x.scale(h, hp.residual_scale);
        x.add(h, y);
      };
      for (u32 il = 0; il < hp.n_layer; ++il) {
        branch(m.get(t::attn_norm, il), [&](const mat& n) { return mix(x, m, b, il, n, tables); });
        branch(m.get(t::ffn_norm, il), [&](const mat& n) { return feed_forward(x, spec, m, il, n, {}); });
        x.name("l_out", il, h);
      }
    });
  }
};

}  // namespace jig::arch
