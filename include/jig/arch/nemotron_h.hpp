#pragma once
// nemotron_h: hybrids of Mamba 2 and attention in other arrangements: Nemotron H, Falcon H1.

#include "jig/arch/mamba.hpp"

namespace jig::arch {

/// Nemotron H (https://arxiv.org/abs/2504.03624): a layer is Mamba 2, or attention without rope, or feed-forward.
struct nemotron_h : mixer_arch {
  static constexpr std::string_view name = "nemotron_h";
  static constexpr bool is_ffn(const hparams& hp, u32 il) { return hp.n_ff[il] != 0; }
  static constexpr bool is_attention(const hparams& hp, u32 il) { return with_heads(hp, il) && !is_ffn(hp, il); }
  static constexpr bool is_recurrent(const hparams& hp, u32 il) { return without_heads(hp, il) && !is_ffn(hp, il); }

  static constexpr auto keys = join(keys::decoder_from(0), keys::rms_norm, keys::scales, keys::ssm, keys::ssm_groups);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::mamba2(is_recurrent),
           tensors::attention(bias::optional, bias::optional, is_attention), tensors::plain(bias::optional, is_ffn));
  static constexpr decoder_spec spec{
      .rope = rope_kind::none, .act = activation::relu_sqr, .router = gating::sigmoid, .router_norm_from_file = true};
  static constexpr auto complete = complete_mamba2;
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return is_recurrent(hp, il) ? mamba_state(hp) : recurrent_state{};
  }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (is_recurrent(m.hp(), il)) return jig::mamba2(x, m, b, il, n);
    if (is_attention(m.hp(), il)) return attention(x, M::architecture::spec, m, b, il, n, tables);
    return feed_forward(x, M::architecture::spec, m, il, n, {});
  }
};

/// Nemotron H with experts, which may work in a narrower space that all of them share.
struct nemotron_h_moe : nemotron_h {
  static constexpr std::string_view name = "nemotron_h_moe";
  static constexpr bool has_latent(const hparams& hp, u32 il) { return is_ffn(hp, il) && hp.n_latent_expert != 0; }

  static constexpr auto keys =
      join(nemotron_h::keys, keys::experts, keys::more_experts,
           std::array{key_row{"moe_latent_size", &hparams::n_latent_expert, need::optional, 0, 1 << 18}});
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::mamba2(is_recurrent),
      tensors::attention(bias::optional, bias::optional, is_attention),
      std::array{matrix("blk.{}.ffn_gate_inp", {d::embd, d::expert}, is_ffn),
                 numbers("blk.{}.exp_probs_b", {d::expert}, is_ffn, ".bias"),
                 matrix(t::ffn_latent_down.name, {d::embd, d::latent_expert}, has_latent),
                 matrix(t::ffn_latent_up.name, {d::latent_expert, d::embd}, has_latent),
                 matrix("blk.{}.ffn_up_exps", {d::expert_in, d::ff_expert, d::expert}, is_ffn),
                 matrix("blk.{}.ffn_down_exps", {d::ff_expert, d::expert_in, d::expert}, is_ffn),
                 matrix("blk.{}.ffn_up_shexp", {d::embd, d::ff_shared}, is_ffn),
                 matrix("blk.{}.ffn_down_shexp", {d::ff_shared, d::embd}, is_ffn)});
};

/// Falcon H1 (https://arxiv.org/abs/2507.22448): attention and Mamba 2 side by side in every layer.
struct falcon_h1 : decoder_arch {
  static constexpr std::string_view name = "falcon-h1";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::scales, keys::ssm, keys::ssm_groups);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::mamba2(nullptr, need::optional), tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm", bias::none, need::required, ""), tensors::gated(bias::optional));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static constexpr auto complete = complete_mamba2;
  static constexpr recurrent_state state(const hparams& hp, u32) { return mamba_state(hp); }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    value a = attention(x, M::architecture::spec, m, b, il, n, tables);
    const value s = jig::mamba2(x, m, b, il, n);
    x.add(a, s);
    return a;
  }
};

}  // namespace jig::arch
