#pragma once
// command-r: Cohere's decoders: parallel branches behind one layer norm without bias, scaled logits, tied output.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Command R and R+; the latter normalises each head of queries and keys with weights of its own.
struct command_r : decoder_arch {
  static constexpr std::string_view name = "command-r";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::scales);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norms_per_head, tensors::gated());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .parallel = true, .qk_norm = norm_kind::layer};
};

/// Command R7B and A: three windowed layers with rope for each global one without.
struct cohere2 : decoder_arch {
  static constexpr std::string_view name = "cohere2";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::scales, keys::window);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::gated());
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .parallel = true, .windowed = windowed_by<4>, .rope_in = windowed_by<4>};
};

/// Command with experts: a sigmoid router and a shared expert behind the first dense layers.
struct cohere2moe : decoder_arch {
  static constexpr std::string_view name = "cohere2moe";
  static constexpr auto keys =
      join(keys::decoder, keys::layer_norm, keys::rope, keys::scales, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
           tensors::gated(bias::none, is_dense), tensors::experts, tensors::shared_experts());
  static constexpr bool has_rope(const hparams& hp, u32 il) {
    return il < hp.n_dense_first || windowed_by<4, true>(hp, il);
  }
  static constexpr decoder_spec spec{.norm = norm_kind::layer,
                                     .parallel = true,
                                     .windowed = windowed_by<4, true>,
                                     .rope_in = has_rope,
                                     .router = gating::sigmoid,
                                     .router_norm_from_file = true,
                                     .experts_factor = 0.5f};
};

}  // namespace jig::arch
