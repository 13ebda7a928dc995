#pragma once
// Key tables: which metadata keys an architecture has, where their values go and what values make sense.
//
// A row names a key without its "<architecture>." prefix. Tables are constexpr arrays, put together from the groups
// below with `join`; from them follow reading, validation and the writer of synthetic test models.

#include <array>

#include "jig/arch/hparams.hpp"
#include "jig/ops/sinkhorn.hpp"

namespace jig {

/// A member that takes the number of elements of an array.
struct counted {
  u32 hparams::* number;
};

/// A member of hparams with its type.
class key_field {
 public:
  enum class kind : u8 { number, real, text, flag, numbers, wide, reals, four, count };
  constexpr key_field(u32 hparams::* p) noexcept : kind_(kind::number), number_(p) {}
  constexpr key_field(counted c) noexcept : kind_(kind::count), number_(c.number) {}
  constexpr key_field(f32 hparams::* p) noexcept : kind_(kind::real), real_(p) {}
  constexpr key_field(std::string_view hparams::* p) noexcept : kind_(kind::text), text_(p) {}
  constexpr key_field(bool hparams::* p) noexcept : kind_(kind::flag), flag_(p) {}
  /// `length`: the array has as many numbers as this member says, else at least one for each layer.
  constexpr key_field(per_layer<u32> hparams::* p, u32 hparams::* length = nullptr) noexcept
      : kind_(kind::numbers), numbers_(p), length_(length) {}
  constexpr key_field(per_layer<u64> hparams::* p, u32 hparams::* length) noexcept
      : kind_(kind::wide), wide_(p), length_(length) {}
  constexpr key_field(per_layer<f32> hparams::* p) noexcept : kind_(kind::reals), reals_(p) {}

  constexpr key_field(std::array<u32, 4> hparams::* p) noexcept : kind_(kind::four), four_(p) {}

  constexpr kind type() const noexcept { return kind_; }
  constexpr bool is_list() const noexcept { return length_ != nullptr; }
  constexpr u32 length(const hparams& hp) const noexcept { return hp.*(is_list() ? length_ : &hparams::n_layer); }
  constexpr u32& number(hparams& hp) const noexcept { return hp.*number_; }
  constexpr f32& real(hparams& hp) const noexcept { return hp.*real_; }
  constexpr std::string_view& text(hparams& hp) const noexcept { return hp.*text_; }
  constexpr bool& flag(hparams& hp) const noexcept { return hp.*flag_; }
  constexpr per_layer<u32>& numbers(hparams& hp) const noexcept { return hp.*numbers_; }
  constexpr per_layer<u64>& wide(hparams& hp) const noexcept { return hp.*wide_; }
  constexpr std::array<u32, 4>& four(hparams& hp) const noexcept { return hp.*four_; }
  constexpr per_layer<f32>& reals(hparams& hp) const noexcept { return hp.*reals_; }

