#pragma once
// deepseek: DeepSeek MoE and what is built as it is: Ling, dots.llm1. Dense first layers, then experts and shared ones.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// DeepSeek MoE (https://arxiv.org/abs/2401.06066): dense first layers, shared experts, no renormalisation.
struct deepseek : decoder_arch {
  static constexpr std::string_view name = "deepseek";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense),
                                       tensors::experts, tensors::shared_experts());
  static constexpr decoder_spec spec{.router_normalize = false};
};

/// DeepSeek-OCR's language model: deepseek with rope over halves.
struct deepseek2_ocr : deepseek {
  static constexpr std::string_view name = "deepseek2-ocr";
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_norm_from_file = true};
};

/// Ling (https://arxiv.org/abs/2503.05139): experts in every layer, weights as the file says.
struct bailingmoe : deepseek {
  static constexpr std::string_view name = "bailingmoe";
  static constexpr decoder_spec spec{.router_norm_from_file = true};
  static result<void> complete(hparams& hp) noexcept {
    hp.n_dense_first = 0;
    hp.attn_scale = inverse_sqrt(hp.n_rot);
    return {};
  }
};

/// Ling 2: norms of queries and keys, grouped sigmoid router with selection bias.
struct bailingmoe2 : deepseek {
  static constexpr std::string_view name = "bailingmoe2";
  static constexpr auto tensors =
      join(deepseek::tensors, tensors::head_norms(), tensors::selection_bias(need::optional));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_norm_from_file = true};
};

/// dots.llm1 (https://arxiv.org/abs/2506.05767).
struct dots1 : bailingmoe2 {
  static constexpr std::string_view name = "dots1";
};

}  // namespace jig::arch
