#pragma once
// muse_glimmer: windowed layers beside global ones, norms on both sides of the branches: Muse Glimmer, PLaMo 3.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

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

}  // namespace jig::arch
