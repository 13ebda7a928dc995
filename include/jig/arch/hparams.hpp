#pragma once
// The hyperparameters of a model: every metadata key of an architecture that shapes its computation, in one plain
// struct. Which keys a family has, and which are required, is said by its key table (arch/keys.hpp).

#include <array>
#include <cmath>
#include <string_view>

#include "jig/core/types.hpp"
#include "jig/gguf/value.hpp"
#include "jig/ops/args.hpp"

namespace jig {

/// A hyperparameter that a file may give once for all layers or as an array with one value per layer.
/// The array stays in the file's bytes, so no memory is needed and any number of layers fits.
template <class T>
class per_layer {
 public:
  constexpr per_layer() noexcept = default;
  constexpr per_layer(T one) noexcept : one_(one) {}
  /// `values` was checked: an array of at least n_layer elements that are all in range.
  per_layer(const gguf::value& values) noexcept
      : values_(values.payload().data()),
        count_(static_cast<u16>(values.count() < 0xffff ? values.count() : 0xffff)),
        type_(static_cast<u8>(values.element_type())),
        order_(values.order()) {}

  constexpr T operator[](u32 layer) const noexcept { return varies() ? at(layer) : one_; }
  constexpr bool varies() const noexcept { return values_ != nullptr; }

 private:
  T at(u32 layer) const noexcept {
    const auto type = static_cast<gguf::value_type>(type_);
    const usize bytes = usize{count_} * gguf::size_of(type);
    const gguf::value list({}, true, type, count_, {values_, bytes}, order_, 0);
    if (type == gguf::value_type::boolean) {
      const auto flag = list.element<bool>(layer);
      return flag ? static_cast<T>(*flag) : T{};
    }
    const auto v = list.element<T>(layer);
    return v ? *v : T{};
  }

  // Not a gguf::value, which is five times as large: embedded models carry their hyperparameters in flash.
  T one_{};
  const u8* values_ = nullptr;
  u16 count_ = 0;  ///< no model has that many layers
  u8 type_ = 0;    ///< a gguf::value_type
  gguf::byte_order order_ = gguf::byte_order::little;
};

enum class rope_scaling : u8 { none, linear, dynamic, yarn, longrope };

/// All in the file's units; 0 means "not given" until `complete` (arch/load.hpp) has filled the derived ones in.
struct hparams {
  u32 n_vocab = 0;
  u32 n_ctx_train = 0;  ///< context length that the model was trained for
  u32 n_embd = 0;
  bool causal = true;     ///< otherwise every token sees its whole sequence
  u32 pooling_type = 0;   ///< what the model was trained to give in place of logits, see pooling
  u32 n_token_types = 0;  ///< kinds of text that BERT tells apart
  u32 n_layer_encoder = 0, n_layer_decoder = 0;  ///< of models of an encoder and a decoder; n_layer is the larger one
  u32 decoder_start = 0;                         ///< the token that their decoders begin with
  u32 n_distances = 0;                           ///< buckets of distances that have biases of their own
  u32 n_labels = 1;       ///< scores of a classification head
  u32 dense_2_out = 0, dense_3_in = 0;  ///< widths of the matrices behind a pooled vector, 0: none
  std::string_view activation_name = {};
  bool act_silu = false;  ///< SiLU in place of the family's activation
  u32 n_layer = 0;
  u32 n_layer_next = 0;  ///< layers of the file behind these that predict further tokens; they are not used
  per_layer<u32> n_ff = {};
  per_layer<u32> n_head = {};
  per_layer<u32> n_head_kv = {};
  u32 dim_k = 0;  ///< head size of queries and keys
  u32 dim_v = 0;  ///< head size of values
  u32 dim_k_window = 0, dim_v_window = 0;  ///< head sizes in windowed layers (of window_pattern), 0: as the others
  f32 norm_eps = 0.0f;

  u32 n_rot = 0;  ///< rotated values per head
  f32 rope_base = 10000.0f;
  std::string_view rope_scaling_name = {};
  rope_scaling scaling = rope_scaling::none;
  f32 rope_factor = 0.0f;
  f32 rope_attn_factor = 1.0f;
  f32 rope_ext_factor = 1.0f;
  f32 rope_beta_fast = 32.0f, rope_beta_slow = 1.0f;
  std::array<u32, 4> rope_sections = {};  ///< pairs that rotate by time, height, width and a fourth position
  f32 rope_alpha = 0.0f;
  bool rope_interleaved = false;  ///< the sections alternate pair by pair
  bool rope_finetuned = true;     ///< whether there is any rope (Granite 4)
  u32 n_ctx_orig = 0;             ///< context length before rope scaling

  u32 n_expert = 0;
  u32 n_expert_used = 0;

