#pragma once
// Text generation with a loaded model: one session owns its memory, takes prompts and streams continuations.
//
//   JIG_TRY(auto s, text_session<model>::make(m, {.context = 4096}));
//   generation g = s.generate("Once upon a time", {.max_tokens = 100});
//   for (std::string_view piece : g) show(piece);
//   if (g.reason() == stop_reason::failed) report(g.failure());

#include <atomic>
#include <chrono>
#include <optional>

#include "jig/host/aligned.hpp"
#include "jig/host/model.hpp"
#include "jig/host/random_seed.hpp"
#include "jig/sample/sampler.hpp"
#include "jig/text/stream.hpp"

namespace jig::host {

/// How large a session may become; see session_config.
struct session_options {
  u32 context = 0;   ///< tokens; 0: what the model was trained for
  u32 batch = 512;   ///< prompt tokens that are computed together
  u32 kv_type = 1;   ///< GGUF type id of the key/value memory: f32 0, f16 1, bf16 30, q8_0 8
  u32 outputs = 1;   ///< logit rows of one decode
  u32 sequences = 1;
};

/// The core's configuration for these options and this model.
inline session_config make_config(const session_options& o, const hparams& hp) noexcept {
  session_config c;
  c.context = o.context ? o.context : hp.n_ctx_train;
  c.sequences = o.sequences;
  c.batch = o.batch < c.context ? o.batch : c.context;
  c.outputs = o.outputs < c.batch ? o.outputs : c.batch;
  c.kv_type = o.kv_type;
  c.page_tokens = c.context < 32 ? c.context : 32;
  return c;
}

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
  const std::atomic<bool>* cancel = nullptr;    ///< ends prompt and generation when it becomes true
};

/// What a generation did so far, for reports.
struct generation_stats {
  u32 prompt_tokens = 0, generated_tokens = 0;
  f64 prompt_seconds = 0.0, generate_seconds = 0.0;
};

template <class Model>
class generation;

/// A session of a loaded model with memory of its own. Move-only.
template <class Model>
class text_session {
 public:
  /// Errors: bad_argument (an option), out_of_memory.
  static result<text_session> make(const loaded<Model>& m, const session_options& options = {}) {
    text_session s(m);
    const session_config c = make_config(options, m.hp());
    const session_plan plan = m.visit(
        [&](const auto& b) { return plan_session<typename Model::kernels>(b, c, m.threads().threads); });
    JIG_TRY(s.activations_, aligned_bytes::make(plan.activation_bytes, "activations"));
    JIG_TRY(s.kv_, aligned_bytes::make(plan.kv_bytes, "key/value memory"));
    s.words_.resize(plan.words);
    s.views_.resize(c.sequences);
    s.candidates_.resize(m.hp().n_vocab);
    JIG_TRY(s.core_, session::make(c, plan, s.activations_.bytes(), s.kv_.bytes(), s.words_, s.views_));
    return s;
  }

  const loaded<Model>& model() const noexcept { return *model_; }
  session& core() noexcept { return core_; }

  /// One batch; see session::decode.
  result<mat> decode(std::span<const batch_item> items) {
    return model_->visit([&](const auto& m) { return core_.decode(kernels_, m, items, model_->threads()); });
  }

  /// Appends tokens to a sequence in batches; logits [1, n_vocab] of the last one. Either all tokens are appended or
  /// none. Errors: those of session::decode, cancelled.
  result<mat> feed(std::span<const i32> tokens, u32 sequence = 0, const std::atomic<bool>* cancel = nullptr) {
    if (tokens.empty()) return fail(errc::bad_argument, "no tokens").got(0);
    if (sequence >= core_.config().sequences) return fail(errc::bad_sequence).got(sequence);
    const u32 before = core_.length(sequence);
    std::vector<batch_item> items;
    result<mat> logits = mat{};
    for (usize at = 0; at < tokens.size() && logits; at += items.size()) {
      items.clear();
      const usize end = std::min(tokens.size(), at + core_.config().batch);
      for (usize i = at; i < end; ++i) items.push_back({tokens[i], sequence, i + 1 == tokens.size()});
      logits = cancel && *cancel ? result<mat>(fail(errc::cancelled, "prompt")) : decode(items);
    }
    if (!logits) JIG_CHECK(core_.truncate(sequence, before));
    return logits;
  }

  /// Continues sequence 0 with the prompt and then with what the model says. The session must outlive the generation.
  generation<Model> generate(std::string_view prompt, const generate_options& options = {}) {
    return generation<Model>(*this, prompt, options);
  }

  /// Draws the next token from logits; see sample::sampler.
  result<i32> pick(sample::sampler& s, const mat& logits) {
    return s.pick({logits.row(logits.rows - 1), logits.cols}, candidates_);
  }

 private:
  explicit text_session(const loaded<Model>& m) : model_(&m) {}

  const loaded<Model>* model_;
  typename Model::kernels kernels_;
  aligned_bytes activations_, kv_;
  std::vector<u32> words_;
  std::vector<sequence_view> views_;
  std::vector<sample::candidate> candidates_;
  session core_;
};

/// A running generation: a range of pieces of text, each whole UTF-8 characters. Nothing that was generated is lost,
/// whatever ends it.
template <class Model>
class generation {
 public:
  generation(text_session<Model>& s, std::string_view prompt, const generate_options& o)
      : session_(s), options_(o), sampler_(with_seed(o.sampling)),
        text_(s.model().vocabulary().view(), {.continues = true}) {
    const auto ids = s.model().vocabulary().tokenize(
        prompt, {.add_special = s.core().length(0) == 0, .parse_special = o.parse_special});
    if (ids) prompt_ = *ids;
    else fail_with(ids.error());
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
    if (options_.cancel && *options_.cancel) return stop(stop_reason::cancelled);
    const bool first = !started_;
    started_ = true;
    if (!first && ids_.size() >= options_.max_tokens) return stop(stop_reason::length);
    const clock::time_point start = clock::now();
    const auto logits = first ? feed_prompt() : session_.feed(std::span(&ids_.back(), 1));
    const f64 seconds = std::chrono::duration<f64>(clock::now() - start).count();
    if (!logits) {
      if (logits.error().code == errc::cancelled) return stop(stop_reason::cancelled);
      if (logits.error().code == errc::context_full && !first) return stop(stop_reason::context_full);
      return fail_with(logits.error());
    }
    (first ? stats_.prompt_seconds : stats_.generate_seconds) += seconds;
    if (first) stats_.prompt_tokens = static_cast<u32>(prompt_.size());
    if (options_.max_tokens == 0) return stop(stop_reason::length);
    draw(*logits);
  }

  result<mat> feed_prompt() {
    for (i32 id : prompt_) sampler_.accept(id);
    return session_.feed(prompt_, 0, options_.cancel);
  }

  void draw(const mat& logits) {
    const auto id = session_.pick(sampler_, logits);
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
  bool started_ = false;
  stop_reason reason_ = stop_reason::running;
  error failure_ = {};
  generation_stats stats_;
};

}  // namespace jig::host
