#pragma once
// Text generation: a prompt goes in, pieces of whole characters come out, whatever ends it.
//
//   generation g = s.generate("Once upon a time", {.max_tokens = 100});
//   for (std::string_view piece : g) show(piece);
//   if (g.reason() == stop_reason::failed) report(g.failure());

#include <atomic>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "jig/host/random_seed.hpp"
#include "jig/host/session.hpp"
#include "jig/text/stream.hpp"

namespace jig::host {

enum class stop_reason : u8 {
  running,
  end_of_text,   ///< the model ended the text
  length,        ///< max_tokens were generated
  context_full,  ///< no room for another token
  cancelled,     ///< generate_options::cancel became true
  failed,        ///< see failure()
};

struct generate_options {
  sample::params sampling = {};
  u32 max_tokens = ~u32{0};
  bool parse_special = false;                   ///< control tokens in the prompt's text are tokens
  bool context_shift = false;  ///< a full context forgets half of its tokens, but for the first `keep`, and goes on
  u32 keep = 0;                ///< at most the prompt
  const std::atomic<bool>* cancel = nullptr;    ///< ends prompt and generation when it becomes true
};

/// What a generation did so far, for reports.
struct generation_stats {
  u32 prompt_tokens = 0, generated_tokens = 0;
  u32 generate_decodes = 0;  ///< passes through the model after the prompt: usually one less than tokens
  f64 prompt_seconds = 0.0, generate_seconds = 0.0, sample_seconds = 0.0;
};

/// A running generation: a range of pieces of text, each whole UTF-8 characters. Nothing that was generated is lost,
/// whatever ends it: characters that are held back come as a last piece, and the session keeps the last token.
template <class Model>
class generation {
 public:
  generation(text_session<Model>& s, std::string_view prompt, const generate_options& o)
      : session_(s), options_(o), sampler_(with_seed(o.sampling)),
        text_(s.model().vocabulary().view(), {.continues = true}) {
    const bool anew = s.core().length(0) == 0 || s.model().encodes_source();
    auto ids =
        s.model().vocabulary().tokenize(prompt, {.add_special = anew, .parse_special = o.parse_special});
    if (!ids) {
      fail_with(ids.error());
      return;
    }
    prompt_ = *std::move(ids);
    if (const i32* last = s.pending(); last && !anew) prompt_.insert(prompt_.begin(), *last);
    if (prompt_.empty()) fail_with(fail(errc::bad_argument, "the prompt is empty"));
  }

  generation(const generation&) = delete;
  generation& operator=(const generation&) = delete;
  /// Ending it early loses nothing but held-back characters: the session goes on behind the last token.
  ~generation() {
    if (reason_ == stop_reason::running) keep_last();
  }

  /// Computes until there is text to show; false at the end. The text is piece().
  bool advance() {
    piece_.clear();
    while (piece_.empty() && reason_ == stop_reason::running) step();
    return !piece_.empty();
  }
  std::string_view piece() const noexcept { return piece_; }
  stop_reason reason() const noexcept { return reason_; }
  const error& failure() const noexcept { return failure_; }
  const generation_stats& stats() const noexcept { return stats_; }
  /// What is fed first: the last token of the generation before, if there was one, and the prompt.
  std::span<const i32> prompt_ids() const noexcept { return prompt_; }
  std::span<const i32> ids() const noexcept { return ids_; }  ///< generated so far
  u32 seed() const noexcept { return seed_; }                 ///< repeats this generation

  class iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    explicit iterator(generation* g) : g_(g) { ++*this; }
    std::string_view operator*() const noexcept { return g_->piece(); }
    iterator& operator++() {
      if (!g_->advance()) g_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return g_ == nullptr; }

   private:
    generation* g_;
  };
  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  using clock = std::chrono::steady_clock;

  sample::params with_seed(sample::params p) noexcept {
    p.seed = seed_ = resolve_seed(p.seed);
    return p;
  }

  /// Computes the logits of the last token, draws the next one and turns it into text.
  void step() {
    if (options_.cancel != nullptr && *options_.cancel) return stop(stop_reason::cancelled);
    const bool first = !started_;
    started_ = true;
    if (!first && ids_.size() >= options_.max_tokens) return stop(stop_reason::length);
    const clock::time_point start = clock::now();
    const auto logits = first ? feed_prompt() : feed_last();
    const f64 seconds = std::chrono::duration<f64>(clock::now() - start).count();
    if (!logits) return stop_with(logits.error(), first);
    fed_ = ids_.size();
    (first ? stats_.prompt_seconds : stats_.generate_seconds) += seconds;
    if (first) stats_.prompt_tokens = static_cast<u32>(prompt_.size());
    else ++stats_.generate_decodes;
    if (options_.max_tokens == 0) return stop(stop_reason::length);
    draw(*logits);
  }

  result<mat> feed_prompt() {
    for (i32 id : prompt_) sampler_.accept(id);
    if (session_.model().encodes_source()) return session_.feed_source(prompt_);
    return session_.feed(prompt_, 0, options_.cancel);
  }

  result<mat> feed_last() {
    const std::span<const i32> last(&ids_.back(), 1);
    result<mat> logits = session_.feed(last);
    if (logits || logits.error().code != errc::context_full || !options_.context_shift) return logits;
    const u32 length = session_.core().length(0), source = session_.core().paged().source(0);
    const u32 keep = std::max(source, std::min(options_.keep, static_cast<u32>(prompt_.size())));
    if (keep + 1 >= length) return logits;
    JIG_CHECK(session_.shift(keep, (length - keep) / 2));
    return session_.feed(last);
  }

  void draw(const mat& logits) {
    const clock::time_point start = clock::now();
    const auto id = session_.pick(sampler_, logits);
    stats_.sample_seconds += std::chrono::duration<f64>(clock::now() - start).count();
    if (!id) return fail_with(id.error());
    sampler_.accept(*id);
    if (session_.model().vocabulary().view().is_end_of_generation(*id)) return stop(stop_reason::end_of_text);
    ids_.push_back(*id);
    ++stats_.generated_tokens;
    const auto shown = text_.push(*id, [this](std::string_view s) { piece_ += s; });
    if (!shown) fail_with(shown.error());
  }

  void stop(stop_reason why) {
    reason_ = why;
    text_.finish([this](std::string_view s) { piece_ += s; });
    keep_last();
  }
  void keep_last() noexcept {
    if (fed_ < ids_.size()) session_.set_pending(ids_.back());
  }
  void stop_with(const error& e, bool first) {
    if (e.code == errc::cancelled) return stop(stop_reason::cancelled);
    if (e.code == errc::context_full && !first) return stop(stop_reason::context_full);
    fail_with(e);
  }
  void fail_with(const error& e) {
    failure_ = e;
    stop(stop_reason::failed);
  }

  text_session<Model>& session_;
  generate_options options_;
  u32 seed_ = 0;
  sample::sampler sampler_;
  text_stream text_;
  std::vector<i32> prompt_, ids_;
  std::string piece_;
  usize fed_ = 0;  ///< generated tokens that are in the session's memory
  bool started_ = false;
  stop_reason reason_ = stop_reason::running;
  error failure_ = {};
  generation_stats stats_;
};

}  // namespace jig::host
