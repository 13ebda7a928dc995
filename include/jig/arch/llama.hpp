#pragma once
// llama: Llama 1 to 3 (https://arxiv.org/abs/2302.13971) and everything converted to its layout: Mistral, Mixtral
// (experts in place of the feed-forward), Yi, SmolLM, TinyLlama, our demo model.
//
// Pre-norm decoder: RMS norm, grouped-query attention with rope over neighbouring pairs, SwiGLU.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct llama : decoder_arch {
  static constexpr std::string_view name = "llama";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::optional, bias::optional), tensors::norm("blk.{}.ffn_norm"),
           tensors::gated(bias::optional, is_dense), tensors::experts);
  static constexpr decoder_spec spec{};
};

/// InternLM2 (https://arxiv.org/abs/2403.17297): llama's layout under its own name.
struct internlm2 : llama {
  static constexpr std::string_view name = "internlm2";
};

/// XVERSE: llama's layout under its own name.
struct xverse : llama {
  static constexpr std::string_view name = "xverse";
};

/// ERNIE 4.5 without experts: llama's layout under its own name.
struct ernie4_5 : llama {
  static constexpr std::string_view name = "ernie4_5";
};

}  // namespace jig::arch
