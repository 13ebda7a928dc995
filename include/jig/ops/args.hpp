#pragma once
// The parameters of the operations: what varies between architectures, as plain values.

#include <array>
#include <cmath>

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
  u32 n_rot = 0;  ///< rotated values of a head, even
  f32 freq_base = 10000.0f;
  f32 freq_scale = 1.0f;   ///< linear interpolation: 1 / factor
  f32 ext_factor = 0.0f;   ///< YaRN (https://arxiv.org/abs/2309.00071): 1 blends extrapolation in, 0 off
  f32 attn_factor = 1.0f;  ///< multiplies cos and sin
  f32 beta_fast = 32.0f, beta_slow = 1.0f;
  u32 n_ctx_orig = 0;  ///< context length before scaling, for YaRN
  std::array<u32, 4> sections =
      {};                    ///< M-RoPE (https://arxiv.org/abs/2409.12191): pairs per position; all 0: one position
  bool interleaved = false;  ///< M-RoPE sections alternate pair by pair (Qwen3-VL)
  weight factors = {};       ///< [n_rot/2] f32 divisors of the frequencies (Llama 3, LongRoPE), or absent
};

/// Growth of attention's temperature with the position: q is multiplied by
/// 1 + scale * log(1 + floor((position + offset) / length)).
struct temperature_args {
  f32 scale = 0.0f;
  u32 length = 1;
  u32 offset = 0;
};

inline f32 temperature_at(const temperature_args& a, u32 position) noexcept {
  const u32 steps = (position + a.offset) / a.length;
  return 1.0f + a.scale * std::log(1.0f + static_cast<f32>(steps));
}

enum class norm_kind : u8 {
  rms,    ///< x / sqrt(mean(x^2) + eps): https://arxiv.org/abs/1910.07467
  layer,  ///< (x - mean) / sqrt(var + eps): https://arxiv.org/abs/1607.06450
  l2,     ///< x / max(|x|, eps)
};

/// Whether pair i rotates by the fourth position of M-RoPE, which is 0 for text; the other three are the token's own.
constexpr bool rotates_by_fourth(const rope_args& a, u32 pair) noexcept {
  const auto& s = a.sections;
  const u32 all = s[0] + s[1] + s[2] + s[3];
  if (all == 0) return false;
  const u32 at = pair % all;
  return a.interleaved ? at >= 3 * s[at % 3] : at >= s[0] + s[1] + s[2];
}

/// A norm over groups of `group` neighbouring columns, then times w plus b. w and b are absent, or have `group` values
/// that serve all groups (w.rows 1), or w has a row of `group` values, or one value (w.cols 1), for each group of the
/// columns in turn.
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
  bool values_in_keys = false;  ///< a value is the first dim_v numbers of its key; the memory holds keys only
  u64 page_offset = 0;       ///< bytes from a page's start to this layer's keys
  bool window_pages = false;  ///< the layer lies in the pages of batch::windows
  f32 scale = 1.0f;          ///< of the scores, usually 1/sqrt(dim_k)
  f32 softcap = 0.0f;        ///< scores become cap * tanh(score / cap); 0 = off
  u32 window = 0;            ///< a token sees itself and the window - 1 before it; 0 = all
  u32 chunk = 0;             ///< a token sees its own chunk of so many cells, up to itself; 0 = all
  f32 alibi_bias = 0.0f;     ///< ALiBi (https://arxiv.org/abs/2108.12409): steepest slope exponent, usually 8; 0 = off
  weight sinks = {};         ///< [n_head] f32 scores of a key without value (StreamingLLM, gpt-oss), or absent
  bool to_source = false;    ///< cross attention: a token sees all cells of its sequence's source, and no other
  u32 group = 0;             ///< cells of a group that has a row of its own, see ops/compression.hpp
  mat distances = {};        ///< [n_head, 2 * far_distance + 1] biases by distance, see ops/distance.hpp, or absent
};

/// The slope of query head h is 2^-exponent: score -= slope * |query cell - key cell|. ALiBi's rule, for any number of
/// heads: bias/n times 1, 2, ... n with n the largest power of two up to n_head, then the odd multiples of bias/2n.
constexpr f32 alibi_exponent(f32 bias, u32 n_head, u32 h) noexcept {
  u32 n = 1;
  while (2 * n <= n_head) n *= 2;
  const f32 step = bias / static_cast<f32>(n);
  return h < n ? step * static_cast<f32>(h + 1) : step / 2 * static_cast<f32>(2 * (h - n) + 1);
}

enum class activation : u8 {
  silu,  ///< x / (1 + exp(-x))
  gelu,  ///< tanh form: https://arxiv.org/abs/1606.08415
  relu,
  relu_sqr,  ///< relu(x)^2
  sigmoid,
  tanh,
  exp,
  softplus,    ///< log(1 + exp(x))
  swiglu_oai,  ///< gated only (gpt-oss): g sigmoid(1.702 g) (u + 1), both limited
  xielu,       ///< https://arxiv.org/abs/2411.13010, parameters in activation_args
  signed_sqrt,  ///< sign(x) sqrt(max(|x|, eps)), with eps from activation_args
  none,        ///< x itself
};

/// An activation with its limits; made from the plain kinds implicitly.
struct activation_args {
  activation kind;
  f32 limit = 0.0f;  ///< gated: act(gate) <= limit and |up| <= limit (swiglu_oai: gate <= limit); 0 = none
  f32 alpha_n = 0.0f, alpha_p = 0.0f, beta = 0.0f, eps = 0.0f;  ///< of xielu; eps also of signed_sqrt
  constexpr activation_args(activation k, f32 clamp = 0.0f) noexcept : kind(k), limit(clamp) {}
};

/// SiTU (Kimi K3): x becomes beta * tanh(x / beta) * sigmoid(x); what it gates, linear_beta * tanh(up / linear_beta).
struct situ_args {
  f32 beta = 1.0f, linear_beta = 0.0f;  ///< linear_beta 0: up stays as it is
};

/// SwiGLU within limits (DeepSeek V4): silu(gate) * up of gate <= limit and |up| <= limit; 0: none.
struct limited_swiglu {
  f32 limit = 0.0f;
  /// silu(limit) / limit. The planner's constant evaluation needs no value.
  constexpr f32 part() const noexcept {
    return std::is_constant_evaluated() || limit == 0.0f ? 1.0f : 1.0f / (1.0f + std::exp(-limit));
  }
};

/// How router logits become weights.
enum class gating : u8 {
  softmax = 1,
  sigmoid = 2,
  softmax_chosen = 3,  ///< the largest logits are chosen, softmax over those
  sqrt_softplus = 4,
};

/// Choice of experts per token.
struct route_args {
  u32 n_expert = 0, n_used = 0;
  gating kind = gating::softmax;
  bool normalize = true;  ///< divide the chosen weights by their sum
  f32 scale = 1.0f;       ///< then multiply by this
  weight bias = {};       ///< [n_expert] f32, added for the choice only (https://arxiv.org/abs/2408.15664), or absent
  bool weigh_input = false;  ///< the weights multiply the experts' input instead of their output (Llama 4)
  u32 per_group = 1;      ///< chosen ids are divided by this, and the weights are those of the divided ids (GroveMoE)
  u32 n_groups = 0;       ///< experts in so many groups of equal size, 0 or 1: no groups
  u32 n_groups_used = 0;  ///< only the groups with the largest sums of their two best are eligible
};

}  // namespace jig
