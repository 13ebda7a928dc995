#pragma once
// phi3: Phi-3, 3.5 and 4 (https://arxiv.org/abs/2404.14219): fused qkv and gate/up matrices, LongRoPE.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct phi3 : decoder_arch {
  static constexpr std::string_view name = "phi3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::decoder(), tensors::longrope_factors, tensors::norm("blk.{}.attn_norm"),
                                       tensors::attention(), tensors::norm("blk.{}.ffn_norm"), tensors::fused_gated);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Phi-3.5-MoE: norms with bias, biases in attention and output, experts.
struct phimoe : decoder_arch {
  static constexpr std::string_view name = "phimoe";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required, bias::required), tensors::longrope_factors,
           tensors::norm("blk.{}.attn_norm", bias::required), tensors::attention(bias::required, bias::required),
           tensors::norm("blk.{}.ffn_norm", bias::required), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

}  // namespace jig::arch
