#pragma once
// qwen3: Qwen 3 (https://arxiv.org/abs/2505.09388). Differs from qwen2 by norms of queries and keys in place of biases.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct qwen3 {
  static constexpr std::string_view name = "qwen3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};

/// Qwen3-MoE: experts in every layer, weights renormalised.
struct qwen3moe {
  static constexpr std::string_view name = "qwen3moe";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};

/// Qwen3-VL's language model (and Qwen3-TTS): M-RoPE whose sections alternate. Features of images that some layers add
/// are zero for text.
struct qwen3vl {
  static constexpr std::string_view name = "qwen3vl";
  static constexpr auto keys = join(qwen3::keys, keys::rope_sections);
  static constexpr auto tensors = qwen3::tensors;
  static constexpr decoder_spec spec = qwen3::spec;
  static constexpr void defaults(hparams& hp) { hp.rope_interleaved = true; }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};
struct qwen3vlmoe {
  static constexpr std::string_view name = "qwen3vlmoe";
  static constexpr auto keys = join(qwen3moe::keys, keys::rope_sections);
  static constexpr auto tensors = qwen3moe::tensors;
  static constexpr decoder_spec spec = qwen3moe::spec;
  static constexpr void defaults(hparams& hp) { hp.rope_interleaved = true; }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};

/// Qwen3-TTS: qwen3vl with a codec head of its own size.
struct qwen3tts {
  static constexpr std::string_view name = "qwen3tts";
  static constexpr auto keys = qwen3vl::keys;
  static constexpr u64 n_codec(const hparams&, u32) { return 3072; }
  static constexpr auto tensors =
      join(tensors::embedding, tensors::norm("output_norm"), tensors::one({"output", {d::embd, n_codec}}),
           tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional), tensors::head_norms(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec = qwen3::spec;
  static constexpr void defaults(hparams& hp) { hp.rope_interleaved = true; }

  /// Token ids -> logits [n_outputs, n_vocab]: the codec's ids are the vocabulary's last, the others are never drawn.
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const value head = decoder(x, spec, m, b);
    const u32 n_text = m.hp().n_vocab > 3072 ? m.hp().n_vocab - 3072 : 0;
    value y = x.make(head.rows(), n_text + 3072);
    x.fill(y, 0.0f);
    x.suppress(y, 0, n_text);
    x.add(y.columns(n_text, 3072), head);
    return y;
  }
};

}  // namespace jig::arch
