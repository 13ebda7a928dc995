#pragma once
// gpt2: GPT-2 and the decoders with layer norms and a plain GELU feed-forward that followed it.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// GPT-2 (Radford et al. 2019): learned positions, biases everywhere.
struct gpt2 : decoder_arch {
  static constexpr std::string_view name = "gpt2";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::one({"position_embd", {d::embd, d::context}}),
           tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(bias::required, bias::required),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::plain(bias::required));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none, .act = activation::gelu};
};

/// StarCoder (https://arxiv.org/abs/2305.06161): GPT-2 with one key/value head.
struct starcoder : gpt2 {
  static constexpr std::string_view name = "starcoder";
};

/// StarCoder 2 (https://arxiv.org/abs/2402.19173): rope in place of learned positions.
struct starcoder2 : decoder_arch {
  static constexpr std::string_view name = "starcoder2";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors = tensors::plain_decoder;
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::gelu};
};

/// CodeShell: StarCoder 2's layout with a fused qkv.
struct codeshell : starcoder2 {
  static constexpr std::string_view name = "codeshell";
};

/// BLOOM (https://arxiv.org/abs/2211.05100): ALiBi, a norm behind the embedding.
struct bloom : decoder_arch {
  static constexpr std::string_view name = "bloom";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("token_embd_norm", bias::required),
           tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(bias::required, bias::required),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::plain(bias::required));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none, .act = activation::gelu};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.alibi_bias = 8.0f;
    return {};
  }
};

/// MPT: ALiBi and clamped projections as the file says, optional biases and learned positions.
struct mpt : decoder_arch {
  static constexpr std::string_view name = "mpt";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::attention_extras);
  static constexpr auto tensors =
      join(tensors::decoder(bias::optional),
           tensors::one({"position_embd", {d::embd, d::context}, bias::none, need::optional}),
           tensors::norm("blk.{}.attn_norm", bias::optional), tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm", bias::optional), tensors::plain(bias::optional));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none, .act = activation::gelu};
};

/// GPT-NeoX (https://arxiv.org/abs/2204.06745): rope over part of a head; branches in parallel if the file says so.
struct gptneox : decoder_arch {
  static constexpr std::string_view name = "gptneox";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::parallel);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::attention(bias::required, bias::required), tensors::norm("blk.{}.ffn_norm", bias::required),
           tensors::plain(bias::required));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::gelu};
};

}  // namespace jig::arch
