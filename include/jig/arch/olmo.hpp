#pragma once
// olmo: the OLMo family and OpenELM.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// OLMo (https://arxiv.org/abs/2402.00838): layer norms without any weights, clamped projections.
struct olmo : decoder_arch {
  static constexpr std::string_view name = "olmo";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::attention_extras);
  static constexpr auto tensors =
      join(tensors::embedding, tensors::one({"output", {d::embd, d::vocab}, bias::none, need::optional}),
           tensors::attention(), tensors::gated());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .norm_without_weight = true};
};

/// OLMo 2 and 3 (https://arxiv.org/abs/2501.00656): norms behind the branches only, and over all queries and keys of a
/// token together; OLMo 3 has three windowed layers, without YaRN, for each global one.
struct olmo2 : decoder_arch {
  static constexpr std::string_view name = "olmo2";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::window);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::attention(), tensors::wide_qk_norms, tensors::gated(),
           tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .windowed = windowed_by<4>, .window_unscaled = true};
};

/// OLMoE (https://arxiv.org/abs/2409.02060): experts without renormalisation.
struct olmoe : decoder_arch {
  static constexpr std::string_view name = "olmoe";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::wide_qk_norms, tensors::norm("blk.{}.ffn_norm"), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_normalize = false};
};

/// OpenELM (https://arxiv.org/abs/2404.14619): heads and widths differ from layer to layer.
struct openelm : decoder_arch {
  static constexpr std::string_view name = "openelm";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::head_norms());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

}  // namespace jig::arch
