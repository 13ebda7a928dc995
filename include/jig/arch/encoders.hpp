#pragma once
// Encoders that are built as decoders are: ModernBERT, NeoBERT, EuroBERT, and decoders made into encoders.

#include "jig/arch/gemma.hpp"
#include "jig/arch/llama.hpp"

namespace jig::arch {

/// Base of encoders that are built as decoders are.
struct encoder_arch : decoder_arch {
  static constexpr bool encodes = true;
  static constexpr void defaults(hparams& hp) noexcept { hp.causal = false; }
};

/// ModernBERT (https://arxiv.org/abs/2412.13663): two layers in three see a window around the token, with a rope base
/// of their own; no norm in front of the first; scores are made of the average.
struct modern_bert : encoder_arch {
  static constexpr std::string_view name = "modern-bert";
  static constexpr bool not_first(const hparams&, u32 il) { return il != 0; }
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::window, keys::labels,
                                    std::array{key_row{"hidden_activation", &hparams::activation_name}});
  static constexpr auto tensors =
      join(tensors::embedding, tensors::classifier, tensors::norm("cls.norm", bias::none, need::optional),
           tensors::norm("token_embd_norm"), tensors::norm("output_norm"),
           std::array{numbers("blk.{}.attn_norm", {d::embd}, not_first)},
           tensors::attention(), tensors::norm("blk.{}.ffn_norm"), tensors::fused_gated);
  static constexpr decoder_spec spec{.norm = norm_kind::layer,
                                     .rope = rope_kind::neox,
                                     .act = activation::gelu,
                                     .windowed = windowed_by<3, true>,
                                     .scores_average = true,
                                     .score_activation = activation::gelu};
  static result<void> complete(hparams& hp) noexcept {
    if (hp.activation_name == "silu") hp.act_silu = true;
    else if (!hp.activation_name.empty() && hp.activation_name != "gelu")
      return fail(errc::unsupported_feature, "modern-bert.hidden_activation");
    return {};
  }
};

/// NeoBERT (https://arxiv.org/abs/2502.19587).
struct neo_bert : encoder_arch {
  static constexpr std::string_view name = "neo-bert";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::labels);
  static constexpr auto tensors =
      join(tensors::embedding, tensors::classifier, tensors::norm("enc.output_norm"),
           tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::norm("blk.{}.ffn_norm"),
           tensors::fused_gated);
  static constexpr decoder_spec spec{};
};

/// EuroBERT (https://arxiv.org/abs/2503.05500).
struct eurobert : encoder_arch {
  static constexpr std::string_view name = "eurobert";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::embedding, tensors::norm("output_norm"), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Llama as an encoder (LLM2Vec, https://arxiv.org/abs/2404.05961).
struct llama_embed : encoder_arch {
  static constexpr std::string_view name = "llama-embed";
  static constexpr auto keys = llama::keys;
  static constexpr auto tensors = llama::tensors;
  static constexpr decoder_spec spec = llama::spec;
};

/// EmbeddingGemma (https://arxiv.org/abs/2509.20354): Gemma 3 as an encoder, with two matrices behind the average.
struct gemma_embedding : encoder_arch {
  static constexpr std::string_view name = "gemma-embedding";
  static constexpr auto keys =
      join(gemma3::keys, std::array{key_row{"dense_2_feat_out", &hparams::dense_2_out, need::optional, 0, 1 << 18},
                                    key_row{"dense_3_feat_in", &hparams::dense_3_in, need::optional, 0, 1 << 18}});
  static constexpr auto tensors = join(
      gemma3::tensors,
      std::array{tensor_row{"dense_2", {d::embd, d::dense_2}, bias::none, need::optional, d::has_dense_2},
                 tensor_row{"dense_3", {d::dense_3, d::embd}, bias::none, need::optional, d::has_dense_3}});
  static constexpr decoder_spec spec = gemma3::spec;
  static constexpr void defaults(hparams& hp) noexcept {
    hp.causal = false;
    gemma3::defaults(hp);
  }
  static result<void> complete(hparams& hp) noexcept { return gemma3::complete(hp); }
};

}  // namespace jig::arch
