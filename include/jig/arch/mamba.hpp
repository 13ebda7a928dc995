#pragma once
// mamba: models of state space layers alone, and hybrids with attention: Jamba, Falcon H1, Granite 4, Nemotron H,
// PLaMo 2.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/mamba.hpp"

namespace jig::arch {

/// Base of the models of state space layers alone.
struct mamba_arch : mixer_arch {
  static constexpr decoder_spec spec{.rope = rope_kind::none};
  static constexpr recurrent_state state(const hparams& hp, u32) { return mamba_state(hp); }
  static constexpr bool attends(const hparams&, u32) { return false; }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables&) {
    return selective_layer(x, m, b, il, n);
  }
};

/// Base of the models whose layers are recurrent where they have no heads of keys and values, and attend elsewhere.
struct mamba_hybrid_arch : decoder_arch {
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return without_heads(hp, il) ? mamba_state(hp) : recurrent_state{};
  }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (without_heads(m.hp(), il)) return M::architecture::recurrent(x, m, b, il, n);
    return attention(x, M::architecture::spec, m, b, il, n, tables);
  }

  template <class X, class M>
  static constexpr value recurrent(X& x, const M& m, const batch& b, u32 il, const mat& n) {
    return selective_layer(x, m, b, il, n);
  }
};

/// Mamba (https://arxiv.org/abs/2312.00752) and Falcon Mamba, which normalises step, B and C.
struct mamba : mamba_arch {
  static constexpr std::string_view name = "mamba";
  static constexpr auto keys =
      join(keys::decoder_from(0), keys::rms_norm, keys::ssm,
           std::array{key_row{"ssm.dt_b_c_rms", &hparams::ssm_norm}});
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::mamba());
};

/// Mamba 2 (https://arxiv.org/abs/2405.21060), Codestral Mamba.
struct mamba2 : mamba_arch {
  static constexpr std::string_view name = "mamba2";
  static constexpr auto keys = join(keys::decoder_from(0), keys::rms_norm, keys::ssm, keys::ssm_groups);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::mamba2());
  static constexpr auto complete = complete_mamba2;
};

/// Jamba (https://arxiv.org/abs/2403.19887): Mamba layers, some of attention without rope, experts in some layers.
struct jamba : mamba_hybrid_arch {
  static constexpr std::string_view name = "jamba";
  static constexpr auto keys = join(keys::decoder_from(0), keys::rms_norm, keys::experts, keys::ssm);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::mamba(without_heads, need::required),
           tensors::attention(bias::none, bias::none, with_heads), tensors::norm("blk.{}.ffn_norm"),
           tensors::dense_or_experts);
  static constexpr decoder_spec spec{.rope = rope_kind::none, .router_normalize = false};
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

/// Granite 4: granite with Mamba 2 in most layers, and rope only if the file says so.
struct granitehybrid : mamba_hybrid_arch {
  static constexpr std::string_view name = "granitehybrid";
  static constexpr auto keys =
      join(keys::decoder_from(0), keys::rms_norm, keys::rope, keys::scales, keys::experts, keys::more_experts,
           keys::ssm, keys::ssm_groups, std::array{key_row{"rope.scaling.finetuned", &hparams::rope_finetuned}});
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::mamba2(without_heads), tensors::attention(bias::optional, bias::optional, with_heads),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::optional, is_dense), tensors::experts,
           tensors::shared_experts(has_shared));
  static constexpr decoder_spec spec{.rope_in = [](const hparams& hp, u32) { return hp.rope_finetuned; },
                                     .logit_scale_divides = true};
  static constexpr auto complete = complete_mamba2;
};

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

/// PLaMo 2: Mamba with heads in the layers that do not attend; norms of step, B and C, and behind the branches.
struct plamo2 : mamba_hybrid_arch {
  static constexpr std::string_view name = "plamo2";
  static constexpr u64 step(const hparams& hp, u32) { return hp.n_embd / 16 > 64 ? hp.n_embd / 16 : 64; }
  static constexpr u64 selected(const hparams& hp, u32 il) { return step(hp, il) + 2 * u64{hp.ssm_state}; }

  static constexpr auto keys =
      join(keys::decoder_from(0), keys::rms_norm, keys::rope, keys::ssm, keys::ssm_groups);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"),
      std::array{
          matrix("blk.{}.ssm_in", {d::embd, d::ssm_inner_twice}, without_heads),
          numbers("blk.{}.ssm_conv1d", {d::ssm_taps, d::ssm_inner}, without_heads),
          matrix("blk.{}.ssm_x", {d::ssm_inner, selected}, without_heads),
          tensor_row{"blk.{}.ssm_dt", {step, d::ssm_rank}, bias::required, need::required, without_heads},
          numbers("blk.{}.ssm_dt_norm", {step}, without_heads, ""),
          numbers("blk.{}.ssm_b_norm", {d::ssm_state}, without_heads, ""),
          numbers("blk.{}.ssm_c_norm", {d::ssm_state}, without_heads, ""),
          numbers("blk.{}.ssm_a", {d::ssm_rank}, without_heads, ""),
          numbers("blk.{}.ssm_d", {d::ssm_rank}, without_heads, ""),
          matrix("blk.{}.ssm_out", {d::ssm_inner, d::embd}, without_heads),
          matrix("blk.{}.attn_qkv", {d::embd, d::qkv}, with_heads),
          numbers("blk.{}.attn_q_norm", {d::head_k, d::head}, with_heads),
          numbers("blk.{}.attn_k_norm", {d::head_k, d::head_kv}, with_heads),
          matrix("blk.{}.attn_output", {d::attn_out, d::embd}, with_heads)},
      tensors::norm("blk.{}.post_attention_norm", bias::none, need::required, ""), tensors::norm("blk.{}.ffn_norm"),
      tensors::fused_gated, tensors::norm("blk.{}.post_ffw_norm", bias::none, need::required, ""));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static result<void> complete(hparams& hp) noexcept {
    hp.attn_scale = inverse_sqrt(hp.dim_v);
    if (hp.ssm_groups != 0) return fail(errc::unsupported_feature, "plamo2.ssm.group_count").got(hp.ssm_groups);
    if (hp.ssm_inner % hp.ssm_rank != 0) return fail(errc::inconsistent, "plamo2.ssm.time_step_rank").got(hp.ssm_rank);
    return {};
  }

  /// Heads are projected as [gate | input] in turn; B, C and step follow from the convolved input.
  template <class X, class M>
  static constexpr value recurrent(X& x, const M& m, const batch& b, u32 il, const mat& n) {
    const hparams& hp = m.hp();
    const u32 inner = hp.ssm_inner, heads = hp.ssm_rank, dim = inner / heads, states = hp.ssm_state;
    const value z = x.make(n.rows, inner), in = x.make(n.rows, inner);
    {
      const value zx = x.matmul(n, m.get(t::ssm_in, il));
      x.copy(mat(z).heads(heads, 0, dim), mat(zx).heads(heads, 0, dim));
      x.copy(mat(in).heads(heads, 0, dim), mat(zx).heads(heads, dim, dim));
    }
    const value u = short_conv(x, m, b, il, in);
    const value low = x.matmul(u, m.get(t::ssm_x, il));
    const mat key = low.columns(0, states), query = low.columns(states, states);
    const mat narrow = low.columns(2 * states, static_cast<u32>(step(hp, il)));
    detail::norm_selection(x, m, il, narrow, key, query);
    const value steps = x.matmul(narrow, m.get(t::ssm_dt, il));
    return selective_scan(x, m, b, il, u, {steps, key, query, heads, 1}, z);
  }
};

}  // namespace jig::arch
