#pragma once
// A session: sequences of tokens with their memory (keys and values, recurrent states), and the batches that extend
// them.
//
// Works in memory that the caller gives (session_plan tells how much), so the same code serves firmware with a
// static buffer and servers. decode() takes tokens of any number of sequences at once; a sequence's tokens take
// the positions after those it already has.
//
//   constexpr session_config config{.context = 256, .batch = 16};
//   constexpr session_plan need = plan_session<kernels>(model, config);
//   JIG_TRY(session s, session::make(config, need, activations, memory, words, views));
//   JIG_TRY(mat logits, s.decode(kernels, model, items));

#include <cstring>

#include "jig/arch/blocks/shift.hpp"
#include "jig/ops/planner.hpp"
#include "jig/session/paged_memory.hpp"
#include "jig/session/states.hpp"

namespace jig {

/// How large a session may become.
struct session_config {
  u32 context = 512;     ///< tokens of the longest sequence
  u32 sequences = 1;     ///< sequences at a time
  u32 batch = 64;        ///< most tokens of one decode
  u32 outputs = 1;       ///< most rows of logits or states of one decode
  u32 total_tokens = 0;  ///< tokens of all sequences together; 0: context * sequences
  u32 page_tokens = 32;  ///< tokens per page of key/value memory
  u32 kv_type = 1;       ///< GGUF type id of keys and values: f32 0, f16 1, bf16 30, q8_0 8
  output_kind output = output_kind::logits;
  pooling pool = pooling::none;  ///< of states
  u32 kept_states = 0;           ///< recurrent states that a sequence can keep to return to, see session::keep_state
  /// Tokens that windowed layers keep behind their window, so that a sequence can be truncated by as many; ~0: all.
  u32 kept_window = ~u32{0};

  constexpr page_config pages() const noexcept {
    const u64 total = total_tokens ? total_tokens : u64{context} * sequences;
    const u64 pages = (total + page_tokens - 1) / page_tokens;
    // A page that two sequences share partly costs at most one page more for each.
    return {sequences, static_cast<u32>(pages + sequences - 1), page_tokens, context};
  }
  /// The pages of layers with this window, where sequences may become so long that it pays to forget; else none.
  constexpr page_config window_pages(u32 window) const noexcept {
    // Of one sequence: what a batch sees and what is kept behind it, and a page more at each end.
    const u64 needed = (u64{window} + kept_window + batch) / page_tokens + 2, all = needed * sequences;
    const u32 most = pages().n_pages;
    if (window == 0 || needed >= context / page_tokens) return {sequences, 0, page_tokens, context};
    return {sequences, all < most ? static_cast<u32>(all) : most, page_tokens, context};
  }
};

/// Bytes that a session needs, by kind.
struct session_plan {
  u64 activation_bytes = 0;  ///< aligned to 64
  u64 kv_bytes = 0;          ///< keys and values of all pages
  u64 state_bytes = 0;       ///< recurrent states of all sequences
  u64 words = 0;             ///< u32 entries for page lists and batches
  u64 views = 0;             ///< sequence_view entries
  paged_memory_plan paged;
  u64 state_floats = 0;  ///< of one state

  /// Keys, values and states together, in this order; aligned to 64.
  constexpr u64 memory_bytes() const noexcept {
    return state_bytes == 0 ? kv_bytes : round_up(kv_bytes, 64) + state_bytes;
  }
};

/// What a session of this size needs for this model on the kernel set K.
template <class K, class Model>
constexpr session_plan plan_session(const Model& m, const session_config& c, u32 threads = 1) noexcept {
  session_plan p;
  batch b;
  b.output = c.output, b.pool = c.pool, b.context = c.context;
  b.n_tokens = b.n_outputs = 1;
  const u64 one = plan_arena<K>(m, b, threads);
  b.n_tokens = c.batch, b.n_outputs = c.outputs;
  p.activation_bytes = plan_arena<K>(m, b, threads);
  if (one > p.activation_bytes) p.activation_bytes = one;
  p.paged = {.pages = c.pages(), .windows = c.window_pages(window_of(m)), .window = window_of(m)};
  const kv_memory memory{
      .page_tokens = c.page_tokens, .type = c.kv_type, .windows_apart = p.paged.windows.n_pages != 0};
  p.paged.page_bytes = kv_bytes_per_token(m, memory, false) * c.page_tokens;
  p.paged.window_page_bytes = kv_bytes_per_token(m, memory, true) * c.page_tokens;
  p.kv_bytes = p.paged.bytes();
  p.state_floats = state_floats_in(m, m.hp().n_layer);
  p.state_bytes = state_store::floats(p.state_floats, c.sequences, c.kept_states) * sizeof(f32);
  p.views = u64{c.sequences} * (p.paged.window_page_bytes != 0 ? 2 : 1);
  p.words = p.paged.words() + 5 * u64{c.batch} + state_store::words(c.sequences, c.kept_states);
  return p;
}

/// One token of a batch.
struct batch_item {
  i32 token = 0;
  u32 sequence = 0;
  bool output = false;  ///< whether its logits or state are wanted
};

/// The session of any model; Windows false: of models without windowed layers.
template <bool Windows>
class basic_session {
 public:
  basic_session() noexcept = default;

