#pragma once
// Decoders with mixtures of experts, and windowed layers beside global ones: Trinity, Mellum 2, MiMo 2, Step 3.5,
// Laguna.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// AFMoE (Arcee Trinity): gated attention, norms on both sides, windowed layers with rope and global ones without.
struct afmoe : decoder_arch {
  static constexpr std::string_view name = "afmoe";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(bailingmoe2::tensors, tensors::one({"blk.{}.attn_gate", {d::embd, d::attn_out}}),
           tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.post_ffw_norm"));
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .windowed = windowed_by<4>,
                                     .rope_in = [](const hparams&, u32 il) { return (il + 1) % 4 != 0; },
                                     .router = gating::sigmoid,
                                     .router_norm_from_file = true};
  static result<void> complete(hparams& hp) noexcept {
    hp.embedding_scale = std::sqrt(static_cast<f32>(hp.n_embd));
    return {};
  }
};

/// Mellum 2: three windowed layers without YaRN for each global one.
struct mellum : decoder_arch {
  static constexpr std::string_view name = "mellum";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .windowed = windowed_by<4>, .window_unscaled = true};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.rope_base_window = 0.0f;  // in files, but the models do not use it
    return {};
  }
};

/// MiMo 2 (Xiaomi): key and value heads of different size, key/value heads that differ from layer to layer, sinks in
/// the windowed layers, attention's result scaled.
struct mimo2 : decoder_arch {
  static constexpr std::string_view name = "mimo2";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::value_scale,
                                    keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::sinks(need::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::dense_or_experts);
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .windowed = windowed_by<0>, .router = gating::sigmoid};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.expert_gating = 0;  // always sigmoid, whatever the file says
    return {};
  }
};

/// Step 3.5: heads that differ from layer to layer, an output gate per head, half of the rope in global layers, limited
/// SwiGLU.
struct step35 : decoder_arch {
  static constexpr std::string_view name = "step35";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts, keys::clamps);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors, tensors::norm("blk.{}.attn_norm"), tensors::attention(),
           tensors::head_norms(need::optional),
           tensors::one({"blk.{}.attn_gate", {d::embd, d::head}, bias::none, need::optional}),
           tensors::norm("blk.{}.ffn_norm"), tensors::dense_or_experts,
           tensors::shared_experts(nullptr, "blk.{}.ffn_gate_inp"));
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .windowed = windowed_by<0>, .router = gating::sigmoid, .router_norm_from_file = true};
  static constexpr result<void> complete(hparams& hp) noexcept {
    hp.n_rot_window = hp.n_rot;
    hp.n_rot /= 2;
    return {};
  }
};

/// Laguna (Poolside): heads that differ from layer to layer, a softplus output gate per head or value; windowed layers
/// with plain rope of another width, a global one first in every four.
struct laguna : decoder_arch {
  static constexpr std::string_view name = "laguna";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr u64 gate_width(const hparams& hp, u32 il) {
    return hp.window != 0 ? d::head(hp, il) : d::attn_out(hp, il);
  }
  static constexpr auto tensors = join(bailingmoe2::tensors, tensors::one({"blk.{}.attn_gate", {d::embd, gate_width}}));
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .windowed = windowed_by<4, true>,
                                     .window_unscaled = true,
                                     .router = gating::sigmoid,
                                     .router_norm_from_file = true,
                                     .attn_gate = activation::softplus};
};

}  // namespace jig::arch
