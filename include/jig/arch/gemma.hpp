#pragma once
// gemma: Gemma 1 to 3 (https://arxiv.org/abs/2403.08295, 2408.00118, 2503.19786).
//
// Common to all: the embedding is scaled by sqrt(n_embd), GeGLU, tied output. Gemma 2 adds norms behind the branches,
// caps of scores and logits, and a sliding window in every other layer; Gemma 3 drops the caps of scores, normalises
// queries and keys, and has five windowed layers, with a rope base of their own, for each global one.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct gemma : decoder_arch {
  static constexpr std::string_view name = "gemma";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = tensors::gated_decoder;
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .act = activation::gelu};
  static result<void> complete(hparams& hp) noexcept {
    hp.embedding_scale = std::sqrt(static_cast<f32>(hp.n_embd));
    return {};
  }
};

struct gemma2 : decoder_arch {
  static constexpr std::string_view name = "gemma2";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::softcaps);
  static constexpr auto tensors =
      join(gemma::tensors, tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .act = activation::gelu, .windowed = windowed_by<2>};
  static constexpr void defaults(hparams& hp) noexcept {
    hp.window = 4096;
    hp.attn_softcap = 50.0f;
    hp.final_softcap = 30.0f;
  }
  static result<void> complete(hparams& hp) noexcept {
    if (hp.n_layer == 46) hp.attn_scale = inverse_sqrt(hp.n_embd / hp.n_head[0]);  // the 27B model
    return gemma::complete(hp);
  }
};

struct gemma3 : decoder_arch {
  static constexpr std::string_view name = "gemma3";
  static constexpr auto keys = gemma2::keys;
  static constexpr auto tensors = join(gemma2::tensors, tensors::head_norms());
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .act = activation::gelu, .windowed = windowed_by<6>, .window_unscaled = true};
  static constexpr void defaults(hparams& hp) noexcept { hp.rope_base_window = 10000.0f; }
  static result<void> complete(hparams& hp) noexcept {
    if (hp.n_layer == 62) hp.attn_scale = inverse_sqrt(hp.n_embd / hp.n_head[0]);  // the 27B model
    return gemma::complete(hp);
  }
};

}  // namespace jig::arch
