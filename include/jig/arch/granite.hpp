#pragma once
// granite: IBM Granite and MiniCPM: llama with scales of the embedding, the branches, the scores and the logits
// (maximal update parametrisation, https://arxiv.org/abs/2203.03466).

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct granite : decoder_arch {
  static constexpr std::string_view name = "granite";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::scales, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::optional, bias::optional), tensors::norm("blk.{}.ffn_norm"),
           tensors::gated(bias::optional, is_dense), tensors::experts, tensors::shared_experts(has_shared));
  static constexpr decoder_spec spec{.logit_scale_divides = true};
};

struct granitemoe : granite {
  static constexpr std::string_view name = "granitemoe";
};

/// MiniCPM (https://arxiv.org/abs/2404.06395): older files have no scales and mean those of MiniCPM 1; LongRoPE.
struct minicpm : decoder_arch {
  static constexpr std::string_view name = "minicpm";
  static constexpr auto keys = granite::keys;
  static constexpr auto tensors = join(granite::tensors, tensors::longrope_factors);
  static constexpr decoder_spec spec = granite::spec;
  static result<void> complete(hparams& hp) noexcept {
    if (hp.embedding_scale == 0.0f) hp.embedding_scale = 12.0f;
    if (hp.residual_scale == 0.0f) hp.residual_scale = 1.4f / std::sqrt(static_cast<f32>(hp.n_layer));
    if (hp.logit_scale == 0.0f) hp.logit_scale = 256.0f / static_cast<f32>(hp.n_embd);
    return {};
  }
};

/// Granite with windowed layers, attention sinks and layers without rope.
struct granite_swa : decoder_arch {
  static constexpr std::string_view name = "granite_swa";
  static constexpr auto keys = join(granite::keys, keys::window);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::optional, bias::optional), tensors::sinks(), tensors::norm("blk.{}.ffn_norm"),
           tensors::gated(bias::optional, is_dense), tensors::experts,
           tensors::one(matrix("blk.{}.ffn_up_shexp", {d::embd, d::ff_shared_twice}, has_shared)),
           tensors::one(matrix("blk.{}.ffn_down_shexp", {d::ff_shared, d::embd}, has_shared)));
  static constexpr decoder_spec spec{.windowed = windowed_by<1>,
                                     .rope_in = [](const hparams& hp, u32 il) { return hp.rope_pattern[il] != 0; },
                                     .logit_scale_divides = true};
};

}  // namespace jig::arch
