#pragma once
// Attention residuals (https://arxiv.org/abs/2603.15031): in place of one residual stream, one for every block of
// layers. What a branch reads is a mixture of all streams, by attention over the depth; what it gives is added to the
// last one.

#include "jig/arch/blocks/norm.hpp"

namespace jig {

/// v = softmax of v, row by row. The logarithm of the sum grows column by column, so that no exponential overflows.
template <class X>
constexpr void softmax(X& x, const mat& v) {
  const value total = x.make(v.rows, 1), next = x.make(v.rows, 1);
  x.copy(total, v.columns(0, 1));
  for (u32 c = 1; c < v.cols; ++c) {  // log(e^a + e^b) = a + softplus(b - a)
    x.copy(next, v.columns(c, 1));
    x.add(next, total, -1.0f);
    x.activate(next, activation::softplus);
    x.add(total, next);
  }
  for (u32 c = 0; c < v.cols; ++c) x.add(v.columns(c, 1), total, -1.0f);
  x.activate(v, activation::exp);
}

/// The streams of the blocks up to now.
template <class X>
class residual_streams {
 public:
  /// The first stream is the embedding h [tokens, n_embd], which no layer adds to.
  constexpr residual_streams(X& x, value h) noexcept : x_(x), width_(h.cols()), all_(std::move(h)) {}

  /// The stream of the current block: [tokens, n_embd].
  constexpr mat last() const noexcept { return all_.columns(all_.cols() - width_, width_); }

  /// Begins a block: its stream is 0.
  constexpr void begin() {
    value wider = x_.make(all_.rows(), all_.cols() + width_);
    x_.copy(wider.columns(0, all_.cols()), all_);
    all_ = std::move(wider);
    x_.fill(last(), 0.0f);
  }

  /// The streams weighed by softmax over w * norm(stream): [tokens, n_embd].
  constexpr value mixed(const weight& w, f32 eps) const {
    const u32 n = all_.cols() / width_;
    const mat each = mat(all_).heads(n, 0, width_);
    const value unit = x_.norm(each, {.eps = eps, .group = width_});
    const value scores = x_.dot_groups(unit, row_of(w, each.rows), 1);
    const mat by_token = {mat(scores).data, all_.rows(), n, n};
    softmax(x_, by_token);
    return x_.combine(each, by_token);
  }

 private:
  X& x_;
  u32 width_;
  value all_;  ///< [tokens, streams * n_embd]
};

}  // namespace jig
