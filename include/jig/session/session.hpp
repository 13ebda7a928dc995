#pragma once
// A session: sequences of tokens with their key/value memory, and the batches that extend them.
//
// Works in memory that the caller gives (session_plan tells how much), so the same code serves firmware with a
// static buffer and servers. decode() takes tokens of any number of sequences at once; a sequence's tokens take
// the positions after those it already has.
//
//   constexpr session_config config{.context = 256, .batch = 16};
//   constexpr session_plan need = plan_session<kernels>(model, config);
//   JIG_TRY(session s, session::make(config, need, activations, kv, words));
//   JIG_TRY(mat logits, s.decode(kernels, model, items));

#include <cstring>

#include "jig/ops/kv_rows.hpp"
#include "jig/ops/planner.hpp"
#include "jig/session/pages.hpp"

namespace jig {

/// How large a session may become.
struct session_config {
  u32 context = 512;     ///< tokens of the longest sequence
  u32 sequences = 1;     ///< sequences at a time
  u32 batch = 64;        ///< most tokens of one decode
  u32 outputs = 1;       ///< most logit rows of one decode
  u32 total_tokens = 0;  ///< tokens of all sequences together; 0: context * sequences
  u32 page_tokens = 32;  ///< tokens per page of key/value memory
  u32 kv_type = 1;       ///< GGUF type id of keys and values: f32 0, f16 1, bf16 30, q8_0 8

  constexpr page_config pages() const noexcept {
    const u64 total = total_tokens ? total_tokens : u64{context} * sequences;
    const u64 pages = (total + page_tokens - 1) / page_tokens;
    // A page that two sequences share partly costs at most one page more for each.
    return {sequences, static_cast<u32>(pages + sequences - 1), page_tokens, context};
  }
};

/// Bytes that a session needs, by kind.
struct session_plan {
  u64 activation_bytes = 0;  ///< aligned to 64
  u64 kv_bytes = 0;          ///< aligned to 64
  u64 words = 0;             ///< u32 entries for page lists and batches
  u64 page_bytes = 0;
};

/// Bytes of keys and values that one token takes in all layers; 0 if the type cannot be used.
template <class Model>
constexpr u64 kv_bytes_per_token(const Model& m, u32 kv_type) noexcept {
  const auto& hp = m.hp();
  u64 bytes = 0;
  for (u32 il = 0; il < hp.n_layer; ++il)
    bytes += kv_token_bytes(kv_type, hp.n_head_kv[il], hp.dim_k, hp.stored_dim_v());
  return bytes * hp.n_loops;
}

/// What a session of this size needs for this model on the kernel set K.
template <class K, class Model>
constexpr session_plan plan_session(const Model& m, const session_config& c, u32 threads = 1) noexcept {
  session_plan p;
  p.activation_bytes = plan_arena<K>(m, c.batch, c.outputs, threads);
  const u64 one = plan_arena<K>(m, 1, 1, threads);
  if (one > p.activation_bytes) p.activation_bytes = one;
  p.page_bytes = kv_bytes_per_token(m, c.kv_type) * c.page_tokens;
  p.kv_bytes = p.page_bytes * c.pages().n_pages;
  p.words = page_index::words(c.pages()) + 5 * u64{c.batch};
  return p;
}

/// One token of a batch.
struct batch_item {
  i32 token = 0;
  u32 sequence = 0;
  bool output = false;  ///< whether its logits are wanted
};

class session {
 public:
  session() noexcept = default;

  /// `activations` and `kv` aligned to 64 bytes, all of the planned sizes; they must outlive the session.
  /// Errors: bad_argument, buffer_too_small.
  static result<session> make(const session_config& c, const session_plan& plan, std::span<u8> activations,
                              std::span<u8> kv, std::span<u32> words, std::span<sequence_view> views) noexcept {
    if (c.batch == 0 || c.outputs == 0) return fail(errc::bad_argument, "session_config").got(0);
    if (plan.page_bytes == 0) return fail(errc::bad_argument, "kv_type").got(c.kv_type);
    if (activations.size() < plan.activation_bytes || kv.size() < plan.kv_bytes || words.size() < plan.words ||
        views.size() < c.sequences)
      return fail(errc::buffer_too_small, "session");
    session s;
    s.config_ = c;
    s.activations_ = activations.first(static_cast<usize>(plan.activation_bytes));
    s.memory_ = {kv.data(), plan.page_bytes, c.page_tokens, c.kv_type};
    s.batch_words_ = words.data() + page_index::words(c.pages());
    s.views_ = views.data();
    JIG_TRY(s.pages_, page_index::make(c.pages(), words));
    return s;
  }

