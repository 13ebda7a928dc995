#pragma once
// llama4: Llama 4 Scout and Maverick, and Mistral 3. Both raise attention's temperature with the position.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Llama 4: three layers with rope over chunks of 8192 tokens, then one without rope over everything; heads normalised
/// without weights behind the rope (not in Maverick, which has 128 experts); one expert per token, whose input is
/// weighed, beside a shared one; experts in every layer or every second.
struct llama4 : decoder_arch {
  static constexpr std::string_view name = "llama4";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"), tensors::attention(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense), tensors::experts,
           tensors::shared_experts());
  static constexpr bool has_rope(const hparams& hp, u32 il) { return hp.chunk == 0 || (il + 1) % 4 != 0; }
  static constexpr decoder_spec spec{
      .windowed = [](const hparams& hp, u32 il) { return hp.chunk != 0 && windowed_by<4>(hp, il); },
      .rope_in = has_rope,
      .router = gating::sigmoid,
      .router_normalize = false,
      .router_weighs_input = true,
      .plain_qk_norm = [](const hparams& hp, u32 il) { return hp.n_expert != 128 && has_rope(hp, il); },
      .temperature_in = [](const hparams& hp, u32 il) { return !has_rope(hp, il); },
      .temperature_offset = 1};
  static constexpr void defaults(hparams& hp) noexcept { hp.window = ~u32{0}; }
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.window == 0) return {};  // a file that says "no window" means rope and full attention everywhere
    hp.window = 1u << 30;
    hp.chunk = hp.temperature_length = 8192;
    hp.temperature_scale = 0.1f;
    return {};
  }
};

/// Mistral 3 (Ministral 3, Mistral Large 3): llama with YaRN, and a temperature that grows with every multiple of the
/// original context.
struct mistral3 : decoder_arch {
  static constexpr std::string_view name = "mistral3";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::temperature, keys::experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::optional, bias::optional), tensors::norm("blk.{}.ffn_norm"),
           tensors::gated(bias::optional, is_dense), tensors::experts);
  static constexpr decoder_spec spec{};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.temperature_length = hp.n_ctx_orig;
    return {};
  }
};

}  // namespace jig::arch