 private:
  kind kind_;
  union {
    u32 hparams::* number_;
    f32 hparams::* real_;
    std::string_view hparams::* text_;
    bool hparams::* flag_;
    per_layer<u32> hparams::* numbers_;
    per_layer<u64> hparams::* wide_;
    per_layer<f32> hparams::* reals_;
    std::array<u32, 4> hparams::* four_;
  };
  u32 hparams::* length_ = nullptr;
};

enum class need : u8 { optional, required };

/// One key: name without the architecture, destination, presence, and the inclusive range of sensible values.
struct key_row {
  std::string_view name;
  key_field field;
  need presence = need::optional;
  f64 min = 0.0;
  f64 max = 0.0;           ///< 0 with min 0: any value that the type holds (reals: any finite value)
  bool no_prefix = false;  ///< the file's key is the name alone
};

/// Concatenates constexpr arrays: tables are built from groups.
template <class T, usize... Ns>
constexpr auto join(const std::array<T, Ns>&... groups) noexcept {
  return [&]<usize... I>(std::index_sequence<I...>) {
    auto pick = [&](usize i) {
      const T* found = nullptr;
      usize seen = 0;
      ((i >= seen && i < seen + Ns ? (found = groups.data() + (i - seen)) : nullptr, seen += Ns), ...);
      return *found;
    };
    return std::array<T, (Ns + ...)>{pick(I)...};
  }(std::make_index_sequence<(Ns + ...)>{});
}

namespace keys {

/// What every model has. least 0: layers may lack a feed-forward.
constexpr std::array<key_row, 8> body(f64 least) noexcept {
  return {key_row{"vocab_size", &hparams::n_vocab, need::optional, 1, 1 << 24},
          key_row{"context_length", &hparams::n_ctx_train, need::required, 1, 1 << 30},
          key_row{"embedding_length", &hparams::n_embd, need::required, 1, 1 << 18},
          key_row{"block_count", &hparams::n_layer, need::required, 1, 2048},
          key_row{"nextn_predict_layers", &hparams::n_layer_next, need::optional, 0, 2047},
          key_row{"feed_forward_length", &hparams::n_ff, need::required, least, 1 << 22},
          key_row{"attention.causal", &hparams::causal},
          key_row{"pooling_type", &hparams::pooling_type, need::optional, 0, 4}};
}

/// Sizes of attention. least 0: layers may lack it.
constexpr std::array<key_row, 4> heads(f64 least) noexcept {
  return {key_row{"attention.head_count", &hparams::n_head, need::required, least, 4096},
          key_row{"attention.head_count_kv", &hparams::n_head_kv, need::optional, least, 4096},
          key_row{"attention.key_length", &hparams::dim_k, need::optional, 1, 1 << 14},
          key_row{"attention.value_length", &hparams::dim_v, need::optional, 1, 1 << 14}};
}

/// What every decoder-only transformer has.
constexpr auto decoder_from(f64 least) noexcept { return join(body(least), heads(least)); }
inline constexpr std::array decoder = decoder_from(1);

inline constexpr std::array rms_norm = {
    key_row{"attention.layer_norm_rms_epsilon", &hparams::norm_eps, need::required, 0, 1},
};

inline constexpr std::array rope = {
    key_row{"rope.dimension_count", &hparams::n_rot, need::optional, 2, 1 << 14},
    key_row{"rope.freq_base", &hparams::rope_base, need::optional, 1, 1e12},
    key_row{"rope.scaling.type", &hparams::rope_scaling_name},
    key_row{"rope.scaling.factor", &hparams::rope_factor, need::optional, 1e-3, 1e6},
    key_row{"rope.scaling.attn_factor", &hparams::rope_attn_factor, need::optional, 1e-3, 1e3},
    key_row{"rope.scaling.original_context_length", &hparams::n_ctx_orig, need::optional, 1, 1 << 30},
    key_row{"rope.scaling.yarn_ext_factor", &hparams::rope_ext_factor, need::optional, 0, 1e3},
    key_row{"rope.scaling.yarn_beta_fast", &hparams::rope_beta_fast, need::optional, 1e-3, 1e6},
    key_row{"rope.scaling.yarn_beta_slow", &hparams::rope_beta_slow, need::optional, 1e-3, 1e6},
    key_row{"rope.scaling.yarn_log_multiplier", &hparams::yarn_log_multiplier, need::optional, 0, 1e3},
};

inline constexpr std::array token_types = {
    key_row{"tokenizer.ggml.token_type_count", &hparams::n_token_types, need::required, 1, 1 << 16, true},
};

inline constexpr std::array layer_norm = {
    key_row{"attention.layer_norm_epsilon", &hparams::norm_eps, need::required, 0, 1},
};

inline constexpr std::array experts = {
    key_row{"expert_count", &hparams::n_expert, need::optional, 0, 4096},
    key_row{"expert_used_count", &hparams::n_expert_used, need::optional, 0, 4096},
};

/// What experts have beyond Mixtral's.
inline constexpr std::array more_experts = {
    key_row{"expert_feed_forward_length", &hparams::n_ff_expert, need::optional, 1, 1 << 22},
    key_row{"expert_shared_feed_forward_length", &hparams::n_ff_shared, need::optional, 0, 1 << 22},
    key_row{"expert_shared_count", &hparams::n_expert_shared, need::optional, 0, 256},
    key_row{"leading_dense_block_count", &hparams::n_dense_first, need::optional, 0, 2048},
    key_row{"interleave_moe_layer_step", &hparams::moe_step, need::optional, 0, 2048},
    key_row{"expert_gating_func", &hparams::expert_gating, need::optional, 0, 4},
    key_row{"expert_weights_norm", &hparams::expert_norm},
    key_row{"expert_weights_scale", &hparams::expert_scale, need::optional, -1e6, 1e6},
    key_row{"expert_group_count", &hparams::n_expert_groups, need::optional, 0, 1024},
    key_row{"expert_group_used_count", &hparams::n_expert_groups_used, need::optional, 0, 1024},
};

/// Smaller experts that groups of experts share (GroveMoE).
inline constexpr std::array grouped_experts = {
    key_row{"experts_per_group", &hparams::experts_per_group, need::required, 1, 4096},
    key_row{"expert_chunk_feed_forward_length", &hparams::n_ff_chunk, need::required, 1, 1 << 22},
    key_row{"expert_group_scale", &hparams::expert_group_scale, need::required, -1e6, 1e6},
};

inline constexpr std::array window = {
    key_row{"attention.sliding_window", &hparams::window, need::optional, 0, 1 << 30},
    key_row{"attention.sliding_window_pattern", &hparams::window_pattern, need::optional, 0, 2048},
    key_row{"rope.freq_base_swa", &hparams::rope_base_window, need::optional, 1, 1e12},
    key_row{"rope.dimension_count_swa", &hparams::n_rot_window, need::optional, 2, 1 << 14},
    key_row{"attention.rope_pattern", &hparams::rope_pattern, need::optional, 0, 1},
};

/// Scales of the Granite and MiniCPM families.
inline constexpr std::array scales = {
    key_row{"embedding_scale", &hparams::embedding_scale, need::optional, -1e6, 1e6},
    key_row{"residual_scale", &hparams::residual_scale, need::optional, -1e6, 1e6},
    key_row{"logit_scale", &hparams::logit_scale, need::optional, -1e6, 1e6},
    key_row{"attention.scale", &hparams::attn_scale, need::optional, -1e6, 1e6},
};

/// Whether norms stand behind the branches (Chameleon 34B).
inline constexpr std::array norm_behind = {
    key_row{"swin_norm", &hparams::norm_behind},
};

/// Whether the file's layers run attention and feed-forward in parallel.
inline constexpr std::array parallel = {
    key_row{"use_parallel_residual", &hparams::parallel, need::required},
};

/// Growth of the rope base (NTK-aware scaling).
inline constexpr std::array rope_alpha = {
    key_row{"rope.scaling.alpha", &hparams::rope_alpha, need::optional, 0, 1e9},
};

/// Sections of a head that rotate by different positions (M-RoPE).
inline constexpr std::array rope_sections = {
    key_row{"rope.dimension_sections", &hparams::rope_sections, need::optional, 0, 1 << 14},
};

/// Grok's name for the scale of the scores.
inline constexpr std::array attention_output_scale = {
    key_row{"attention.output_scale", &hparams::attn_scale, need::optional, -1e6, 1e6},
};

/// Parameters of the xIELU activation.
inline constexpr std::array xielu = {
    key_row{"xielu.alpha_n", &hparams::xielu_alpha_n, need::required, -1e6, 1e6, true},
    key_row{"xielu.alpha_p", &hparams::xielu_alpha_p, need::required, -1e6, 1e6, true},
    key_row{"xielu.beta", &hparams::xielu_beta, need::required, -1e6, 1e6, true},
    key_row{"xielu.eps", &hparams::xielu_eps, need::required, -1e6, 1e6, true},
};

/// A factor of attention's result.
inline constexpr std::array value_scale = {
    key_row{"attention.value_scale", &hparams::attn_output_scale, need::optional, -1e6, 1e6},
};

/// Limits of gated activations (Step 3.5, Bailing 3).
inline constexpr std::array clamps = {
    key_row{"swiglu_clamp_exp", &hparams::clamp_expert, need::optional, 0, 1e6},
    key_row{"swiglu_clamp_shexp", &hparams::clamp_shared, need::optional, 0, 1e6},
};

/// Attention temperature that grows with the position (Llama 4, Mistral 3).
inline constexpr std::array temperature = {
    key_row{"attention.temperature_scale", &hparams::temperature_scale, need::optional, 0, 1e3},
    key_row{"attention.temperature_length", &hparams::temperature_length, need::optional, 0, 1 << 30},
};

/// Multi-head latent attention (DeepSeek V2 and V3).
inline constexpr std::array latent = {
    key_row{"attention.q_lora_rank", &hparams::n_lora_q, need::optional, 0, 1 << 16},
    key_row{"attention.kv_lora_rank", &hparams::n_lora_kv, need::required, 1, 1 << 16},
    key_row{"attention.key_length_mla", &hparams::dim_k_head, need::optional, 1, 1 << 14},
    key_row{"attention.value_length_mla", &hparams::dim_v_head, need::optional, 1, 1 << 14},
};

/// An indexer, which chooses the cells that attention sees (DeepSeek V3.2).
inline constexpr std::array indexer = {
    key_row{"attention.indexer.head_count", &hparams::n_index_head, need::required, 1, 1024},
    key_row{"attention.indexer.key_length", &hparams::dim_index, need::required, 1, 1 << 14},
    key_row{"attention.indexer.top_k", &hparams::index_top_k, need::required, 1, 1 << 20},
};

/// Which layers have an indexer of their own.
constexpr std::array<key_row, 1> indexer_types(need presence) noexcept {
  return {key_row{"attention.indexer.types", &hparams::index_layers, presence, 0, 1}};
}

/// Hyper connections: their streams.
inline constexpr std::array streams = {
    key_row{"hyper_connection.count", &hparams::n_streams, need::required, 1, sinkhorn_args::most},
};

/// The Sinkhorn normalisation of their weights (DeepSeek V4).
inline constexpr std::array sinkhorn = {
    key_row{"hyper_connection.sinkhorn_iterations", &hparams::sinkhorn_iterations, need::required, 1, 256},
    key_row{"hyper_connection.epsilon", &hparams::connection_eps, need::required, 0, 1},
};

/// Layers that run several times (Nanbeige).
inline constexpr std::array loops = {
    key_row{"num_loops", &hparams::n_loops, need::optional, 1, 64},
    key_row{"skip_loop_final_norm", &hparams::skip_loop_norm},
};

/// Biases by distance (T5).
inline constexpr std::array distances = {
    key_row{"attention.relative_buckets_count", &hparams::n_distances, need::required, 4, 128},
};

/// Clamped projections and linear position bias (MPT, DBRX, OLMo, Jais).
inline constexpr std::array attention_extras = {
    key_row{"attention.clamp_kqv", &hparams::clamp_qkv, need::optional, 0, 1e6},
    key_row{"attention.max_alibi_bias", &hparams::alibi_bias, need::optional, 0, 1e3},
};

inline constexpr std::array softcaps = {
    key_row{"attn_logit_softcapping", &hparams::attn_softcap, need::optional, 0, 1e6},
    key_row{"final_logit_softcapping", &hparams::final_softcap, need::optional, 0, 1e6},
};

}  // namespace keys
}  // namespace jig