  /// `activations` and `memory` aligned to 64 bytes, all of the planned sizes; they must outlive the session.
  /// Errors: bad_argument, buffer_too_small.
  static result<basic_session> make(const session_config& c, const session_plan& plan, std::span<u8> activations,
                              std::span<u8> memory, std::span<u32> words, std::span<sequence_view> views) noexcept {
    if (c.batch == 0 || c.outputs == 0) return fail(errc::bad_argument, "session_config").got(0);
    if (kv_row_bytes(c.kv_type, 1) == 0) return fail(errc::bad_argument, "kv_type").got(c.kv_type);
    if (activations.size() < plan.activation_bytes || memory.size() < plan.memory_bytes() ||
        words.size() < plan.words || views.size() < plan.views)
      return fail(errc::buffer_too_small, "session");
    basic_session s;
    s.config_ = c;
    s.activations_ = activations.first(static_cast<usize>(plan.activation_bytes));
    JIG_TRY(s.paged_, paged_memory<Windows>::make(plan.paged, c.kv_type, memory.data(), words));
    s.batch_words_ = words.data() + plan.paged.words();
    if (plan.state_bytes != 0) {
      f32* states = reinterpret_cast<f32*>(memory.data() + round_up(plan.kv_bytes, 64));
      s.states_ = {states, plan.state_floats, s.batch_words_ + 5 * usize{c.batch}, c.sequences, c.kept_states};
    }
    s.views_ = views.data();
    return s;
  }

  const session_config& config() const noexcept { return config_; }
  /// Tokens that a sequence holds. Precondition: the sequence exists.
  u32 length(u32 sequence) const noexcept { return paged_.length(sequence); }
  /// Forgets the tokens from `length` on; a source is forgotten with all that follows it. Errors: bad_sequence,
  /// bad_argument (longer than the sequence, or inside its source), state_not_kept
  /// (got: the longest shorter length that can be returned to).
  result<void> truncate(u32 sequence, u32 length) noexcept {
    const bool shorter = paged_.valid(sequence) && length < paged_.length(sequence);
    const u32 kept = shorter ? nearest_length(sequence, length) : length;
    if (kept != length) return fail(errc::state_not_kept, "length").got(kept);
    if (shorter) states_.restore(sequence, length);
    return paged_.truncate(sequence, length);
  }
  /// The longest length up to `length` to which the sequence can be truncated: that itself, unless the model has
  /// recurrent layers, or windowed ones that have forgotten what the next token would see. Precondition: the sequence
  /// exists.
  u32 nearest_length(u32 sequence, u32 length) const noexcept {
    if (length >= paged_.length(sequence)) return length;
    const u32 kept = states_.empty() ? length : states_.nearest(sequence, length);
    return paged_.continues(sequence, kept) ? kept : 0;
  }
  /// Keeps the recurrent state of the sequence as it is, so that truncate() can return to this length; the oldest one
  /// kept goes if there is no room. Does nothing for models without. Errors: bad_sequence, bad_argument (the session
  /// was configured to keep none).
  result<void> keep_state(u32 sequence) noexcept {
    if (!paged_.valid(sequence)) return fail(errc::bad_sequence).got(sequence);
    if (states_.empty() || states_.keep(sequence, paged_.length(sequence))) return {};
    return fail(errc::bad_argument, "kept_states").got(0);
  }
  /// Makes the empty sequence `to` a copy of `from` that shares its pages. Errors: bad_sequence (unknown, or `to` is
  /// not empty).
  result<void> fork(u32 from, u32 to) noexcept {
    JIG_CHECK(paged_.fork(from, to));
    states_.fork(from, to);
    return {};
  }
  /// Context shift: forgets `discard` tokens behind the first `keep` and moves what follows to their positions, so that
  /// there is room again. Keys keep what they were made of, the forgotten tokens included: an approximation
  /// (https://arxiv.org/abs/2309.17453). Errors: bad_sequence, bad_argument (more tokens than there are, or part of a
  /// source), not_supported (see can_shift), state_not_kept (windowed layers have forgotten tokens, see kept_window;
  /// got: how many), context_full (shared pages that cannot be copied).
  template <class K, class Model>
  result<void> shift(K& kernels, const Model& m, u32 sequence, u32 keep, u32 discard,
                     const parallel& threads = {}) noexcept {
    if constexpr (!can_shift<Model>) {
      return fail(errc::not_supported, "context shift");
    } else {
      if (!paged_.valid(sequence)) return fail(errc::bad_sequence).got(sequence);
      const u32 length = paged_.length(sequence);
      if (keep < paged_.source(sequence) || keep > length || discard > length - keep)
        return fail(errc::bad_argument, "keep, discard").got(u64{keep} + discard);
      if (const u32 gone = paged_.first(sequence); gone != 0) return fail(errc::state_not_kept, "windows").got(gone);
      JIG_CHECK(paged_.own(sequence, keep));
      each_kv_part(m, paged_.memory(), [&](const kv_part& part) {
        for (u32 cell = keep; cell < length - discard; ++cell)
          std::memcpy(paged_.row(sequence, part, cell), paged_.row(sequence, part, cell + discard),
                      static_cast<usize>(part.bytes));
      });
      JIG_CHECK(paged_.truncate(sequence, length - discard));
      for (u32 at = keep; at < length - discard; at += config_.batch) {
        const u32 rest = length - discard - at;
        const batch b = cells(sequence, at, rest < config_.batch ? rest : config_.batch, discard);
        executor<K> x(kernels, activations_.data(), activations_.size(), threads);
        rotate_keys_back(x, m, b);
        if (!x.ok()) return fail(errc::out_of_memory, "activations").got(activations_.size());
      }
      return {};
    }
  }
  u32 free_pages() const noexcept { return paged_.free_pages(); }

