#pragma once
// Decoders with mixtures of experts in place of the feed-forward; they differ in router, norms and shared experts.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// ERNIE 4.5 with experts: softmax router with selection bias, a shared expert.
struct ernie4_5_moe : decoder_arch {
  static constexpr std::string_view name = "ernie4_5-moe";
  static constexpr auto keys = deepseek::keys;
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::optional, is_dense), tensors::experts,
           tensors::selection_bias(need::optional), tensors::shared_experts(has_shared));
  static constexpr decoder_spec spec{};
};

/// MiniMax M2: norms over all queries and keys of a token, sigmoid router with selection bias.
struct minimax_m2 : decoder_arch {
  static constexpr std::string_view name = "minimax-m2";
  static constexpr auto keys = deepseek::keys;
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::wide_qk_norms,
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense), tensors::experts,
           tensors::selection_bias(need::required));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router = gating::sigmoid};
};

/// DBRX: layer norms without bias, clamped projections, the norm of the feed-forward named attn_output_norm.
struct dbrx : decoder_arch {
  static constexpr std::string_view name = "dbrx";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::rope, keys::attention_extras, keys::experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norm("blk.{}.attn_output_norm"), tensors::experts);
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .rope = rope_kind::neox, .ffn_norm = ffn_norm_name::attn_output_norm};
};

/// SmallThinker (https://arxiv.org/abs/2507.20984): the router reads the layer's input; ReLU experts; files with a
/// window have windows of 4096 tokens and no rope in every fourth layer, starting with the first (but for a model of
/// four layers, as in the field's usual implementation).
struct smallthinker : decoder_arch {
  static constexpr std::string_view name = "smallthinker";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norm("blk.{}.ffn_norm"), tensors::experts);
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox,
      .act = activation::relu,
      .windowed = windowed_by<4, true>,
      .rope_in = [](const hparams& hp, u32 il) { return hp.window == 0 || hp.n_layer == 4 || il % 4 != 0; },
      .route_before_attention = true};
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.window != 0) hp.window = 4096;
    return {};
  }
};

}  // namespace jig::arch
