#pragma once
// grok: Grok 1 and 2 (xAI): GELU experts, capped scores, norms on both sides of the branches; Grok 2 adds a dense
// feed-forward to the experts. Files without scales mean those of Grok 1.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct grok : decoder_arch {
  static constexpr std::string_view name = "grok";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::scales, keys::softcaps,
                                    keys::attention_output_scale, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
      tensors::norm("blk.{}.attn_output_norm"), tensors::norm("blk.{}.ffn_norm"),
      tensors::one({"blk.{}.ffn_gate", {d::embd, d::ff}, bias::none, need::optional}),
      tensors::one(beside(t::ffn_gate.name, {"blk.{}.ffn_up", {d::embd, d::ff}})),
      tensors::one(beside(t::ffn_gate.name, {"blk.{}.ffn_down", {d::ff, d::embd}})),
      tensors::experts, tensors::norm("blk.{}.layer_output_norm", bias::none, need::optional),
      tensors::norm("blk.{}.post_ffw_norm", bias::none, need::optional));
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .act = activation::gelu, .dense_beside_experts = 0.70710678f};
  static constexpr void defaults(hparams& hp) noexcept {
    hp.rope_beta_fast = 8.0f;
    hp.logit_scale = 0.5773502691896257f;
    hp.embedding_scale = 78.38367176906169f;
    hp.attn_scale = 0.08838834764831845f;
    hp.attn_softcap = 30.0f;
  }
};

}  // namespace jig::arch
