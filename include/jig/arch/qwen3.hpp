#pragma once
// qwen3: Qwen 3 (https://arxiv.org/abs/2505.09388). Differs from qwen2 by norms of queries and keys in place of biases.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct qwen3 : decoder_arch {
  static constexpr std::string_view name = "qwen3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::labels);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::one({"cls.output", {d::embd, d::labels}, bias::none, need::optional}),
           tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Qwen3-MoE: experts in every layer, weights renormalised.
struct qwen3moe : decoder_arch {
  static constexpr std::string_view name = "qwen3moe";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Qwen3-VL's language model (and Qwen3-TTS): M-RoPE whose sections alternate. Features of images that some layers add
/// are zero for text.
struct qwen3vl : qwen3 {
  static constexpr std::string_view name = "qwen3vl";
  static constexpr auto keys = join(qwen3::keys, keys::rope_sections);
  static constexpr void defaults(hparams& hp) noexcept { hp.rope_interleaved = true; }
};
struct qwen3vlmoe : qwen3moe {
  static constexpr std::string_view name = "qwen3vlmoe";
  static constexpr auto keys = join(qwen3moe::keys, keys::rope_sections);
  static constexpr void defaults(hparams& hp) noexcept { hp.rope_interleaved = true; }
};

/// Qwen3-TTS: qwen3vl with a codec head of its own size.
struct qwen3tts : qwen3vl {
  static constexpr std::string_view name = "qwen3tts";
  static constexpr u32 codec_ids = 3072;
  static constexpr u64 n_codec(const hparams&, u32) { return codec_ids; }
  static constexpr auto tensors =
      join(tensors::embedding, tensors::norm("output_norm"), tensors::one({"output", {d::embd, n_codec}}),
           tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional), tensors::head_norms(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());

  /// Token ids -> logits [n_outputs, n_vocab]: the codec's ids are the vocabulary's last, the others are never drawn.
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const value head = decoder(x, spec, m, b);
    const u32 n_text = m.hp().n_vocab > codec_ids ? m.hp().n_vocab - codec_ids : 0;
    value y = x.make(head.rows(), n_text + codec_ids);
    x.fill(y, 0.0f);
    x.suppress(y, 0, n_text);
    x.add(y.columns(n_text, codec_ids), head);
    return y;
  }
};

}  // namespace jig::arch
