#pragma once
// A session of a loaded model: memory of its own, prompts in, logits out. Text generation stands in generation.hpp.
//
//   JIG_TRY(auto s, text_session<model>::make(m, {.context = 4096}));
//   JIG_TRY(mat logits, s.feed(ids));
//   JIG_TRY(i32 next, s.pick(sampler, logits));

#include <atomic>
#include <vector>

#include "jig/host/aligned.hpp"
#include "jig/host/model.hpp"
#include "jig/host/session_memory.hpp"
#include "jig/sample/sampler.hpp"
#include "jig/session/saved.hpp"

namespace jig::host {

struct generate_options;

template <class Model>
class generation;

/// A session of a loaded model with memory of its own. Move-only.
template <class Model>
class text_session {
 public:
  /// On the backend's kernels. Errors: bad_argument (an option), out_of_memory, those of the backend (unknown_isa,
  /// missing_isa).
  static result<text_session> make(const loaded<Model>& m, const session_options& options = {}) {
    JIG_TRY(auto kernels, Model::make_kernels());
    return make(m, options, kernels);
  }
  /// On other kernels of the backend's type. Errors: bad_argument, out_of_memory; missing_isa if the model was packed
  /// (load_options::repack) and these kernels do not take that.
  static result<text_session> make(const loaded<Model>& m, const session_options& options,
                                   const typename Model::kernels& kernels);

  const loaded<Model>& model() const noexcept { return *model_; }
  const typename Model::kernels& kernels() const noexcept { return kernels_; }
  session& core() noexcept { return core_; }
  const session& core() const noexcept { return core_; }
  /// What was allocated.
  const session_memory& memory() const noexcept { return memory_; }

  /// One batch; see session::decode.
  result<mat> decode(std::span<const batch_item> items) { return model_->decode(core_, kernels_, items); }

  /// Forgets `discard` tokens behind the first `keep`; see session::shift.
  result<void> shift(u32 keep, u32 discard, u32 sequence = 0) {
    return model_->shift(core_, kernels_, sequence, keep, discard);
  }

  /// Sources of sequences, for models of an encoder and a decoder; see session::encode.
  result<void> encode(std::span<const batch_item> items) { return model_->encode(core_, kernels_, items); }

  /// Begins a sequence anew with a source, from which the decoder then starts: appends its start token; logits
  /// [1, n_vocab], valid until the next call. Errors: those of session::encode and feed.
  result<mat> feed_source(std::span<const i32> tokens, u32 sequence = 0) {
    if (sequence >= core_.config().sequences) return fail(errc::bad_sequence).got(sequence);
    JIG_CHECK(core_.truncate(sequence, 0));
    items_.clear();
    for (const i32 token : tokens) items_.push_back({token, sequence});
    JIG_CHECK(encode(items_));
    const i32 start = static_cast<i32>(model_->hp().decoder_start);
    return feed(std::span(&start, 1), sequence);
  }

  /// Appends tokens to a sequence in batches; logits [1, n_vocab] of the last one, valid until the next call. Either
  /// all tokens are appended or none; a sequence whose windowed layers have forgotten the way back (kept_window) is
  /// emptied if it fails half-way. Errors: those of session::decode (context_full before anything is computed; got: the
  /// length that was asked for), cancelled.
  result<mat> feed(std::span<const i32> tokens, u32 sequence = 0, const std::atomic<bool>* cancel = nullptr) {
    const session_config& c = core_.config();
    if (tokens.empty()) return fail(errc::bad_argument, "no tokens").got(0);
    if (sequence >= c.sequences) return fail(errc::bad_sequence).got(sequence);
    const u32 before = core_.length(sequence);
    if (tokens.size() > c.context - before) return fail(errc::context_full).got(u64{before} + tokens.size());
    // One batch is decoded or not; several may fail half-way, and then there must be a state to return to.
    if (before != 0 && tokens.size() > c.batch) static_cast<void>(core_.keep_state(sequence));
    result<mat> logits = mat{};
    for (usize at = 0; at < tokens.size() && logits;) {
      const usize end = std::min(tokens.size(), at + c.batch);
      items_.clear();
      for (usize i = at; i < end; ++i) items_.push_back({tokens[i], sequence, i + 1 == tokens.size()});
      logits = cancel != nullptr && *cancel ? result<mat>(fail(errc::cancelled, "prompt")) : decode(items_);
      at = end;
    }
    if (!logits) static_cast<void>(core_.truncate(sequence, core_.nearest_length(sequence, before)));
    return logits;
  }

