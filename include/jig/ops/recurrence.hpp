#pragma once
// Recurrent layers: what a sequence carries from token to token in place of keys and values, and the parameters of the
// two operations that read and update it. The tokens of a batch are taken in order; each works on the state of its own
// sequence, which lies in batch::states.

#include "jig/ops/tensor.hpp"

namespace jig {

/// A causal convolution over time, each column by itself: out[t] = sum_j w[j] x[t - (taps - 1 - j) * dilation]. The
/// state holds the last (taps - 1) * dilation rows of x, the oldest first. Without weights the result is the oldest row
/// of the state (taps 2, dilation 1: the row before).
struct conv_args {
  u32 taps = 0;
  u64 state_offset = 0;  ///< floats from the sequence's state to those rows, [kept(), columns]
  weight w = {};         ///< [taps] f32 for each column, or absent
  u32 dilation = 1;      ///< tokens from one tap to the next

  constexpr u32 kept() const noexcept { return (taps - 1) * dilation; }
};

/// Whether the state forgets what it holds under a key, before it is written to.
enum class scan_erase : u8 {
  none,
  after_decay,   ///< delta rule: https://arxiv.org/abs/2412.06464
  before_decay,  ///< RWKV 7: https://arxiv.org/abs/2503.14456
};

/// A linear recurrence per head over a state S [dim_v, dim_k]:
///   S = S * decay - rate * (S erase) write^T + rate * v k^T;   out = scale * S q.
/// Mamba (https://arxiv.org/abs/2312.00752, https://arxiv.org/abs/2405.21060), gated linear attention, the gated delta
/// rule and RWKV 6 and 7 are this with some of the terms.
struct scan_args {
  u32 n_head = 0;           ///< heads of v, decay, rate and the state
  u32 n_head_k = 0;         ///< heads of q and k, each shared by n_head / n_head_k
  u32 dim_k = 0, dim_v = 0;
  bool tiled = false;       ///< head h reads q and k of head h % n_head_k instead of h / (n_head / n_head_k)
  u64 state_offset = 0;     ///< floats from the sequence's state to S of all heads, [n_head, dim_v, dim_k]
  scan_erase erase = scan_erase::none;
  weight log_decay = {};    ///< [dim_k, n_head] or [1, n_head]: decay is exp(log_decay * inputs.decay), or absent
  weight bonus = {};        ///< [n_head * dim_k], RWKV 6: out = scale * (S + v (bonus k)^T) q with S before the update
  f32 scale = 1.0f;
};

/// What the recurrence reads, by token.
struct scan_inputs {
  mat q, k;        ///< [tokens, n_head_k * dim_k]
  mat v;           ///< [tokens, n_head * dim_v]
  mat decay;       ///< [tokens, n_head] or [tokens, n_head * dim_k]: factors, or see scan_args::log_decay
  mat rate = {};   ///< [tokens, n_head], or absent: 1
  mat erase = {};  ///< as k, or absent: k
  mat write = {};  ///< as k, or absent: k
};

/// The head of q and k that head h reads.
constexpr u32 scan_key_head(const scan_args& a, u32 h) noexcept {
  return a.tiled ? h % a.n_head_k : h / (a.n_head / a.n_head_k);
}

}  // namespace jig
