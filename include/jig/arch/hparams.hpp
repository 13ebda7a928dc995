#pragma once
// The hyperparameters of a model: every metadata key of an architecture that shapes its computation, in one plain
// struct. Which keys a family has, and which are required, is said by its key table (arch/keys.hpp).

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
  per_layer(const gguf::value& values) noexcept : values_(values) {}

  constexpr T operator[](u32 layer) const noexcept {
    if (!values_.is_array()) return one_;
    const auto v = values_.element<T>(layer);
    return v ? *v : T{};
  }
  constexpr bool varies() const noexcept { return values_.is_array(); }

 private:
  T one_{};
  gguf::value values_;
};

enum class rope_scaling : u8 { none, linear, yarn, longrope };

/// All in the file's units; 0 means "not given" until `complete` (arch/load.hpp) has filled the derived ones in.
struct hparams {
  u32 n_vocab = 0;
  u32 n_ctx_train = 0;  ///< context length that the model was trained for
  u32 n_embd = 0;
  u32 n_layer = 0;
  per_layer<u32> n_ff = {};
  per_layer<u32> n_head = {};
  per_layer<u32> n_head_kv = {};
  u32 dim_k = 0;        ///< head size of queries and keys
  u32 dim_v = 0;        ///< head size of values
  f32 norm_eps = 0.0f;

  u32 n_rot = 0;        ///< rotated values per head
  f32 rope_base = 10000.0f;
  std::string_view rope_scaling_name = {};
  rope_scaling scaling = rope_scaling::none;
  f32 rope_factor = 0.0f;
  f32 rope_attn_factor = 1.0f;
  f32 rope_ext_factor = 1.0f;
  f32 rope_beta_fast = 32.0f, rope_beta_slow = 1.0f;
  u32 n_ctx_orig = 0;   ///< context length before rope scaling

  u32 n_expert = 0;
  u32 n_expert_used = 0;
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
  if (hp.scaling != rope_scaling::none && hp.rope_factor != 0.0f) a.freq_scale = 1.0f / hp.rope_factor;
  if (hp.scaling == rope_scaling::yarn) a.ext_factor = hp.rope_ext_factor;
  return a;
}

}  // namespace jig
