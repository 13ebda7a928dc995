#pragma once
// Decoders that are one step away from llama: another rope pairing, norm or activation, norms of queries and keys,
// layers without rope.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// EXAONE 3 (https://arxiv.org/abs/2408.03541): llama with rope over halves.
struct exaone : decoder_arch {
  static constexpr std::string_view name = "exaone";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
                                       tensors::attention(), tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

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
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::gated());
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
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope_in = [](const hparams& hp, u32) { return hp.n_layer == 32; }};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.alibi_bias = hp.n_layer == 40 ? 8.0f : 0.0f;
    return {};
  }
};

/// Nemotron 3 and 4 (https://arxiv.org/abs/2402.16819): layer norms with bias, partial rope, squared ReLU.
struct nemotron : decoder_arch {
  static constexpr std::string_view name = "nemotron";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::attention(bias::optional, bias::optional), tensors::norm("blk.{}.ffn_norm", bias::required),
           tensors::plain(bias::optional));
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

/// Refact: ALiBi and one key/value head.
struct refact : decoder_arch {
  static constexpr std::string_view name = "refact";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm);
  static constexpr auto tensors = exaone::tensors;
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

/// EXAONE 4 (https://arxiv.org/abs/2507.11407): norms behind the branches only; the 32B model (64 layers) has three
/// windowed layers for each global one, which has no rope.
struct exaone4 : decoder_arch {
  static constexpr std::string_view name = "exaone4";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::window);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::attention(), tensors::head_norms(),
           tensors::norm("blk.{}.post_attention_norm"), tensors::gated(), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .windowed = windowed_by<4>, .rope_in = [](const hparams& hp, u32 il) {
        return hp.window == 0 || windowed_by<4>(hp, il);
      }};
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.n_layer != 64) hp.window = 0;
    else if (hp.window == 0) hp.window = 4096;
    return {};
  }
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

/// Hunyuan dense models: norms of queries and keys behind the rope; the vision models' text part has a rope base raised
/// by alpha^(d/(d-2)) and M-RoPE.
struct hunyuan_dense : decoder_arch {
  static constexpr std::string_view name = "hunyuan-dense";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::rope_sections, keys::rope_alpha);
  static constexpr auto tensors = maincoder::tensors;
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .qk_norm_after_rope = true};
  static result<void> complete(hparams& hp) noexcept {
    const f32 d = static_cast<f32>(hp.dim_k);
    if (hp.rope_alpha > 0.0f && hp.dim_k > 2) hp.rope_base *= std::pow(hp.rope_alpha, d / (d - 2.0f));
    return {};
  }
};
struct hunyuan_vl : hunyuan_dense {
  static constexpr std::string_view name = "hunyuan_vl";
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

/// Pocket TTS's backbone: layer norms with bias, GELU.
struct pockettts : decoder_arch {
  static constexpr std::string_view name = "pockettts";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::plain());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .act = activation::gelu};
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

/// PLaMo 3: windowed layers with a rope base of their own, norms on both sides of the branches, fused matrices.
struct plamo3 : decoder_arch {
  static constexpr std::string_view name = "plamo3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::window);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::head_norms(),
      tensors::norm("blk.{}.post_attention_norm", bias::none, need::required, ""), tensors::norm("blk.{}.ffn_norm"),
      tensors::fused_gated, tensors::norm("blk.{}.post_ffw_norm", bias::none, need::required, ""));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .windowed = windowed_by<8>};
};

/// Muse Glimmer: gated attention, windowed layers with rope and global ones without, norms on both sides with an
/// epsilon of their own, scaled and capped logits.
struct muse_glimmer : decoder_arch {
  static constexpr std::string_view name = "muse-glimmer";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::scales, keys::softcaps);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::head_norms(),
           tensors::one({"blk.{}.attn_gate", {d::embd, d::attn_out}}), tensors::norm("blk.{}.post_attention_norm"),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{.embedding_norm = true, .windowed = windowed_by<4>, .rope_in = windowed_by<4>};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.post_norm_eps = 1e-8f;
    return {};
  }
};

/// CogVLM's language part (https://arxiv.org/abs/2311.03079). The matrices for image tokens are in the file and unused.
struct cogvlm : decoder_arch {
  static constexpr std::string_view name = "cogvlm";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(),
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
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norms_per_head, tensors::norm("blk.{}.ffn_norm"), tensors::gated());
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

}  // namespace jig::arch
