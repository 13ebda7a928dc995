#pragma once
// Decoders with mixtures of experts in place of the feed-forward; they differ in router, norms and shared experts.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// DeepSeek MoE (https://arxiv.org/abs/2401.06066): dense first layers, shared experts, no renormalisation.
struct deepseek : decoder_arch {
  static constexpr std::string_view name = "deepseek";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense),
                                       tensors::experts, tensors::shared_experts());
  static constexpr decoder_spec spec{.router_normalize = false};
};

/// DeepSeek-OCR's language model: deepseek with rope over halves.
struct deepseek2_ocr : deepseek {
  static constexpr std::string_view name = "deepseek2-ocr";
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_norm_from_file = true};
};

/// Ling (https://arxiv.org/abs/2503.05139): experts in every layer, weights as the file says.
struct bailingmoe : deepseek {
  static constexpr std::string_view name = "bailingmoe";
  static constexpr decoder_spec spec{.router_norm_from_file = true};
  static result<void> complete(hparams& hp) noexcept {
    hp.n_dense_first = 0;
    hp.attn_scale = inverse_sqrt(hp.n_rot);
    return {};
  }
};

/// Ling 2: norms of queries and keys, grouped sigmoid router with selection bias.
struct bailingmoe2 : deepseek {
  static constexpr std::string_view name = "bailingmoe2";
  static constexpr auto tensors =
      join(deepseek::tensors, tensors::head_norms(), tensors::selection_bias(need::optional));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_norm_from_file = true};
};

/// dots.llm1 (https://arxiv.org/abs/2506.05767).
struct dots1 : bailingmoe2 {
  static constexpr std::string_view name = "dots1";
};

/// Hunyuan 3: dense first layers, sigmoid router with selection bias; which layers are dense is seen from the tensors.
struct hy_v3 : deepseek {
  static constexpr std::string_view name = "hy_v3";
  static constexpr auto tensors =
      join(deepseek::tensors, tensors::head_norms(), tensors::selection_bias(need::optional, ""));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router = gating::sigmoid, .router_norm_from_file = true};
};

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

/// Hunyuan-A13B: norms of queries and keys behind the rope, a shared expert in every layer.
struct hunyuan_moe : decoder_arch {
  static constexpr std::string_view name = "hunyuan-moe";
  static constexpr auto keys = deepseek::keys;
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::head_norms(),
           tensors::norm("blk.{}.ffn_norm"), tensors::experts, tensors::shared_experts());
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .qk_norm_after_rope = true};
};

/// EXAONE MoE: windowed layers with rope, global ones without; sigmoid router with selection bias.
struct exaone_moe : decoder_arch {
  static constexpr std::string_view name = "exaone-moe";
  static constexpr auto keys = join(deepseek::keys, keys::window);
  static constexpr auto tensors = join(bailingmoe2::tensors, tensors::rope_factors);
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .windowed = windowed_by<4>, .rope_in = windowed_by<4>, .router_norm_from_file = true};
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

/// Arctic (Snowflake): a dense layer of width n_embd, and experts that read the layer's input in parallel to it.
struct arctic {
  static constexpr std::string_view name = "arctic";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::norm("blk.{}.ffn_norm"),
      std::array{tensor_row{"blk.{}.ffn_gate", {d::embd, d::embd}}, tensor_row{"blk.{}.ffn_up", {d::embd, d::embd}},
                 tensor_row{"blk.{}.ffn_down", {d::embd, d::embd}}},
      tensors::norm("blk.{}.ffn_norm_exps"), tensors::experts);
  static constexpr decoder_spec spec{};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      for (u32 il = 0; il < hp.n_layer; ++il) {
        value experts = normed(x, spec, hp, h, m.get(t::ffn_norm_exps, il));
        experts = mixture(x, spec, m, il, experts, {});
        value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
        n = attention(x, spec, m, b, il, n, tables);
        x.add(h, n);
        n = normed(x, spec, hp, h, m.get(t::ffn_norm, il));
        n = dense(x, spec, m, il, n);
        x.add(h, n);
        x.add(h, experts);
        x.name("l_out", il, h);
      }
    });
  }
};

/// GroveMoE (https://arxiv.org/abs/2508.07785): beside the experts, smaller ones that groups of experts share; they
/// read the experts' result.
struct grovemoe {
  static constexpr std::string_view name = "grovemoe";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts, keys::grouped_experts);
  static constexpr u64 n_chunk(const hparams& hp, u32) {
    return hp.n_expert / (hp.experts_per_group ? hp.experts_per_group : 1);
  }
  static constexpr u64 ff_chunk(const hparams& hp, u32) { return hp.n_ff_chunk; }
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::experts,
                                       std::array{tensor_row{"blk.{}.ffn_gate_chexps", {d::embd, ff_chunk, n_chunk}},
                                                  tensor_row{"blk.{}.ffn_up_chexps", {d::embd, ff_chunk, n_chunk}},
                                                  tensor_row{"blk.{}.ffn_down_chexps", {ff_chunk, d::embd, n_chunk}}});
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.experts_per_group == 0 || hp.n_expert % hp.experts_per_group != 0)
      return fail(errc::inconsistent, "grovemoe.experts_per_group").got(hp.experts_per_group);
    return {};
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder_with(x, spec, m, b, [&](u32 il, const mat& n, const value&) {
      const hparams& hp = m.hp();
      const value scores = x.matmul(n, m.get(t::ffn_gate_inp, il));
      value y = mixture(x, spec, m, il, n, scores);
      route_args shared = make_route_args(spec, m, il);
      shared.per_group = hp.experts_per_group;
      const u32 chunks = hp.n_expert / hp.experts_per_group;
      if (shared.n_used > chunks) shared.n_used = chunks;
      value g = x.experts(y, scores, m.get(gate_chunk, il), m.get(up_chunk, il), m.get(down_chunk, il),
                          expert_activation(spec, m, il), shared);
      x.add(y, g, hp.expert_group_scale);
      return y;
    });
  }

 private:
  static constexpr tensor_tag<"blk.{}.ffn_gate_chexps"> gate_chunk{};
  static constexpr tensor_tag<"blk.{}.ffn_up_chexps"> up_chunk{};
  static constexpr tensor_tag<"blk.{}.ffn_down_chexps"> down_chunk{};
};

}  // namespace jig::arch
