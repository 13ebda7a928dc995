#pragma once
// mamba: models of state space layers alone, and bases for those and for hybrids with attention; Jamba, Granite 4.

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

}  // namespace jig::arch
