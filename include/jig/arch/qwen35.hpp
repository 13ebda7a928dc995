#pragma once
// qwen35: hybrids of gated delta nets and attention: Qwen3-Next, Qwen 3.5.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/delta_net.hpp"

namespace jig::arch {

/// Qwen 3.5: three layers of gated delta nets, then one of attention whose queries come with gates of their own.
struct qwen35 : decoder_arch {
  static constexpr std::string_view name = "qwen35";
  static constexpr bool gated_queries = true;
  static constexpr u64 q_twice(const hparams& hp, u32 il) { return 2 * d::q(hp, il); }

  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::ssm, keys::ssm_groups,
                                    keys::recurrent_layers, keys::rope_sections);
  static constexpr auto ends_and_norms =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::norm("blk.{}.post_attention_norm"));
  static constexpr auto mixers =
      std::array{matrix("blk.{}.attn_q", {d::embd, q_twice}, is_not_delta),
                 matrix("blk.{}.attn_k", {d::embd, d::k}, is_not_delta),
                 matrix("blk.{}.attn_v", {d::embd, d::v}, is_not_delta),
                 matrix("blk.{}.attn_output", {d::attn_out, d::embd}, is_not_delta),
                 tensor_row{"blk.{}.attn_q_norm", {d::head_k}, bias::none, need::required, is_not_delta},
                 tensor_row{"blk.{}.attn_k_norm", {d::head_k}, bias::none, need::required, is_not_delta},
                 numbers("blk.{}.ssm_conv1d", {d::ssm_taps, d::ssm_conv}, is_delta),
                 numbers("blk.{}.ssm_dt", {d::ssm_rank}, is_delta, ".bias"),
                 numbers("blk.{}.ssm_a", {d::ssm_rank}, is_delta, ""),
                 numbers("blk.{}.ssm_norm", {d::delta_v_head}, is_delta),
                 matrix("blk.{}.ssm_out", {d::ssm_inner, d::embd}, is_delta)};
  static constexpr auto projections = std::array{matrix("blk.{}.attn_qkv", {d::embd, d::ssm_conv}, is_delta),
                                                 matrix("blk.{}.attn_gate", {d::embd, d::ssm_inner}, is_delta),
                                                 matrix("blk.{}.ssm_beta", {d::embd, d::ssm_rank}, is_delta),
                                                 matrix("blk.{}.ssm_alpha", {d::embd, d::ssm_rank}, is_delta)};
  static constexpr auto tensors = join(ends_and_norms, mixers, projections, tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .ffn_norm = ffn_norm_name::post_attention_norm};
  static constexpr void defaults(hparams& hp) noexcept {
    hp.attention_interval = 4;
    hp.rope_interleaved = true;
  }
  static result<void> complete(std::string_view arch, hparams& hp) noexcept {
    if (hp.dim_v != hp.dim_k)  // gates are as wide as queries
      return fail(errc::inconsistent, key_name(arch, "attention.value_length").view()).got(hp.dim_v);
    return complete_mamba2(arch, hp);
  }
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return is_delta(hp, il) ? mamba_state(hp) : recurrent_state{};
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return is_not_delta(hp, il); }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    // The heads of keys serve those of values by turns, in Qwen3-Next in a row.
    if (is_delta(m.hp(), il)) return delta_net(x, m, b, il, n, !requires { M::architecture::heads_in_row; });
    return attention(x, M::architecture::spec, m, b, il, n, tables);
  }
};

/// Qwen 3.5 with experts and a shared one behind a gate.
struct qwen35moe : qwen35 {
  static constexpr std::string_view name = "qwen35moe";
  static constexpr std::string_view fused = t::ffn_gate_up_exps.name;

  static constexpr auto keys = join(qwen35::keys, keys::experts, keys::more_experts);
  static constexpr auto experts =
      join(std::array{tensor_row{fused, {d::embd, d::ff_expert_twice, d::expert}, bias::none, need::optional},
                      tensor_row{"blk.{}.ffn_gate_inp", {d::embd, d::expert}},
                      unless(fused, {"blk.{}.ffn_gate_exps", {d::embd, d::ff_expert, d::expert}}),
                      unless(fused, {"blk.{}.ffn_up_exps", {d::embd, d::ff_expert, d::expert}}),
                      tensor_row{"blk.{}.ffn_down_exps", {d::ff_expert, d::embd, d::expert}},
                      tensor_row{"blk.{}.ffn_gate_inp_shexp", {d::embd, d::one}}},
           tensors::shared_experts());
  static constexpr auto tensors = join(ends_and_norms, mixers, projections, experts);
};

/// Qwen3-Next: as Qwen 3.5 with experts, without M-RoPE; rates and steps of a head stand together, in older files all
/// projections of a head.
struct qwen3next : qwen35moe {
  static constexpr std::string_view name = "qwen3next";
  static constexpr bool heads_in_row = true;
  static constexpr std::string_view all = t::ssm_in.name;
  static constexpr auto tensors =
      join(ends_and_norms, mixers, experts,
           std::array{matrix(all, {d::embd, d::delta_in}, is_delta, need::optional),
                      unless(all, matrix("blk.{}.attn_qkv", {d::embd, d::ssm_conv}, is_delta)),
                      unless(all, matrix("blk.{}.attn_gate", {d::embd, d::ssm_inner}, is_delta)),
                      matrix("blk.{}.ssm_ba", {d::embd, d::delta_ba}, is_delta)});
};

}  // namespace jig::arch
