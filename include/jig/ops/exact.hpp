#pragma once
// Activations and expert routing in double precision, by their definitions: the reference computes with them, and fast
// kernels fall back on them for what is rare.

#include <cmath>
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

/// The n_used best eligible experts of one token (the lower id on a tie) and their weights; see route_args.
/// logits: [n_expert], ids and weights: [n_used].
inline void route_token(const route_args& a, const f32* logits, i32* ids, f32* weights) noexcept {
  f64 top = f64(logits[0]), sum = 0.0;
  for (u32 e = 1; e < a.n_expert; ++e) top = f64(logits[e]) > top ? f64(logits[e]) : top;
  for (u32 e = 0; e < a.n_expert; ++e) sum += std::exp(f64(logits[e]) - top);
  auto weight_of = [&](u32 e) { return router_weight(a, f64(logits[e]), top, sum); };
  auto rank_of = [&](u32 e) { return weight_of(e) + (a.bias ? f64(a.bias.floats()[e]) : 0.0); };

  f64 total = 0.0;
  for (u32 j = 0; j < a.n_used; ++j) {
    u32 best = a.n_expert;
    for (u32 e = 0; e < a.n_expert; ++e) {
      bool free = eligible_expert(a, e, rank_of);
      for (u32 i = 0; i < j; ++i) free = free && ids[i] != static_cast<i32>(e);
      if (free && (best == a.n_expert || rank_of(e) > rank_of(best))) best = e;
    }
    ids[j] = static_cast<i32>(best);
  }
  for (u32 j = 0; j < a.n_used; ++j) {
    ids[j] /= static_cast<i32>(a.per_group);
    const f64 w = weight_of(static_cast<u32>(ids[j]));
    weights[j] = static_cast<f32>(a.kind == gating::softmax_chosen ? std::exp(w - top) : w);
    total += f64(weights[j]);
  }
  constexpr f64 least = 6.103515625e-5;  // as the models' own code: keeps tiny sums from blowing up
  const bool divide = a.normalize || a.kind == gating::softmax_chosen;
  const f64 factor = f64(a.scale) / (!divide ? 1.0 : total < least && a.normalize ? least : total);
  for (u32 j = 0; j < a.n_used; ++j) weights[j] = static_cast<f32>(f64(weights[j]) * factor);
}

}  // namespace jig
