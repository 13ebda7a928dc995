#pragma once
// qwen2: Qwen 1.5 to 2.5 (https://arxiv.org/abs/2407.10671). Differs from llama by the biases of q, k and v and by
// rope over halves of a head.

#include "jig/arch/blocks.hpp"

namespace jig::arch {

struct qwen2 {
  static constexpr std::string_view name = "qwen2";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::decoder, tensors::attention(bias::required, bias::none),
                                       tensors::gated_feed_forward(bias::none));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, spec, m, b);
  }
};

}  // namespace jig::arch
