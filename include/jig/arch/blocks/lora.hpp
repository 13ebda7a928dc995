#pragma once
// Low-rank adapters (LoRA, https://arxiv.org/abs/2106.09685) that lie in the model's file, stacked, for tokens that
// each take one of them: y = W n + B[i] A[i] n. That is a mixture of experts without activation, one for each token.

#include "jig/arch/blocks/norm.hpp"

namespace jig {

namespace t {
/// The two halves of the adapters of a matrix.
template <fixed_name Matrix>
inline constexpr tensor_tag<Matrix + fixed_name(".lora_a")> lora_a{};
template <fixed_name Matrix>
inline constexpr tensor_tag<Matrix + fixed_name(".lora_b")> lora_b{};
}  // namespace t

namespace d {
constexpr u64 lora_adapter(const hparams& hp, u32) { return hp.n_lora_adapter; }
/// The first is no adapter: its numbers are 0.
constexpr u64 adapters(const hparams& hp, u32) { return u64{hp.n_adapters} + 1; }
}  // namespace d

namespace tensors {
/// The adapters of a matrix [in, out].
template <fixed_name Matrix>
constexpr std::array<tensor_row, 2> lora(tensor_tag<Matrix>, dim_fn in, dim_fn out) {
  tensor_row a = unscaled({t::lora_a<Matrix>.name, {in, d::lora_adapter, d::adapters}});
  tensor_row b = unscaled({t::lora_b<Matrix>.name, {d::lora_adapter, out, d::adapters}});
  a.ending = b.ending = "";
  return {a, b};
}
}  // namespace tensors

/// y += B[i] A[i] n with the adapters of a matrix; i is the largest of a token's `scores` [tokens, adapters + 1].
template <fixed_name Matrix, class X, class M>
constexpr void add_lora(X& x, const M& m, u32 il, tensor_tag<Matrix>, const mat& n, const mat& scores, const mat& y) {
  const value delta = x.experts(n, scores, {}, m.get(t::lora_a<Matrix>, il), m.get(t::lora_b<Matrix>, il),
                                activation::none, {.n_expert = scores.cols, .n_used = 1});
  x.add(y, delta);
}

/// The product of n with a matrix and its adapters: [tokens, out].
template <fixed_name Matrix, class X, class M>
constexpr value lora_matmul(X& x, const M& m, u32 il, tensor_tag<Matrix> matrix, const mat& n, const mat& scores) {
  value y = x.matmul(n, m.get(matrix, il));
  add_lora(x, m, il, matrix, n, scores, y);
  return y;
}

}  // namespace jig
