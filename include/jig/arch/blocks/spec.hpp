#pragma once
// What distinguishes the decoders of one family from another, as one constexpr value that the blocks read. Whatever
// shows in the tensors (biases, post-norms, norms of queries and keys, experts, gates) is not repeated here.

#include "jig/arch/model.hpp"
#include "jig/ops/executor.hpp"

namespace jig {

/// Which tensor is the norm in front of the feed-forward.
enum class ffn_norm_name : u8 { ffn_norm, post_attention_norm, attn_output_norm };

struct decoder_spec {
  norm_kind norm = norm_kind::rms;
  rope_kind rope = rope_kind::norm;
  activation act = activation::silu;
  bool parallel = false;               ///< layers without ffn_norm run attention and feed-forward in parallel
  bool norm_without_weight = false;    ///< norms have no weights in the file
  bool embedding_norm_last = false;    ///< the file calls the final norm token_embd_norm
  bool embedding_norm = false;         ///< the embedding is normalised without weights
  norm_kind qk_norm = norm_kind::rms;  ///< of queries and keys, where the file has such norms
  bool qk_norm_after_rope = false;
  layer_test windowed = nullptr;       ///< layers with a sliding window; null: none
  layer_test rope_in = nullptr;        ///< layers with rope; null: all
  bool window_unscaled = false;        ///< rope of windowed layers is not scaled (linear, YaRN)
  gating router = gating::softmax;     ///< unless the file says
  bool router_normalize = true;        ///< divide the weights of the chosen experts by their sum
  bool router_norm_from_file = false;  ///< ... if expert_weights_norm says so
  bool router_weighs_input = false;    ///< the experts' input is weighed, not their output
  f32 experts_factor = 0.0f;           ///< of routed plus shared experts, 0: none
  ffn_norm_name ffn_norm = ffn_norm_name::ffn_norm;
  layer_test plain_qk_norm = nullptr;          ///< layers with norms of q and k behind rope, also without weights
  layer_test temperature_in = nullptr;         ///< layers whose temperature grows with the position; null: all
  u32 temperature_offset = 0;                  ///< added to the position for that
  f32 dense_beside_experts = 0.0f;             ///< factor of dense feed-forward plus experts, where a layer has both
  activation attn_gate = activation::sigmoid;  ///< of the output gate, where the file has one
  bool route_before_attention = false;         ///< the router reads the layer's input
  rope_kind index_rope = rope_kind::neox;      ///< of an indexer's queries and keys
  norm_kind index_norm = norm_kind::layer;     ///< the same, where the file has such norms
  bool index_per_head = false;                 ///< an indexer's heads choose for one key/value head each
  bool logit_scale_divides = false;
  bool scores_average = false;                     ///< scores are made of the average of all tokens, else of one's
  activation score_activation = activation::tanh;  ///< between the matrices of a classification head

  constexpr bool has_windows() const noexcept { return windowed != nullptr; }
};

/// Windowed layers: all but every Period-th (the last of each period, or the first). The file's own period or its
/// array of flags goes first. Period 0: all.
template <u32 Period, bool GlobalFirst = false>
constexpr bool windowed_by(const hparams& hp, u32 il) {
  if (hp.window == 0) return false;
  if (hp.window_pattern.varies()) return hp.window_pattern[il] != 0;
  const u32 period = hp.window_pattern[0] ? hp.window_pattern[0] : Period;
  return period == 0 || (GlobalFirst ? il % period != 0 : il % period < period - 1);
}

}  // namespace jig
