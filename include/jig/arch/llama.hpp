#pragma once
// llama: Llama 1 to 3 (https://arxiv.org/abs/2302.13971) and everything converted to its layout: Mistral, Mixtral
// (experts in place of the feed-forward), Yi, SmolLM, TinyLlama, our demo model.
//
// Pre-norm decoder: RMS norm, grouped-query attention with rope over neighbouring pairs, SwiGLU.

#include "jig/arch/blocks.hpp"

namespace jig::arch {

struct llama {
  static constexpr std::string_view name = "llama";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors =
      join(tensors::decoder, tensors::rope_factors, tensors::attention(bias::optional, bias::optional),
           tensors::gated_feed_forward(bias::optional, is_dense), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::norm};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};

}  // namespace jig::arch
