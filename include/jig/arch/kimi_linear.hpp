#pragma once
// kimi_linear: hybrids of Kimi Delta Attention and latent attention: Kimi Linear, Bailing 3.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/delta_net.hpp"

namespace jig::arch {

/// Kimi Linear (https://arxiv.org/abs/2510.26692): three layers of Kimi Delta Attention, then one of latent attention
/// without rope; experts chosen by sigmoids.
struct kimi_linear : decoder_arch {
  static constexpr std::string_view name = "kimi-linear";
  static constexpr auto keys = join(keys::decoder_from(0), keys::rms_norm, keys::rope, keys::experts,
                                    keys::more_experts, keys::latent, keys::kda);
  /// What all families with such layers share, decays and gates aside.
  static constexpr auto shared =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::norm("blk.{}.ffn_norm"),
           std::array{matrix("blk.{}.attn_q", {d::embd, d::kda_inner}, is_kda),
                      matrix("blk.{}.attn_k", {d::embd, d::kda_inner}, is_kda),
                      matrix("blk.{}.attn_v", {d::embd, d::kda_inner}, is_kda),
                      matrix("blk.{}.attn_output", {d::kda_inner, d::embd}, is_kda),
                      numbers("blk.{}.ssm_conv1d_q", {d::ssm_taps, d::one, d::kda_inner}, is_kda),
                      numbers("blk.{}.ssm_conv1d_k", {d::ssm_taps, d::one, d::kda_inner}, is_kda),
                      numbers("blk.{}.ssm_conv1d_v", {d::ssm_taps, d::one, d::kda_inner}, is_kda),
                      matrix("blk.{}.ssm_beta", {d::embd, d::head}, is_kda),
                      numbers("blk.{}.ssm_dt", {d::kda_inner}, is_kda, ".bias"),
                      numbers("blk.{}.ssm_norm", {d::kda_head}, is_kda)},
           tensors::latent_attention_in<is_not_kda>, tensors::gated(bias::none, is_dense), tensors::experts,
           tensors::selection_bias(need::required), tensors::shared_experts());
  static constexpr auto tensors =
      join(shared, std::array{numbers("blk.{}.ssm_a", {d::one, d::head}, is_kda, ""),
                              matrix("blk.{}.ssm_f_a", {d::embd, d::kda_head}, is_kda),
                              matrix("blk.{}.ssm_f_b", {d::kda_head, d::kda_inner}, is_kda),
                              matrix("blk.{}.ssm_g_a", {d::embd, d::kda_head}, is_kda),
                              matrix("blk.{}.ssm_g_b", {d::kda_head, d::kda_inner}, is_kda)});
  static constexpr decoder_spec spec{.rope = rope_kind::none};
  static constexpr auto complete = complete_kda;
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return is_kda(hp, il) ? kda_state(hp, il) : recurrent_state{};
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return is_not_kda(hp, il); }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (is_kda(m.hp(), il)) return kimi_delta_attention(x, m, b, il, n);
    return latent_attention(x, M::architecture::spec, m, b, il, n, tables);
  }
};

/// Bailing 3 (Ling 3): Kimi Delta Attention with a bounded decay; latent attention with rope and a gate per head;
/// clamped activations.
struct bailingmoe3 : kimi_linear {
  static constexpr std::string_view name = "bailingmoe3";
  static constexpr auto keys =
      join(kimi_linear::keys, keys::clamps,
           std::array{key_row{"kda.gate_lower_bound", &hparams::kda_lower_bound, need::required, -1e6, -1e-6}});
  static constexpr auto tensors = join(shared, std::array{numbers("blk.{}.ssm_a", {d::one, d::head}, is_kda, ""),
                                                          matrix("blk.{}.ssm_f_a", {d::embd, d::kda_inner}, is_kda),
                                                          matrix("blk.{}.ssm_g_a", {d::embd, d::kda_inner}, is_kda),
                                                          matrix("blk.{}.attn_gate", {d::embd, d::head}, is_not_kda)});
  static constexpr decoder_spec spec{.router_norm_from_file = true};
  static constexpr auto complete = complete_kda;
};

}  // namespace jig::arch
