#pragma once
// glm: ChatGLM 3, GLM-4, GLM-4.5 (https://arxiv.org/abs/2406.12793, 2508.06471): rope over half of a head.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// ChatGLM 3 and GLM-4-9B: fused gate and up.
struct chatglm : decoder_arch {
  static constexpr std::string_view name = "chatglm";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::fused_gated);
  static constexpr decoder_spec spec{};
};

/// GLM-4-0414: chatglm with norms behind the branches.
struct glm4 : decoder_arch {
  static constexpr std::string_view name = "glm4";
  static constexpr auto keys = join(chatglm::keys, keys::rope_sections);
  static constexpr auto tensors =
      join(chatglm::tensors, tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{};
};

/// GLM-4.5: experts behind dense first layers, sigmoid router with selection bias, a shared expert.
struct glm4moe : decoder_arch {
  static constexpr std::string_view name = "glm4moe";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::rope_sections, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::head_norms(need::optional), tensors::norm("blk.{}.post_attention_norm"),
           tensors::gated(bias::none, is_dense), tensors::experts, tensors::selection_bias(need::required),
           tensors::shared_experts());
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .router = gating::sigmoid,
                                     .router_norm_from_file = true,
                                     .ffn_norm = ffn_norm_name::post_attention_norm};
};

}  // namespace jig::arch
