#pragma once
// hunyuan: Tencent Hunyuan: dense, with experts, and the text part of its vision models.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// Hunyuan dense models: norms of queries and keys behind the rope; the vision models' text part has a rope base raised
/// by alpha^(d/(d-2)) and M-RoPE.
struct hunyuan_dense : decoder_arch {
  static constexpr std::string_view name = "hunyuan-dense";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::rope_sections, keys::rope_alpha);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::head_norms());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .qk_norm_after_rope = true};
  static result<void> complete(hparams& hp) noexcept {
    const f32 d = static_cast<f32>(hp.dim_k);
    if (hp.rope_alpha > 0.0f && hp.dim_k > 2) hp.rope_base *= std::pow(hp.rope_alpha, d / (d - 2.0f));
    return {};
  }
};

struct hunyuan_vl : hunyuan_dense {
  static constexpr std::string_view name = "hunyuan_vl";
};

/// Hunyuan-A13B: norms of queries and keys behind the rope, a shared expert in every layer.
struct hunyuan_moe : decoder_arch {
  static constexpr std::string_view name = "hunyuan-moe";
  static constexpr auto keys = deepseek::keys;
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::head_norms(),
           tensors::norm("blk.{}.ffn_norm"), tensors::experts, tensors::shared_experts());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .qk_norm_after_rope = true};
};

/// Hunyuan 3: dense first layers, sigmoid router with selection bias; which layers are dense is seen from the tensors.
struct hy_v3 : deepseek {
  static constexpr std::string_view name = "hy_v3";
  static constexpr auto tensors =
      join(deepseek::tensors, tensors::head_norms(), tensors::selection_bias(need::optional, ""));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router = gating::sigmoid, .router_norm_from_file = true};
};

}  // namespace jig::arch
