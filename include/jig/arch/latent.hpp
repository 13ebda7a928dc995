#pragma once
// latent: decoders with multi-head latent attention: DeepSeek V2, V3 and R1 and relatives, Mistral 4, MiniCPM 3, PLM.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// DeepSeek V2 (https://arxiv.org/abs/2405.04434) and V3 (https://arxiv.org/abs/2412.19437), GLM 4.7 Flash, Kimi K2.
struct deepseek2 : decoder_arch {
  static constexpr std::string_view name = "deepseek2";
  static constexpr auto keys = join(deepseek::keys, keys::latent, keys::temperature);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::latent_attention,
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense), tensors::experts,
           tensors::selection_bias(need::optional), tensors::shared_experts());
  static constexpr decoder_spec spec{.router_norm_from_file = true};
  static result<void> complete(hparams& hp) noexcept {
    // Whoever has so many layers is a lite model, whose queries are not made in two steps.
    if (hp.n_layer == 26 || hp.n_layer == 27 || (hp.n_layer == 48 && hp.n_vocab == 128256)) hp.n_lora_q = 0;
    const bool glm = (hp.n_layer == 47 || hp.n_layer == 48) && hp.n_vocab == 154880;
    if (hp.expert_gating == 0 && glm) hp.expert_gating = static_cast<u32>(gating::sigmoid);
    return complete_latent(name, hp);
  }
};

/// Mistral 4: attention's temperature grows with the position.
struct mistral4 : deepseek2 {
  static constexpr std::string_view name = "mistral4";
};

/// MiniCPM 3: the scales of MiniCPM 1, LongRoPE.
struct minicpm3 : decoder_arch {
  static constexpr std::string_view name = "minicpm3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::latent);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::longrope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::latent_attention, tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static result<void> complete(hparams& hp) noexcept {
    hp.embedding_scale = 12.0f;
    hp.residual_scale = 1.4f / std::sqrt(static_cast<f32>(hp.n_layer));
    hp.logit_scale = 256.0f / static_cast<f32>(hp.n_embd);
    return complete_latent(name, hp);
  }
};

/// PLM (https://arxiv.org/abs/2503.12167): squared ReLU, tied output.
struct plm : decoder_arch {
  static constexpr std::string_view name = "plm";
  static constexpr auto keys = minicpm3::keys;
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::latent_attention,
                                       tensors::norm("blk.{}.ffn_norm"), tensors::plain());
  static constexpr decoder_spec spec{.act = activation::relu_sqr};
  static constexpr auto complete = complete_latent;
};

}  // namespace jig::arch
