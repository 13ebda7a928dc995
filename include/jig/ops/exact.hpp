#pragma once
// Activations and expert routing in double precision, by their definitions: the reference computes with them, and fast
// kernels fall back on them for what is rare.

#include <cmath>
#include <cstring>
#include <limits>

#include "jig/ops/args.hpp"

namespace jig {

/// act(x) in double precision.
inline f64 activate_exact(activation act, f64 x) noexcept {
  switch (act) {
    case activation::silu: return x / (1.0 + std::exp(-x));
    case activation::gelu: return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * x * (1.0 + 0.044715 * x * x)));
    case activation::relu: return x > 0.0 ? x : 0.0;
    case activation::relu_sqr: return x > 0.0 ? x * x : 0.0;
    case activation::sigmoid: return 1.0 / (1.0 + std::exp(-x));
    case activation::tanh: return std::tanh(x);
    case activation::exp: return std::exp(x);
    case activation::softplus: return x > 20.0 ? x : std::log1p(std::exp(x));
    case activation::swiglu_oai: return x / (1.0 + std::exp(-1.702 * x));
    case activation::xielu:
    case activation::signed_sqrt:
    case activation::none: break;
  }
  return x;
}

/// act(x) with the activation's parameters.
inline f64 activate_exact(const activation_args& a, f64 x) noexcept {
  if (a.kind == activation::signed_sqrt)
    return x == 0.0 ? x : std::copysign(std::sqrt(std::fmax(std::fabs(x), f64(a.eps))), x);
  if (a.kind != activation::xielu) return activate_exact(a.kind, x);
  const f64 beta = f64(a.beta), eps = f64(a.eps);
  const f64 p = activate_exact(activation::softplus, f64(a.alpha_p));
  const f64 n = activate_exact(activation::softplus, f64(a.alpha_n)) + beta;
  return x > 0.0 ? p * x * x + beta * x : (std::expm1(x < eps ? x : eps) - x) * n + beta * x;
}

/// act(gate) * up within the activation's limits.
inline f64 gated_exact(const activation_args& a, f64 gate, f64 up) noexcept {
  const f64 limit = a.limit != 0.0f ? f64(a.limit) : std::numeric_limits<f64>::infinity();
  const f64 u = up > limit ? limit : up < -limit ? -limit : up;
  if (a.kind == activation::swiglu_oai) return activate_exact(a, gate > limit ? limit : gate) * (u + 1.0);
  const f64 g = activate_exact(a, gate);
  return (g > limit ? limit : g) * u;
}

/// The weight of expert e before normalisation, and what it is chosen by. For softmax `top` is the largest logit.
inline f64 router_weight(const route_args& a, f64 logit, f64 top, f64 sum) {
  switch (a.kind) {
    case gating::softmax: return std::exp(logit - top) / sum;
    case gating::sigmoid: return activate_exact(activation::sigmoid, logit);
    case gating::softmax_chosen: return logit;
    case gating::sqrt_softplus: return std::sqrt(activate_exact(activation::softplus, logit));
  }
  return logit;
}

/// Whether the group of expert e is among the n_groups_used best, by the sum of a group's two best ranks.
template <class F>
bool eligible_expert(const route_args& a, u32 e, F&& rank_of) {
  if (a.n_groups <= 1) return true;
  const u32 size = a.n_expert / a.n_groups, mine = e / size;
  auto score = [&](u32 g) {
    f64 first = -std::numeric_limits<f64>::infinity(), second = first;
    for (u32 i = g * size; i < (g + 1) * size; ++i) {
      const f64 r = rank_of(i);
      if (r > first) second = first, first = r;
      else if (r > second) second = r;
    }
    return size > 1 ? first + second : first;
  };
  u32 better = 0;
  for (u32 g = 0; g < a.n_groups; ++g) better += score(g) > score(mine) || (score(g) == score(mine) && g < mine);
  return better < a.n_groups_used;
}

/// What the router's logits of one token say of its experts: the weight of each before normalisation.
class expert_weights {
 public:
  expert_weights(const route_args& a, const f32* logits) noexcept : a_(a), logits_(logits), top_(f64(logits[0])) {
    for (u32 e = 1; e < a.n_expert; ++e) top_ = f64(logits[e]) > top_ ? f64(logits[e]) : top_;
    for (u32 e = 0; e < a.n_expert; ++e) sum_ += std::exp(f64(logits[e]) - top_);
  }
  f64 operator[](u32 e) const noexcept { return router_weight(a_, f64(logits_[e]), top_, sum_); }

  /// The final weights of the chosen experts, whose ids are divided by per_group before. ids and weights: [n_used].
  void finish(i32* ids, f32* weights) const noexcept {
    f64 total = 0.0;
    for (u32 j = 0; j < a_.n_used; ++j) {
      ids[j] /= static_cast<i32>(a_.per_group);
      const f64 w = (*this)[static_cast<u32>(ids[j])];
      weights[j] = static_cast<f32>(a_.kind == gating::softmax_chosen ? std::exp(w - top_) : w);
      total += f64(weights[j]);
    }
    constexpr f64 least = 6.103515625e-5;  // as the models' own code: keeps tiny sums from blowing up
    const bool divide = a_.normalize || a_.kind == gating::softmax_chosen;
    const f64 factor = f64(a_.scale) / (!divide ? 1.0 : total < least && a_.normalize ? least : total);
    for (u32 j = 0; j < a_.n_used; ++j) weights[j] = static_cast<f32>(f64(weights[j]) * factor);
  }

 private:
  const route_args& a_;
  const f32* logits_;
  f64 top_, sum_ = 0.0;
};

/// The n_used best eligible experts of one token (the lower id on a tie) and their weights; see route_args.
/// logits: [n_expert], ids and weights: [n_used].
inline void route_token(const route_args& a, const f32* logits, i32* ids, f32* weights) noexcept {
  const expert_weights all(a, logits);
  auto rank_of = [&](u32 e) { return all[e] + (a.bias ? f64(a.bias.floats()[e]) : 0.0); };
  for (u32 j = 0; j < a.n_used; ++j) {
    u32 best = a.n_expert;
    for (u32 e = 0; e < a.n_expert; ++e) {
      bool free = eligible_expert(a, e, rank_of);
      for (u32 i = 0; i < j; ++i) free = free && ids[i] != static_cast<i32>(e);
      if (free && (best == a.n_expert || rank_of(e) > rank_of(best))) best = e;
    }
    ids[j] = static_cast<i32>(best);
  }
  all.finish(ids, weights);
}

/// The experts that a table [n_used, n_vocab] i32 has for one token, and their weights.
inline void route_by_table(const route_args& a, const f32* logits, const weight& table, i32 token, i32* ids,
                           f32* weights) noexcept {
  std::memcpy(ids, table.data + u64{static_cast<u32>(token)} * a.n_used * sizeof(i32), a.n_used * sizeof(i32));
  expert_weights(a, logits).finish(ids, weights);
}

}  // namespace jig
