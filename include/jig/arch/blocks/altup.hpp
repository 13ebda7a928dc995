#pragma once
// Alternating updates (AltUp, https://arxiv.org/abs/2301.13310): a hidden state n_altup times as wide as a layer, in
// parts of n_embd. A layer predicts all parts, computes one of them and corrects all by what it found.
//
// spread -> for each layer: predict, the layer on the first part, correct -> gather

#include "jig/arch/blocks/norm.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"altup_proj"> altup_spread{};
inline constexpr tensor_tag<"altup_unembd_proj"> altup_gather{};
inline constexpr tensor_tag<"blk.{}.altup_predict_coef"> altup_predict{};
inline constexpr tensor_tag<"blk.{}.altup_correct_coef"> altup_correct{};
inline constexpr tensor_tag<"blk.{}.altup_correct_scale"> altup_scale{};
inline constexpr tensor_tag<"blk.{}.altup_router"> altup_router{};
inline constexpr tensor_tag<"blk.{}.altup_router_norm"> altup_router_norm{};
}  // namespace t

namespace d {
constexpr u64 altup(const hparams& hp, u32) { return hp.n_altup; }
constexpr u64 altup_square(const hparams& hp, u32) { return u64{hp.n_altup} * hp.n_altup; }
constexpr u64 altup_more(const hparams& hp, u32) { return hp.n_altup - 1; }
}  // namespace d

namespace tensors {
inline constexpr std::array altup = {
    tensor_row{t::altup_spread.name, {d::embd, d::embd, d::altup_more}},
    tensor_row{t::altup_gather.name, {d::embd, d::embd, d::altup_more}},
    tensor_row{t::altup_predict.name, {d::altup, d::altup_square}},
    tensor_row{t::altup_correct.name, {d::altup, d::altup}},
    numbers(t::altup_scale.name, {d::embd}),
    tensor_row{t::altup_router.name, {d::embd, d::altup}},
    numbers(t::altup_router_norm.name, {d::embd}),
};
}  // namespace tensors

namespace altup {

/// tanh(router(norm(v) / n_embd)): [tokens, n_altup].
template <class X, class M>
constexpr value modalities(X& x, const M& m, u32 il, const mat& v) {
  const value n = x.norm(v, {.eps = m.hp().norm_eps, .group = v.cols, .w = m.get(t::altup_router_norm, il).w});
  x.scale(n, 1.0f / static_cast<f32>(m.hp().n_embd));
  value r = x.matmul(n, m.get(t::altup_router, il));
  x.activate(r, activation::tanh);
  return r;
}

/// The parts of v behind the first, each through its own of the stacked matrices, then made as long as the row of
/// `like`: v, result [tokens, (n_altup - 1) * n_embd], like [tokens, n_embd].
template <class X, class M>
constexpr value projected(X& x, const M& m, const linear& stacked, const value& v, const mat& like) {
  const u32 width = m.hp().n_embd, n = m.hp().n_altup - 1;
  const norm_args to_unit{.kind = norm_kind::l2, .eps = 1e-30f, .group = width};
  const value length = x.dot_groups(like, x.norm(like, to_unit), 1);
  value y = x.make(v.rows(), n * width);
  x.matmul_heads(mat(v).heads(n, 0, width), stacked, mat(y).heads(n, 0, width));
  x.norm_inplace(y, to_unit);
  x.multiply(y, length);
  return y;
}

/// The first part is h [tokens, n_embd] itself: [tokens, n_altup * n_embd].
template <class X, class M>
constexpr value spread(X& x, const M& m, const value& h) {
  const u32 width = m.hp().n_embd, more = m.hp().n_altup - 1;
  value all = x.make(h.rows(), m.hp().n_altup * width);
  x.copy(all.columns(0, width), h);
  value others = x.make(h.rows(), more * width);
  for (u32 s = 0; s < more; ++s) x.copy(others.columns(s * width, width), h);
  others = projected(x, m, m.get(t::altup_spread), others, h);
  x.copy(all.columns(width, more * width), others);
  return all;
}

/// The mean of all parts, as long as the first: h [tokens, n_embd].
template <class X, class M>
constexpr void gather(X& x, const M& m, const value& all, const value& h) {
  const u32 width = m.hp().n_embd, more = m.hp().n_altup - 1;
  x.copy(h, all.columns(0, width));
  value others = x.make(h.rows(), more * width);
  x.copy(others, all.columns(width, more * width));
  others = projected(x, m, m.get(t::altup_gather), others, h);
  for (u32 s = 0; s < more; ++s) x.add(h, others.columns(s * width, width));
  x.scale(h, 1.0f / static_cast<f32>(m.hp().n_altup));
}

/// Every part plus a mixture of all, by coefficients of the first: all, result [tokens, n_altup * n_embd].
template <class X, class M>
constexpr value predict(X& x, const M& m, u32 il, const value& all) {
  const u32 width = m.hp().n_embd, n = m.hp().n_altup;
  value predicted = x.make(all.rows(), n * width);
  const value mode = modalities(x, m, il, all.columns(0, width));
  const value coefficients = x.matmul(mode, m.get(t::altup_predict, il));
  for (u32 s = 0; s < n; ++s) {
    const value y = x.combine(mat(all).heads(n, 0, width), coefficients.columns(s * n, n));
    x.add(y, all.columns(s * width, width));
    x.copy(predicted.columns(s * width, width), y);
  }
  return predicted;
}

/// What the layer found beyond its prediction is added to every part of `predicted`, by coefficients of what it found:
/// y [tokens, n_embd], which gets the first part, scaled for the branch behind.
template <class X, class M>
constexpr void correct(X& x, const M& m, u32 il, const value& predicted, const value& y) {
  const u32 width = m.hp().n_embd;
  const value mode = modalities(x, m, il, y);
  const value coefficients = x.matmul(mode, m.get(t::altup_correct, il));
  x.add(y, predicted.columns(0, width), -1.0f);
  for (u32 s = 0; s < m.hp().n_altup; ++s) {
    const value part = x.make(y.rows(), width);
    x.copy(part, y);
    x.multiply(part, coefficients.columns(s, 1));
    x.add(part, y);
    x.add(predicted.columns(s * width, width), part);
  }
  x.copy(y, predicted.columns(0, width));
  x.multiply(y, row_of(m.get(t::altup_scale, il).w, y.rows()));
}

}  // namespace altup
}  // namespace jig