  // Attention beyond the plain form.
  u32 window = 0;                      ///< a token of a windowed layer sees itself and window - 1 before it
  u32 chunk = 0;                       ///< a token of a windowed layer sees only its chunk of so many tokens, 0: none
  per_layer<u32> window_pattern = {};  ///< a period (see windowed_by), or 1 for each windowed layer
  f32 rope_base_window = 0.0f;         ///< rope base of windowed layers, 0: as the others
  f32 attn_scale = 0.0f;               ///< of the scores, 0: 1/sqrt(dim_k)
  f32 attn_softcap = 0.0f;
  f32 clamp_qkv = 0.0f;        ///< q, k, v are clamped to [-c, c]
  f32 alibi_bias = 0.0f;       ///< largest slope of the linear position bias, 0: none
  u32 temperature_length = 0;  ///< tokens after which attention's temperature grows
  f32 temperature_scale = 0.0f;
  f32 yarn_log_multiplier = 0.0f;

  // Multi-head latent attention: keys and values are made from one vector per token.
  u32 n_lora_q = 0, n_lora_kv = 0;     ///< widths of what queries, and keys and values, are made from; 0: no such step
  u32 dim_k_head = 0, dim_v_head = 0;  ///< head sizes before absorption; dim_k and dim_v are those of the memory
  bool values_in_keys = false;         ///< the memory holds the shared vector and the rotated key, once for all heads

  u32 n_lora_kv_window = 0, dim_k_head_window = 0, dim_v_head_window = 0;  ///< in windowed layers, 0: as the others

  // Sparse attention: an indexer chooses the cells that are seen.
  u32 n_index_head = 0, dim_index = 0;  ///< its query heads and their size
  u32 index_top_k = 0;                  ///< blocks that it chooses
  u32 index_block = 1;                  ///< cells of a block
  u32 index_local = 0;                  ///< blocks up to a token's own that are always chosen
  u32 index_shared = 1;                 ///< cells that share one key of the indexer
  per_layer<u32> index_layers = 2;      ///< 1 for each layer with an indexer of its own; 2: not said

  // Compressed attention: what lies before a window is seen as rows of groups.
  per_layer<u32> cell_groups = {};       ///< cells of a group, or that share a key of the indexer; 0: neither
  u32 n_out_groups = 1, n_lora_out = 0;  ///< groups of heads whose results are projected by themselves, to a width

  u32 n_shared_kv = 0;    ///< so many layers at the end attend to keys and values of earlier ones
  u32 n_layer_input = 0;  ///< width of inputs that each layer has of its own
  u32 n_altup = 1;        ///< hidden states side by side

  // Embeddings of hashed n-grams: of each length from 2 to ngram_size some tables, which are parts of one.
  u32 ngram_layer_count = 0;
  per_layer<u32> ngram_layers = {};   ///< the layers that read them
  u32 ngram_size = 0;                 ///< tokens of the longest
  u32 ngram_heads = 0;                ///< tables for each length
  u32 n_ngram_tables = 0;             ///< all of them
  per_layer<u64> ngram_factors = {};  ///< for each token of an n-gram, the last one first
  per_layer<u32> ngram_offsets = {};  ///< first row of each table
  per_layer<u32> ngram_rows = {};     ///< and how many it has
  u32 ngram_taps = 0;                 ///< of the convolution behind them
  u32 ngram_separator = 0;            ///< a token that n-grams do not reach beyond
  per_layer<f32> sparsity = {};  ///< standard deviations above the mean below which activations are 0; 0: none

  u32 n_loops = 1;              ///< the layers run so often, each time with memory of their own
  bool skip_loop_norm = false;  ///< the final norm does not stand between loops

  // Recurrent layers.
  u32 ssm_taps = 0;   ///< of the convolution
  u32 ssm_inner = 0;  ///< columns that the recurrence works on
  u32 ssm_state = 0;  ///< numbers per column that it carries
  u32 ssm_rank = 0;   ///< Mamba: width that the steps are made from; else the number of heads
  u32 ssm_groups = 0;
  bool ssm_norm = false;  ///< step, B and C are normalised without weights
  u32 attention_interval = 1;            ///< every so many-th layer attends, the others are recurrent
  per_layer<u32> recurrent_layers = {};  ///< or 1 for each recurrent layer
  per_layer<u32> attending = 1;          ///< or 0 for each recurrent layer
  u32 kda_head = 0;                      ///< Kimi Delta Attention: columns of a head
  f32 kda_lower_bound = 0.0f;            ///< of the logarithm of its decay, 0: none
  u32 attn_res_block = 0;                ///< attention residuals: layers of a stream
  u32 wkv_head = 0;       ///< RWKV: columns of a head
  u32 wkv_heads_kv = 0;   ///< heads of keys and values, 0: all
  u32 n_shifts = 0;       ///< inputs of a layer that are mixed with those of the token before
  u32 n_lora_mix = 0, n_lora_decay = 0, n_lora_rate = 0, n_lora_value = 0, n_lora_gate = 0;  ///< of two-step products
  u32 rescale_every = 0;  ///< so many layers halve the hidden state, 0: none

