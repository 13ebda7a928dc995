#pragma once
// gpt-oss (https://arxiv.org/abs/2508.10925): attention sinks, windows in every other layer, experts with biases and a
// limited SwiGLU, softmax over the chosen experts only.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct gpt_oss : decoder_arch {
  static constexpr std::string_view name = "gpt-oss";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::required, bias::required),
           tensors::sinks(), tensors::norm("blk.{}.post_attention_norm"), tensors::experts_with(bias::required));
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .act = activation::swiglu_oai,
                                     .windowed = windowed_by<2>,
                                     .router = gating::softmax_chosen,
                                     .router_normalize = false,
                                     .ffn_norm = ffn_norm_name::post_attention_norm};
  static result<void> complete(hparams& hp) noexcept {
    hp.clamp_expert = 7.0f;
    hp.attn_scale = inverse_sqrt(hp.n_rot);
    return {};
  }
};

}  // namespace jig::arch
