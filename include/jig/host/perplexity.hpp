#pragma once
// How well a model predicts a text, in the field's way: the text's tokens in chunks of one context each, every chunk
// computed on its own, the second half of it scored.
//
//   JIG_TRY(auto scorer, chunk_scorer<model>::make(m, {.context = 512}));
//   mean_of losses;
//   JIG_CHECK(scorer.run(ids, [&](std::span<const f32> logits, i32 next, u32) { losses.add(loss(logits, next)); }));
//   f64 perplexity = std::exp(losses.mean());

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "jig/host/session.hpp"

namespace jig::host {

/// The mean of numbers that are added one by one, and how sure it is.
class mean_of {
 public:
  void add(f64 v) noexcept { sum_ += v, squares_ += v * v, ++n_; }
  u64 count() const noexcept { return n_; }
  /// 0 without numbers.
  f64 mean() const noexcept { return n_ == 0 ? 0.0 : sum_ / static_cast<f64>(n_); }
  /// Standard error of the mean; 0 below two numbers.
  f64 error() const noexcept {
    if (n_ < 2) return 0.0;
    const f64 variance = squares_ / static_cast<f64>(n_) - mean() * mean();
    return variance > 0.0 ? std::sqrt(variance / static_cast<f64>(n_ - 1)) : 0.0;
  }

 private:
  f64 sum_ = 0.0, squares_ = 0.0;
  u64 n_ = 0;
};

/// log of the sum of e^logit.
inline f64 log_sum(std::span<const f32> logits) noexcept {
  const f64 most = *std::max_element(logits.begin(), logits.end());
  f64 sum = 0.0;
  for (f32 v : logits) sum += std::exp(static_cast<f64>(v) - most);
  return most + std::log(sum);
}

/// -ln p(token).
inline f64 loss(std::span<const f32> logits, i32 token) noexcept {
  return log_sum(logits) - static_cast<f64>(logits[static_cast<usize>(token)]);
}

/// Where scoring begins in a chunk: tokens behind this one are predicted from enough context.
constexpr u32 scored_from(u32 context) noexcept { return context / 2; }
/// Tokens that a chunk scores: those behind the first half.
constexpr u32 scored_tokens(u32 context) noexcept { return context - 1 - scored_from(context); }

struct scoring_options {
  u32 context = 512;  ///< tokens of a chunk
  u32 kv_type = 1;    ///< see session_options
  u32 batch = 512;    ///< tokens that are computed together
};

/// Computes chunks with a loaded model, which must outlive it. Move-only.
template <class Model>
class chunk_scorer {
 public:
  /// Errors: those of text_session::make; bad_argument (a context below 4), not_supported (encoders).
  static result<chunk_scorer> make(const loaded<Model>& m, const scoring_options& o) {
    if (o.context < 4) return fail(errc::bad_argument, "context").got(o.context);
    if (!m.hp().causal || m.encodes_source()) return fail(errc::not_supported, "perplexity of an encoder");
    constexpr u64 floats = u64{1} << 24;  // of logits at once
    const u32 rows = static_cast<u32>(std::clamp<u64>(floats / std::max(m.hp().n_vocab, 1u), 1, o.batch));
    const session_options s{.context = o.context, .batch = o.batch, .kv_type = o.kv_type, .outputs = rows};
    JIG_TRY(auto session, text_session<Model>::make(m, s));
    return chunk_scorer(std::move(session), o, rows);
  }

  /// One chunk of `context` tokens: f(logits, next token, index) for each scored one, in order; the logits are valid
  /// during the call. A vocabulary that puts a BOS in front of texts has it in place of the chunk's first token.
  /// Errors: those of session::decode; bad_argument (another number of tokens).
  template <class F>
  result<void> run(std::span<const i32> chunk, F&& f) {
    if (chunk.size() != options_.context) return fail(errc::bad_argument, "chunk").got(chunk.size());
    JIG_CHECK(session_.core().truncate(0, 0));
    const auto& vocabulary = session_.model().vocabulary().view();
    const u32 first = scored_from(options_.context);
    for (u32 at = 0; at + 1 < options_.context;) {
      // all before the first scored token, then as many as there is room for logits
      const u32 end = at < first ? std::min(first, at + options_.batch) : std::min(options_.context - 1, at + rows_);
      items_.clear();
      for (u32 i = at; i < end; ++i) items_.push_back({chunk[i], 0, at >= first});
      if (at == 0 && vocabulary.flags.add_bos) items_[0].token = vocabulary.ids.bos;
      JIG_TRY(const mat logits, session_.decode(items_));
      for (u32 i = at; at >= first && i < end; ++i)
        f(std::span<const f32>(logits.row(i - at), logits.cols), chunk[i + 1], i - first);
      at = end;
    }
    return {};
  }

 private:
  chunk_scorer(text_session<Model> s, const scoring_options& o, u32 rows)
      : session_(std::move(s)), options_(o), rows_(rows) {}

  text_session<Model> session_;
  scoring_options options_;
  u32 rows_;
  std::vector<batch_item> items_;
};

}  // namespace jig::host