  f32 attn_output_scale = 0.0f;                         ///< of attention's result, 0: none
  u32 n_rot_window = 0;                                 ///< rotated values in windowed layers, 0: as the others
  per_layer<u32> rope_pattern = 1;                      ///< 1 for each layer with rope
  per_layer<f32> clamp_expert = {}, clamp_shared = {};  ///< limits of gated activations, 0: none
  per_layer<f32> xielu_alpha_n = {}, xielu_alpha_p = {}, xielu_beta = {}, xielu_eps = {};
  f32 situ_beta = 0.0f, situ_linear_beta = 0.0f;  ///< limits of SiTU, see situ_args
  f32 post_norm_eps = 0.0f;  ///< of norms behind branches, 0: norm_eps
  f32 qk_norm_eps = 0.0f;    ///< of norms of queries and keys, 0: norm_eps
  bool norm_behind = false;  ///< norms stand behind the branches
  bool parallel = false;     ///< attention and feed-forward read the same state

  // Hyper connections.
  u32 n_streams = 1;             ///< hidden states side by side
  u32 n_lora_stream = 0;         ///< width in between, where their gates are made in two steps
  u32 sinkhorn_iterations = 1;   ///< of the weights by which they are mixed
  f32 connection_eps = 0.0f;

  // Adapters in the file, which tokens switch on.
  u32 n_adapters = 0;
  u32 n_lora_adapter = 0;                   ///< their rank
  per_layer<u32> adapter_tokens = {};       ///< the token that switches it on, for each adapter
  per_layer<u32> adapter_substitutes = {};  ///< the token that the model reads in place of that one
  f32 adapter_gain = 0.0f;                  ///< how sharply those tokens stand out from the others

  // Scales of the residual stream and the ends.
  f32 embedding_scale = 0.0f;  ///< 0: none, here and below
  f32 residual_scale = 0.0f;
  f32 logit_scale = 0.0f;
  f32 final_softcap = 0.0f;

  // Experts beyond the plain form.
  u32 n_ff_expert = 0;  ///< width of an expert, 0: n_ff
  u32 n_ff_shared = 0;  ///< width of the shared expert, 0: n_expert_shared times an expert's
  u32 n_expert_shared = 0;
  u32 n_dense_first = 0;     ///< the first layers are dense
  u32 moe_step = 0;          ///< every so many layers has experts
  u32 expert_gating = 0;     ///< 1 softmax, 2 sigmoid, 3 softmax over the chosen, 4 sqrt(softplus); 0: the family's
  bool expert_norm = false;  ///< chosen weights are divided by their sum
  f32 expert_scale = 0.0f;   ///< and multiplied by this
  u32 n_expert_groups = 0, n_expert_groups_used = 0;
  u32 experts_per_group = 0, n_ff_chunk = 0;  ///< GroveMoE: experts that share a smaller one, and its width
  f32 expert_group_scale = 0.0f;
  u32 n_token_routed = 0;   ///< the first layers' experts are chosen by the token itself
  u32 n_latent_expert = 0;  ///< width of the space that experts work in, 0: n_embd

  /// Head sizes of layer il.
  constexpr u32 head_k(u32 il) const noexcept { return by_window(il, dim_k_window, dim_k); }
  constexpr u32 head_v(u32 il) const noexcept { return by_window(il, dim_v_window, dim_v); }
  /// Width of the latent, and head sizes before absorption, of layer il.
  constexpr u32 lora_kv(u32 il) const noexcept { return by_window(il, n_lora_kv_window, n_lora_kv); }
  constexpr u32 latent_head_k(u32 il) const noexcept { return by_window(il, dim_k_head_window, dim_k_head); }
  constexpr u32 latent_head_v(u32 il) const noexcept { return by_window(il, dim_v_head_window, dim_v_head); }
  /// Width of layer il's values in memory.
  constexpr u32 stored_dim_v(u32 il) const noexcept { return values_in_keys ? 0 : head_v(il); }

  constexpr u32 by_window(u32 il, u32 windowed, u32 otherwise) const noexcept {
    return windowed != 0 && window_pattern[il] != 0 ? windowed : otherwise;
  }
};

/// The rope parameters that follow from the file; `factors` is the model's rope_freqs tensor or absent.
constexpr rope_args make_rope_args(const hparams& hp, const weight& factors) noexcept {
  rope_args a;
  a.n_rot = hp.n_rot;
  a.freq_base = hp.rope_base;
  a.attn_factor = hp.rope_attn_factor;
  a.beta_fast = hp.rope_beta_fast;
  a.beta_slow = hp.rope_beta_slow;
  a.n_ctx_orig = hp.n_ctx_orig;
  a.factors = factors;
  a.sections = hp.rope_sections;
  a.interleaved = hp.rope_interleaved;
  if ((hp.scaling == rope_scaling::linear || hp.scaling == rope_scaling::yarn) && hp.rope_factor != 0.0f)
    a.freq_scale = 1.0f / hp.rope_factor;
  if (hp.scaling == rope_scaling::yarn) a.ext_factor = hp.rope_ext_factor;
  if (a.ext_factor != 0.0f && hp.yarn_log_multiplier != 0.0f && !std::is_constant_evaluated()) {
    // YaRN's factor 0.1 ln(s) + 1 of cos and sin, relative to the same with the model's own multiplier.
    const f32 log = std::log(hp.rope_factor > 1.0f ? hp.rope_factor : 1.0f);
    a.attn_factor /= 0.1f * hp.yarn_log_multiplier * log + 1.0f;
  }
  return a;
}

}  // namespace jig