  /// Where a sequence's keys, values and states lie, for whoever moves them (session/saved.hpp). Precondition: the
  /// sequence exists.
  const paged_memory<Windows>& paged() const noexcept { return paged_; }
  const state_store& states() const noexcept { return states_; }
  /// Makes an empty sequence one of n tokens, whose keys, values and states the caller writes; windowed layers get
  /// those from `first` on. `source`: as many of them are its source. All or nothing. Errors: bad_sequence,
  /// context_full.
  result<void> reserve(u32 sequence, u32 n, u32 first, u32 source) noexcept {
    JIG_CHECK(paged_.extend_from(sequence, n, first));
    paged_.set_source(sequence, source);
    return {};
  }

  /// For models of an encoder and a decoder: makes the tokens the sources of their sequences, which are empty and get
  /// all of their source at once. All or nothing. Errors: those of decode; bad_sequence (not empty), not_supported (a
  /// model that is not of this kind).
  template <class K, class Model>
  result<void> encode(K& kernels, const Model& m, std::span<const batch_item> items,
                      const parallel& threads = {}) noexcept {
    if constexpr (!reads_source<Model>) {
      return fail(errc::not_supported, "a source");
    } else {
      for (const batch_item& i : items)
        if (paged_.valid(i.sequence) && paged_.length(i.sequence) != 0) return fail(errc::bad_sequence).got(i.sequence);
      JIG_CHECK(check_type<K>());
      JIG_TRY(batch b, append(items, m.hp().n_vocab));
      b.causal = false;
      executor<K> x(kernels, activations_.data(), activations_.size(), threads);
      Model::architecture::encode(x, m, b);
      if (!x.ok()) {
        undo(items);
        return fail(errc::out_of_memory, "activations").got(activations_.size());
      }
      for (const batch_item& i : items) paged_.set_source(i.sequence, paged_.length(i.sequence));
      return {};
    }
  }

  /// Appends the tokens to their sequences and computes: logits [wanted outputs, n_vocab], or states [wanted outputs,
  /// n_embd], or scores [wanted outputs, n_labels], as configured; valid until the next call.
  /// All or nothing. Errors: bad_argument (more items or outputs than configured, no source, a kv_type that the kernels
  /// do not have), bad_token, bad_sequence, context_full, not_supported (logits of an encoder, scores without a head),
  /// out_of_memory (memory smaller than planned; sequences with recurrent state are emptied then).
  template <class K, class Model>
  result<mat> decode(K& kernels, const Model& m, std::span<const batch_item> items,
                     const parallel& threads = {}) noexcept {
    if constexpr (requires { Model::architecture::encodes; })
      if (config_.output == output_kind::logits) return fail(errc::not_supported, "logits");
    if constexpr (!requires { Model::fixed_extents; })
      if (config_.pool == pooling::rank && !m.get(t::cls) && !m.get(t::cls_output))
        return fail(errc::not_supported, "scores");
    JIG_CHECK(check_type<K>());
    if constexpr (reads_source<Model>)
      for (const batch_item& i : items)
        if (paged_.valid(i.sequence) && paged_.source(i.sequence) == 0)
          return fail(errc::bad_argument, "no source").got(i.sequence);
    JIG_TRY(batch b, append(items, m.hp().n_vocab));
    b.causal = m.hp().causal;
    constexpr bool recurrent = has_states<Model>;
    if constexpr (recurrent) {
      b.states = states_.view();
      for (u32 t = 0; t < b.n_tokens; ++t)
        if (b.cell[t] == 0) states_.clear(b.sequence[t]);
    }
    mat logits;
    bool ok = true;
    {
      executor<K> x(kernels, activations_.data(), activations_.size(), threads);
      logits = Model::architecture::forward(x, m, b);  // stays readable: nobody writes there before the next call
      ok = x.ok();
    }
    if (!ok) {
      undo(items);
      if constexpr (recurrent)
        for (const batch_item& i : items) static_cast<void>(truncate(i.sequence, 0));
      return fail(errc::out_of_memory, "activations").got(activations_.size());
    }
    return logits;
  }

