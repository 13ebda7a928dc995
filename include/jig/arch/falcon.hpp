#pragma once
// falcon: decoders whose attention and feed-forward run in parallel on the same normed state.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Falcon (https://arxiv.org/abs/2311.16867): layer norms; the 40B model has a second norm for attention.
struct falcon : decoder_arch {
  static constexpr std::string_view name = "falcon";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::norm("blk.{}.attn_norm_2", bias::optional, need::optional), tensors::attention(), tensors::plain());
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::gelu, .parallel = true};
};

/// Phi-1 and 2 (https://arxiv.org/abs/2306.11644): partial rope, biases everywhere, the output's included.
struct phi2 : decoder_arch {
  static constexpr std::string_view name = "phi2";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required, bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::attention(bias::required, bias::required), tensors::plain(bias::required));
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::gelu, .parallel = true};
};

/// StableLM (https://arxiv.org/abs/2402.17834): sequential with a norm for each branch, or parallel with one (12B,
/// which also normalises each head of queries and keys).
struct stablelm : decoder_arch {
  static constexpr std::string_view name = "stablelm";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("blk.{}.attn_norm", bias::required),
           tensors::attention(bias::optional), tensors::norms_per_head, tensors::gated(),
           tensors::norm("blk.{}.ffn_norm", bias::optional, need::optional));
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .rope = rope_kind::neox, .parallel = true, .qk_norm = norm_kind::layer};
};

/// PLaMo: RMS norm, gated feed-forward.
struct plamo : decoder_arch {
  static constexpr std::string_view name = "plamo";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .parallel = true};
};

}  // namespace jig::arch
