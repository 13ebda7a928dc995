#pragma once
// The parameters of the operations: what varies between architectures, as plain values.

#include "jig/core/types.hpp"
#include "jig/ops/tensor.hpp"

namespace jig {

/// Which values of a head rotate together.
enum class rope_kind : u8 {
  none,
  norm,  ///< neighbours (2i, 2i + 1): RoFormer, https://arxiv.org/abs/2104.09864
  neox,  ///< halves (i, i + n_rot/2): GPT-NeoX
};

/// The angles of rotary position encoding: theta_i(p) = p * base^(-2i/n_rot) / factor_i, then scaled.
struct rope_args {
  u32 n_rot = 0;                   ///< rotated values of a head, even
  f32 freq_base = 10000.0f;
  f32 freq_scale = 1.0f;           ///< linear interpolation: 1 / factor
  f32 ext_factor = 0.0f;           ///< YaRN (https://arxiv.org/abs/2309.00071): 1 blends extrapolation in, 0 off
  f32 attn_factor = 1.0f;          ///< multiplies cos and sin
  f32 beta_fast = 32.0f, beta_slow = 1.0f;
  u32 n_ctx_orig = 0;              ///< context length before scaling, for YaRN
  weight factors = {};             ///< [n_rot/2] f32 divisors of the frequencies (Llama 3, LongRoPE), or absent
};

enum class norm_kind : u8 {
  rms,    ///< x / sqrt(mean(x^2) + eps): https://arxiv.org/abs/1910.07467
  layer,  ///< (x - mean) / sqrt(var + eps): https://arxiv.org/abs/1607.06450
};

/// A norm over groups of `group` neighbouring columns, then times w plus b; w and b have `group` values or are absent.
struct norm_args {
  norm_kind kind = norm_kind::rms;
  f32 eps = 1e-5f;
  u32 group = 0;
  weight w = {}, b = {};
};

/// Attention of one layer. Query head h reads key/value head h / (n_head / n_head_kv).
struct attend_args {
  u32 n_head = 0, n_head_kv = 0;
  u32 dim_k = 0, dim_v = 0;  ///< head sizes of keys (and queries) and values
  u64 page_offset = 0;       ///< bytes from a page's start to this layer's keys
  f32 scale = 1.0f;          ///< of the scores, usually 1/sqrt(dim_k)
  f32 softcap = 0.0f;        ///< scores become cap * tanh(score / cap); 0 = off
  u32 window = 0;            ///< a token sees itself and the window - 1 before it; 0 = all
};

enum class activation : u8 {
  silu,      ///< x / (1 + exp(-x))
  gelu,      ///< tanh form: https://arxiv.org/abs/1606.08415
  relu,
  relu_sqr,  ///< relu(x)^2
};

/// Choice of experts per token.
struct route_args {
  u32 n_expert = 0, n_used = 0;
  bool normalize = true;  ///< divide the chosen weights by their sum
  f32 scale = 1.0f;       ///< then multiply by this
};

}  // namespace jig