 private:
  /// Whether the kernels have the memory's element type; sets without a list of types have all.
  template <class K>
  result<void> check_type() const noexcept {
    if constexpr (requires { typename K::memory_types; })
      if (!visit_id(typename K::memory_types{}, config_.kv_type, [](auto) {}))
        return fail(errc::bad_argument, "kv_type").got(config_.kv_type);
    return {};
  }

  /// Checks the items, makes room in their sequences, and fills the batch's arrays.
  result<batch> append(std::span<const batch_item> items, u32 n_vocab) noexcept {
    if (items.empty() || items.size() > config_.batch) return fail(errc::bad_argument, "batch").got(items.size());
    batch b;
    for (const batch_item& i : items) {
      if (i.token < 0 || static_cast<u32>(i.token) >= n_vocab)
        return fail(errc::bad_token).got(static_cast<u64>(static_cast<i64>(i.token)));
      if (!paged_.valid(i.sequence)) return fail(errc::bad_sequence).got(i.sequence);
      b.n_outputs += i.output;
    }
    if (b.n_outputs > config_.outputs) return fail(errc::bad_argument, "outputs").got(b.n_outputs);
    b.n_tokens = static_cast<u32>(items.size());

    for (const batch_item& i : items) paged_.forget(i.sequence, config_.kept_window);
    const u32 n = config_.batch;
    u32* word = batch_words_;
    i32* tokens = reinterpret_cast<i32*>(word);
    u32 *position = word + n, *cell = word + 2 * n, *sequence = word + 3 * n, *outputs = word + 4 * n;
    u32 output = 0;
    for (u32 i = 0; i < b.n_tokens; ++i) {
      const u32 s = items[i].sequence, at = paged_.length(s);
      if (const auto grown = paged_.extend(s, 1); !grown) {
        undo(items.first(i));
        return grown.error();
      }
      tokens[i] = items[i].token;
      position[i] = at - paged_.source(s);
      cell[i] = at;
      sequence[i] = s;
      if (items[i].output) outputs[output++] = i;
    }
    b.tokens = tokens, b.position = position, b.cell = cell, b.sequence = sequence, b.output_rows = outputs;
    set_memory(b);
    b.output = config_.output, b.pool = config_.pool;
    return b;
  }

  /// Lets the batch see the sequences as they are now.
  void set_memory(batch& b) noexcept {
    for (u32 s = 0; s < config_.sequences; ++s) views_[s] = paged_.view(s);
    b.sequences = views_;
    b.memory = paged_.memory();
    b.context = config_.context;
    if (!paged_.forgets()) return;
    for (u32 s = 0; s < config_.sequences; ++s) views_[config_.sequences + s] = paged_.window_view(s);
    windows_ = b;
    windows_.sequences = views_ + config_.sequences;
    windows_.memory = paged_.window_memory();
    b.windows = &windows_;
  }

  /// A batch of n cells of a sequence, all with the same position.
  batch cells(u32 sequence, u32 from, u32 n, u32 position) noexcept {
    const u32 stride = config_.batch;
    u32 *positions = batch_words_ + stride, *cell = batch_words_ + 2 * stride, *sequences = batch_words_ + 3 * stride;
    for (u32 i = 0; i < n; ++i) positions[i] = position, cell[i] = from + i, sequences[i] = sequence;
    batch b;
    b.n_tokens = n;
    b.position = positions, b.cell = cell, b.sequence = sequences;
    set_memory(b);
    return b;
  }

  void undo(std::span<const batch_item> items) noexcept {
    for (const batch_item& i : items) static_cast<void>(paged_.truncate(i.sequence, paged_.length(i.sequence) - 1));
  }

  session_config config_;
  std::span<u8> activations_;
  u32* batch_words_ = nullptr;
  sequence_view* views_ = nullptr;
  paged_memory<Windows> paged_;
  batch windows_;  ///< what windowed layers see of the current one
  state_store states_;
};

using session = basic_session<true>;

}  // namespace jig