  /// A sequence as bytes, with the ids of its tokens if they are given; see session/saved.hpp. Errors: those of save.
  result<std::vector<u8>> save(std::span<const i32> tokens = {}, u32 sequence = 0) const {
    if (sequence >= core_.config().sequences) return fail(errc::bad_sequence).got(sequence);
    const auto parts = model_->kv_parts(core_.paged().memory());
    const saved_layout layout = layout_of(parts);
    std::vector<u8> bytes(static_cast<usize>(saved_size(core_, layout, sequence, !tokens.empty())));
    JIG_CHECK(jig::save(core_, layout, sequence, tokens, bytes));
    return bytes;
  }
  /// Makes an empty sequence what was saved, by a session of the same model and element type; the ids that were saved
  /// with it. Errors: those of restore.
  result<std::vector<i32>> restore(std::span<const u8> bytes, u32 sequence = 0) {
    const auto parts = model_->kv_parts(core_.paged().memory());
    JIG_CHECK(jig::restore(core_, layout_of(parts), sequence, bytes));
    saved_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    std::vector<i32> tokens(h.tokens);
    if (h.tokens != 0) std::memcpy(tokens.data(), bytes.data() + sizeof h, tokens.size() * sizeof(i32));
    return tokens;
  }

  /// Continues sequence 0 with the prompt and then with what the model says; needs generation.hpp. The session must
  /// outlive the generation and serves one at a time. A further call goes on where the last one ended;
  /// models of an encoder and a decoder begin anew with each prompt.
  generation<Model> generate(std::string_view prompt, const generate_options& options) {
    return generation<Model>(*this, prompt, options);
  }
  generation<Model> generate(std::string_view prompt) { return generation<Model>(*this, prompt, {}); }

  /// Draws the next token from the last row of the logits; see sample::sampler.
  result<i32> pick(sample::sampler& s, const mat& logits) {
    const std::span<sample::candidate> memory(reinterpret_cast<sample::candidate*>(candidates_.bytes().data()),
                                              candidates_.bytes().size() / sizeof(sample::candidate));
    return s.pick({logits.row(logits.rows - 1), logits.cols}, memory);
  }

 private:
  friend class generation<Model>;

  text_session(const loaded<Model>& m, const typename Model::kernels& k) : model_(&m), kernels_(k) {}

  saved_layout layout_of(std::span<const kv_part> parts) const {
    // LongRoPE rotates keys differently in sessions that may grow beyond the original context, dynamic scaling by how
    // far they may.
    const bool beyond = core_.config().context > model_->hp().n_ctx_orig;
    u64 rotation = beyond && model_->file().has_tensor("rope_factors_long.weight") ? 1 : 0;
    if (beyond && model_->hp().scaling == rope_scaling::dynamic) rotation = core_.config().context;
    return {parts, model_->fingerprint() + rotation, core_.states().floats()};
  }

  /// The token that the last generation drew and did not feed; it still belongs before whatever follows.
  const i32* pending() const noexcept {
    return pending_ >= 0 && pending_after_ == core_.length(0) ? &pending_ : nullptr;
  }
  void set_pending(i32 token) noexcept {
    pending_ = token;
    pending_after_ = core_.length(0);
  }

  const loaded<Model>* model_;
  typename Model::kernels kernels_;
  session_memory memory_;
  aligned_bytes activations_, cache_, index_, candidates_;
  std::vector<batch_item> items_;
  session core_;
  i32 pending_ = -1;
  u32 pending_after_ = 0;
};

// Defined here and not in the class, so that they are not inline: jig::compiled then spares programs their compilation.

template <class Model>
result<text_session<Model>> text_session<Model>::make(const loaded<Model>& m, const session_options& options,
                                                      const typename Model::kernels& kernels) {
  if (!m.accepts(kernels)) return fail(errc::missing_isa, "packed weights");
  text_session s(m, kernels);
  JIG_TRY(s.memory_, m.plan(options, m.threads().threads));
  const session_plan& plan = s.memory_.plan;
  JIG_TRY(s.activations_, aligned_bytes::make(plan.activation_bytes, "activations"));
  JIG_TRY(s.cache_, aligned_bytes::make(plan.memory_bytes(), "keys, values and states"));
  JIG_TRY(s.index_, aligned_bytes::make(s.memory_.index_bytes, "page index"));
  JIG_TRY(s.candidates_, aligned_bytes::make(s.memory_.candidate_bytes, "sampler candidates"));
  const std::span<sequence_view> views(reinterpret_cast<sequence_view*>(s.index_.bytes().data()),
                                       static_cast<usize>(plan.views));
  const std::span<u32> words(reinterpret_cast<u32*>(views.data() + views.size()), static_cast<usize>(plan.words));
  JIG_TRY(s.core_, session::make(s.memory_.config, plan, s.activations_.bytes(), s.cache_.bytes(), words, views));
  return s;
}

}  // namespace jig::host
