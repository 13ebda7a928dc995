#pragma once
// exaone: EXAONE 3 and 4 (LG AI), dense and with experts.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// EXAONE 3 (https://arxiv.org/abs/2408.03541): llama with rope over halves.
struct exaone : decoder_arch {
  static constexpr std::string_view name = "exaone";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::rope_factors);
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
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

/// EXAONE MoE: windowed layers with rope, global ones without; sigmoid router with selection bias.
struct exaone_moe : decoder_arch {
  static constexpr std::string_view name = "exaone-moe";
  static constexpr auto keys = join(deepseek::keys, keys::window);
  static constexpr auto tensors = join(bailingmoe2::tensors, tensors::rope_factors);
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .windowed = windowed_by<4>, .rope_in = windowed_by<4>, .router_norm_from_file = true};
};

}  // namespace jig::arch
