#pragma once
// Norms of the hidden state and of heads.

#include "jig/arch/blocks/spec.hpp"

namespace jig {

/// The norm of h over all columns, with the weight and bias of w (or none, if the family's norms have none).
template <class X>
constexpr value normed(X& x, const decoder_spec& spec, const hparams& hp, const mat& h, const linear& w) {
  return x.norm(h, {.kind = spec.norm, .eps = hp.norm_eps, .group = h.cols, .w = w.w, .b = w.bias});
}

/// Normalises v in place if w is there: over groups as wide as w's rows, so that the weight's shape says whether heads
/// are normalised one by one ([dim]), with weights of their own ([dim, heads] or [1, heads]) or all together
/// ([heads * dim]).
template <class X>
constexpr void norm_heads(X& x, const decoder_spec& spec, const hparams& hp, const mat& v, const linear& w) {
  const f32 eps = hp.qk_norm_eps != 0.0f ? hp.qk_norm_eps : hp.norm_eps;
  const u32 group = w.w.cols == 1 ? hp.dim_k : w.w.cols;
  if (w) x.norm_inplace(v, {.kind = spec.qk_norm, .eps = eps, .group = group, .w = w.w, .b = w.bias});
}

}  // namespace jig
