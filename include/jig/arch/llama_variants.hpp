#pragma once
// Decoders that are one step away from llama: another rope pairing, norm or activation, norms of queries and keys,
// layers without rope.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Arcee AFM: a plain feed-forward with squared ReLU.
struct arcee : decoder_arch {
  static constexpr std::string_view name = "arcee";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
                                       tensors::attention(), tensors::norm("blk.{}.ffn_norm"), tensors::plain());
  static constexpr decoder_spec spec{.act = activation::relu_sqr};
};

/// Maincoder: norms of queries and keys, behind the rope.
struct maincoder : decoder_arch {
  static constexpr std::string_view name = "maincoder";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::head_norms());
  static constexpr decoder_spec spec{.qk_norm_after_rope = true};
};

/// SmolLM3: every fourth layer has no rope.
struct smollm3 : decoder_arch {
  static constexpr std::string_view name = "smollm3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::optional));
  static constexpr decoder_spec spec{.rope_in = [](const hparams&, u32 il) { return (il + 1) % 4 != 0; }};
};

/// Orion (https://arxiv.org/abs/2401.12246): layer norms with bias.
struct orion : decoder_arch {
  static constexpr std::string_view name = "orion";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::gated());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox};
};

/// Pangu Embedded (https://arxiv.org/abs/2505.22375): biases in all attention projections.
struct pangu_embedded : decoder_arch {
  static constexpr std::string_view name = "pangu-embedded";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional, bias::required),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Baichuan (https://arxiv.org/abs/2309.10305): 7B (32 layers) has rope, 13B (40 layers) ALiBi; others neither.
struct baichuan : decoder_arch {
  static constexpr std::string_view name = "baichuan";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = tensors::gated_decoder;
  static constexpr decoder_spec spec{.rope_in = [](const hparams& hp, u32) { return hp.n_layer == 32; }};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.alibi_bias = hp.n_layer == 40 ? 8.0f : 0.0f;
    return {};
  }
};

/// Refact: ALiBi and one key/value head.
struct refact : decoder_arch {
  static constexpr std::string_view name = "refact";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::rope_factors);
  static constexpr decoder_spec spec{.rope = rope_kind::none};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.alibi_bias = 8.0f;
    return {};
  }
};

/// Seed-OSS: the feed-forward's norm is named post_attention_norm.
struct seed_oss : decoder_arch {
  static constexpr std::string_view name = "seed_oss";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional),
           tensors::norm("blk.{}.post_attention_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .ffn_norm = ffn_norm_name::post_attention_norm};
};

/// BitNet b1.58 (https://arxiv.org/abs/2402.17764): norms in front of the output matrices of both branches.
struct bitnet : decoder_arch {
  static constexpr std::string_view name = "bitnet";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional, bias::optional),
           tensors::one({"blk.{}.attn_sub_norm", {d::attn_out}}), tensors::norm("blk.{}.ffn_norm"), tensors::gated(),
           tensors::one({"blk.{}.ffn_sub_norm", {d::ff}}));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Apertus (https://arxiv.org/abs/2509.14233): xIELU, whose parameters differ from layer to layer.
struct apertus : decoder_arch {
  static constexpr std::string_view name = "apertus";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::xielu);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::optional, bias::optional), tensors::head_norms(need::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::plain());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .act = activation::xielu};
};

}  // namespace jig::arch
