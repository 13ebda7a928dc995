#pragma once
// What a model gives in place of logits: hidden states, one vector per sequence made of them (pooling), or the scores
// of a classification head, as rerankers do. Which of them is said by the batch.

#include "jig/arch/blocks/norm.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"enc.output_norm"> enc_output_norm{};
inline constexpr tensor_tag<"dec.output_norm"> dec_output_norm{};
inline constexpr tensor_tag<"cls.norm"> cls_norm{};
inline constexpr tensor_tag<"dense_2"> dense_2{};
inline constexpr tensor_tag<"dense_3"> dense_3{};
}  // namespace t

namespace d {
constexpr u64 labels(const hparams& hp, u32) { return hp.n_labels; }
constexpr u64 dense_2(const hparams& hp, u32) { return hp.dense_2_out; }
constexpr u64 dense_3(const hparams& hp, u32) { return hp.dense_3_in; }
constexpr bool has_dense_2(const hparams& hp, u32) { return hp.dense_2_out != 0; }
constexpr bool has_dense_3(const hparams& hp, u32) { return hp.dense_3_in != 0; }
}  // namespace d

namespace keys {
/// Names of a classification head's outputs; only their number matters.
inline constexpr std::array labels = {
    key_row{"classifier.output_labels", counted{&hparams::n_labels}, need::optional, 1, 1 << 20},
};
}  // namespace keys

namespace tensors {
/// A head that scores sequences: one matrix, or two with an activation between.
inline constexpr std::array classifier = {
    tensor_row{"cls", {d::embd, d::embd}, bias::optional, need::optional},
    tensor_row{"cls.output", {d::embd, d::labels}, bias::optional, need::optional},
};
}  // namespace tensors

/// Whether the architecture has an output matrix at all.
template <class M>
inline constexpr bool gives_logits = !requires { M::architecture::encodes; };

/// The norm behind the last layer, where there is one.
template <class X, class M>
constexpr value final_norm(X& x, const decoder_spec& spec, const M& m, value h) {
  linear w = m.get(t::output_norm);
  if (const linear enc = m.get(t::enc_output_norm)) w = enc;
  if (const linear dec = m.get(t::dec_output_norm)) w = dec;
  if (spec.embedding_norm_last) w = m.get(t::token_embd_norm);
  if (w || spec.norm_without_weight) h = normed(x, spec, m.hp(), h, w);
  x.name("result_norm", 0, h);
  return h;
}

/// Hidden state [n_tokens, n_embd] of all tokens -> what the batch asks for: [n_outputs, n_embd or n_labels].
template <class X, class M>
constexpr value states(X& x, const decoder_spec& spec, const M& m, const batch& b, value h) {
  const bool scores = b.pool == pooling::rank;
  const bool average = b.pool == pooling::mean || (scores && spec.scores_average);
  if (!average) h = x.outputs(h, b);
  h = final_norm(x, spec, m, std::move(h));
  if (average) h = x.average(h, b);
  if (!scores) {
    if (const linear w = m.get(t::dense_2)) h = x.matmul(h, w);
    if (const linear w = m.get(t::dense_3)) h = x.matmul(h, w);
    return h;
  }
  if (const linear w = m.get(t::cls)) {
    h = x.matmul(h, w);
    x.activate(h, spec.score_activation);
    if (const weight n = m.get(t::cls_norm).w) x.norm_inplace(h, {norm_kind::layer, m.hp().norm_eps, h.cols(), n});
  }
  if (const linear w = m.get(t::cls_output)) h = x.matmul(h, w);
  return h;
}

}  // namespace jig
