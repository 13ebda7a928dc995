#pragma once
// nemotron: decoders with layer norms that have biases: Nemotron, Jais, Pocket TTS.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Nemotron 3 and 4 (https://arxiv.org/abs/2402.16819): layer norms with bias, partial rope, squared ReLU.
struct nemotron : decoder_arch {
  static constexpr std::string_view name = "nemotron";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors = tensors::plain_decoder;
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::relu_sqr};
};

/// Jais 2: nemotron's layout.
struct jais2 : nemotron {
  static constexpr std::string_view name = "jais2";
};

/// Jais (https://arxiv.org/abs/2308.16149): ALiBi, scores scaled by 1/head size, SwiGLU with biases.
struct jais : decoder_arch {
  static constexpr std::string_view name = "jais";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::attention_extras);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::attention(bias::required, bias::required), tensors::norm("blk.{}.ffn_norm", bias::required),
           tensors::gated(bias::required));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.attn_scale = 1.0f / static_cast<f32>(hp.dim_k);
    return {};
  }
};

/// Pocket TTS's backbone: layer norms with bias, GELU.
struct pockettts : decoder_arch {
  static constexpr std::string_view name = "pockettts";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::plain());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .act = activation::gelu};
};

}  // namespace jig::arch