  const session_config& config() const noexcept { return config_; }
  /// Tokens that a sequence holds. Precondition: the sequence exists.
  u32 length(u32 sequence) const noexcept { return pages_.length(sequence); }
  result<void> truncate(u32 sequence, u32 length) noexcept { return pages_.truncate(sequence, length); }
  result<void> fork(u32 from, u32 to) noexcept { return pages_.fork(from, to); }
  u32 free_pages() const noexcept { return pages_.free_pages(); }

  /// Appends the tokens to their sequences and computes: logits [wanted outputs, n_vocab], valid until the next call.
  /// All or nothing. Errors: bad_argument (more items or outputs than configured), bad_token, bad_sequence,
  /// context_full, out_of_memory (memory smaller than planned).
  template <class K, class Model>
  result<mat> decode(K& kernels, const Model& m, std::span<const batch_item> items,
                     const parallel& threads = {}) noexcept {
    JIG_TRY(batch b, append(items, m.hp().n_vocab));
    if constexpr (requires { Model::architecture::causal; }) b.causal = Model::architecture::causal;
    mat logits;
    bool ok = true;
    {
      executor<K> x(kernels, activations_.data(), activations_.size(), threads);
      logits = Model::architecture::forward(x, m, b);  // stays readable: nobody writes there before the next call
      ok = x.ok();
    }
    if (!ok) {
      undo(items);
      return fail(errc::out_of_memory, "activations").got(activations_.size());
    }
    return logits;
  }

 private:
  /// Checks the items, makes room in their sequences, and fills the batch's arrays.
  result<batch> append(std::span<const batch_item> items, u32 n_vocab) noexcept {
    if (items.empty() || items.size() > config_.batch) return fail(errc::bad_argument, "batch").got(items.size());
    batch b;
    for (const batch_item& i : items) {
      if (i.token < 0 || static_cast<u32>(i.token) >= n_vocab)
        return fail(errc::bad_token).got(static_cast<u64>(static_cast<i64>(i.token)));
      if (!pages_.valid(i.sequence)) return fail(errc::bad_sequence).got(i.sequence);
      b.n_outputs += i.output;
    }
    if (b.n_outputs > config_.outputs) return fail(errc::bad_argument, "outputs").got(b.n_outputs);
    b.n_tokens = static_cast<u32>(items.size());

    const u32 n = config_.batch;
    u32* word = batch_words_;
    i32* tokens = reinterpret_cast<i32*>(word);
    u32 *position = word + n, *cell = word + 2 * n, *sequence = word + 3 * n, *outputs = word + 4 * n;
    u32 output = 0;
    for (u32 i = 0; i < b.n_tokens; ++i) {
      const u32 s = items[i].sequence, at = pages_.length(s);
      if (const auto grown = pages_.extend(s, 1, [this](u32 to, u32 from) { copy_page(to, from); }); !grown) {
        undo(items.first(i));
        return grown.error();
      }
      tokens[i] = items[i].token;
      position[i] = cell[i] = at;
      sequence[i] = s;
      if (items[i].output) outputs[output++] = i;
    }
    for (u32 s = 0; s < config_.sequences; ++s) views_[s] = pages_.view(s);
    b.tokens = tokens, b.position = position, b.cell = cell, b.sequence = sequence, b.output_rows = outputs;
    b.sequences = views_;
    b.memory = memory_;
    b.context = config_.context;
    return b;
  }

  void undo(std::span<const batch_item> items) noexcept {
    for (const batch_item& i : items) static_cast<void>(pages_.truncate(i.sequence, pages_.length(i.sequence) - 1));
  }

  void copy_page(u32 to, u32 from) noexcept {
    std::memcpy(memory_.data + to * memory_.page_bytes, memory_.data + from * memory_.page_bytes,
                static_cast<usize>(memory_.page_bytes));
  }

  session_config config_;
  std::span<u8> activations_;
  kv_memory memory_;
  u32* batch_words_ = nullptr;
  sequence_view* views_ = nullptr;
  page_index pages_;
};

}  // namespace jig
