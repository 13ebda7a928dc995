#pragma once
// chameleon: language parts of models that read images: Chameleon, CogVLM, PaddleOCR.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// CogVLM's language part (https://arxiv.org/abs/2311.03079). The matrices for image tokens are in the file and unused.
struct cogvlm : decoder_arch {
  static constexpr std::string_view name = "cogvlm";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::gated_decoder,
           std::array{tensor_row{"blk.{}.vis_attn_qkv", {d::embd, d::qkv}},
                      tensor_row{"blk.{}.vis_attn_output", {d::attn_out, d::embd}},
                      tensor_row{"blk.{}.vis_gate", {d::embd, d::ff}}, tensor_row{"blk.{}.vis_up", {d::embd, d::ff}},
                      tensor_row{"blk.{}.vis_down", {d::ff, d::embd}}});
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.rope_base = 10000.0f;
    return {};
  }
};

/// Chameleon (https://arxiv.org/abs/2405.09818): layer norms of each head of queries and keys; ids of images are never
/// drawn; some files have their norms behind the branches.
struct chameleon {
  static constexpr std::string_view name = "chameleon";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::norm_behind);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::norms_per_head);
  static constexpr decoder_spec spec{.qk_norm = norm_kind::layer};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.qk_norm_eps = 1e-5f;
    return {};
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    value y = decoder(x, spec, m, b);
    x.suppress(y, 4, 8196);
    return y;
  }
};

/// PaddleOCR's language model: llama with M-RoPE.
struct paddleocr : decoder_arch {
  static constexpr std::string_view name = "paddleocr";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::rope_sections);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::optional));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

}  // namespace jig::arch
