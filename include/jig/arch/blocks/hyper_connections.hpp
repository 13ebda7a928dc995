#pragma once
// Hyper connections (https://arxiv.org/abs/2409.19606): several hidden states side by side, the streams. A branch reads
// a mixture of them, and what it gives is added to each stream with a weight of that stream's own. How these weights
// follow from the streams differs between families; here are the streams, and the connections of DeepSeek V4, which
// also mix the streams among each other (mHC, https://arxiv.org/abs/2512.24880).

#include "jig/arch/blocks/norm.hpp"

namespace jig {

namespace d {
constexpr u64 streams(const hparams& hp, u32) { return hp.n_streams; }
constexpr u64 all_streams(const hparams& hp, u32) { return u64{hp.n_streams} * hp.n_embd; }
constexpr u64 connections(const hparams& hp, u32) { return u64{hp.n_streams} * (hp.n_streams + 2); }
constexpr u64 three(const hparams&, u32) { return 3; }
}  // namespace d

/// The names of a connection's tensors.
template <fixed_name Prefix>
struct connection_tags {
  static constexpr tensor_tag<Prefix + fixed_name("_fn")> fn{};
  static constexpr tensor_tag<Prefix + fixed_name("_base")> base{};
  static constexpr tensor_tag<Prefix + fixed_name("_scale")> scale{};
};

namespace tensors {
/// The connection of a branch, or (not all) of the mixture behind the last layer.
template <class Tags>
constexpr std::array<tensor_row, 3> connection(bool all = true) {
  const dim_fn width = all ? d::connections : d::streams;
  return {tensor_row{Tags::fn.name, {d::all_streams, width}}, tensor_row{Tags::base.name, {width}},
          tensor_row{Tags::scale.name, {all ? d::three : d::one}}};
}
}  // namespace tensors

/// The streams of a batch's tokens.
template <class X>
class hyper_streams {
 public:
  /// n copies of h [tokens, n_embd].
  constexpr hyper_streams(X& x, const mat& h, u32 n) : x_(x), n_(n) {
    const value ones = x.make(h.rows, n);
    x.fill(ones, 1.0f);
    each_ = x.expand(h, ones);
  }

  /// Each stream of each token as a row: [tokens * n, n_embd].
  constexpr mat each() const noexcept { return each_; }
  /// All streams of a token as one row: [tokens, n * n_embd].
  constexpr mat all() const noexcept {
    const mat e = each_;
    return {e.data, e.rows / n_, e.cols * n_, e.cols * n_};
  }

  /// The streams of each token added up: weights [tokens, n] -> [tokens, n_embd].
  constexpr value sum(const mat& weights) const { return x_.combine(each_, weights); }

  /// Stream s += weights[s] * y, for y [tokens, n_embd] and weights [tokens, n].
  constexpr void add(const mat& y, const mat& weights) {
    const value parts = x_.expand(y, weights);
    x_.add(each_, parts);
  }

  /// Every stream becomes a sum of all: weights [tokens, n * n], the n of the first new stream in front.
  constexpr void mix(const mat& weights) {
    hyper_streams old(x_, n_, std::move(each_));
    each_ = x_.make(old.each_.rows(), old.each_.cols());
    const u32 width = each_.cols();
    for (u32 s = 0; s < n_; ++s)
      x_.combine(old.each_, weights.columns(s * n_, n_), all().columns(s * width, width));
  }

 private:
  constexpr hyper_streams(X& x, u32 n, value each) noexcept : x_(x), n_(n), each_(std::move(each)) {}

  X& x_;
  u32 n_;
  value each_;
};

/// The norm of each stream by itself, with weights of its own in w [n * n_embd].
constexpr norm_args norm_of_streams(const hparams& hp, weight w) noexcept {
  w.rows = hp.n_streams, w.cols = hp.n_embd;
  return {.eps = hp.norm_eps, .group = hp.n_embd, .w = w};
}

/// How a branch is connected: a matrix that reads all streams, and for each group of what it gives a scale and biases.
/// The groups are n weights of what the branch reads, then n of what it writes and n * n of the streams for each other.
struct connection {
  linear fn;
  weight scale, base;
};
template <class Tags, class M>
constexpr connection connection_of(const M& m, u32 il) noexcept {
  return {m.get(Tags::fn, il), m.get(Tags::scale, il).w, m.get(Tags::base, il).w};
}

/// What brings a branch's result back into the streams.
struct stream_weights {
  value result;  ///< its weight in each stream: [tokens, n]
  value among;   ///< the weights of the streams in each: [tokens, n * n], see hyper_streams::mix
};

/// The mixture that a branch reads: [tokens, n_embd]. `back` gets what write_branch needs; it is null behind the last
/// layer, where nothing is written.
template <class X>
constexpr value read_branch(X& x, const hparams& hp, const hyper_streams<X>& streams, const connection& c,
                            stream_weights* back) {
  const u32 n = hp.n_streams;
  value mixes;
  {
    const value unit = x.norm(streams.all(), {.eps = hp.norm_eps, .group = streams.all().cols});
    mixes = x.matmul(unit, c.fn);
  }
  const mat scale = row_of(c.scale, mixes.rows()), base = row_of(c.base, mixes.rows());
  const auto group = [&](u32 g, u32 width) {
    value v = x.make(mixes.rows(), width);
    x.copy(v, mixes.columns(g * n, width));
    x.multiply(v, scale.columns(g, 1));
    x.add(v, base.columns(g * n, width));
    return v;
  };
  const value from = group(0, n), eps = x.make(mixes.rows(), n);
  x.activate(from, activation::sigmoid);
  x.fill(eps, hp.connection_eps);
  x.add(from, eps);
  if (back != nullptr) {
    back->result = group(1, n);
    x.activate(back->result, activation::sigmoid);
    x.scale(back->result, 2.0f);
    const value scores = group(2, n * n);
    back->among = x.sinkhorn(scores, {n, hp.sinkhorn_iterations, hp.connection_eps});
  }
  return streams.sum(from);
}

/// Brings a branch's result y [tokens, n_embd] into the streams.
template <class X>
constexpr void write_branch(hyper_streams<X>& streams, const mat& y, const stream_weights& w) {
  streams.mix(w.among);
  streams.add(y, w.result);
}

}  // namespace jig
