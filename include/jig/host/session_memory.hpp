#pragma once
// How large a session may become, and what memory that takes: the numbers by which text_session allocates and by which
// programs tell their users beforehand (host/memory_plan.hpp).

#include <algorithm>

#include "jig/arch/hparams.hpp"
#include "jig/sample/candidates.hpp"
#include "jig/session/session.hpp"

namespace jig::host {

/// How large a session may become; see session_config.
struct session_options {
  u32 context = 0;   ///< tokens; 0: what the model was trained for
  u32 batch = 512;   ///< prompt tokens that are computed together
  u32 kv_type = 1;   ///< GGUF type id of the key/value memory: f32 0, f16 1, bf16 30, q8_0 8
  u32 outputs = 1;   ///< rows of logits or states of one decode
  output_kind output = output_kind::logits;
  pooling pool = pooling::none;  ///< of states
  u32 sequences = 1;
  u32 total_tokens = 0;  ///< of all sequences together; 0: context * sequences
  u32 page_tokens = 32;  ///< tokens per page of key/value memory
  u32 kept_states = 4;   ///< recurrent states that a sequence can keep to return to
  u32 kept_window = 1024;  ///< tokens that windowed layers keep behind their window to return to; ~0: all
};

/// The core's configuration for these options and this model.
/// Errors: bad_argument with the option's name (zero, an unusable kv_type, 2^32 pages or more).
inline result<session_config> make_config(const session_options& o, const hparams& hp) noexcept {
  session_config c;
  c.context = o.context ? o.context : hp.n_ctx_train;
  c.sequences = o.sequences;
  c.batch = std::min(o.batch, c.context);
  c.outputs = std::min(o.outputs, c.batch);
  c.kv_type = o.kv_type;
  c.total_tokens = o.total_tokens;
  c.page_tokens = std::min(c.context, o.page_tokens);
  c.kept_states = o.kept_states;
  c.kept_window = o.kept_window;
  c.output = o.output;
  c.pool = o.pool;
  if (c.context == 0) return fail(errc::bad_argument, "context").got(0);
  if (c.batch == 0) return fail(errc::bad_argument, "batch").got(0);
  if (c.outputs == 0) return fail(errc::bad_argument, "outputs").got(0);
  if (c.sequences == 0) return fail(errc::bad_argument, "sequences").got(0);
  if (c.page_tokens == 0) return fail(errc::bad_argument, "page_tokens").got(0);
  if (kv_row_bytes(c.kv_type, 1) == 0) return fail(errc::bad_argument, "kv_type").got(c.kv_type);
  if (u64{c.context} * c.sequences / c.page_tokens + 2 * u64{c.sequences} >= 0xffffffffu)
    return fail(errc::bad_argument, "context * sequences").got(u64{c.context} * c.sequences);
  return c;
}

/// Bytes of one session, by kind. Everything that grows with the options is here.
struct session_memory {
  session_config config;
  session_plan plan;          ///< keys, values, states and activations
  u64 index_bytes = 0;        ///< page lists and batches
  u64 candidate_bytes = 0;    ///< of the sampler, one for each token of the vocabulary
  u64 logit_bytes = 0;        ///< the part of the activations that holds the logits

  u64 total() const noexcept { return plan.activation_bytes + plan.memory_bytes() + index_bytes + candidate_bytes; }
};

/// What a session of a bound model takes on the kernel set K.
/// Errors: bad_argument, out_of_memory (the sum does not fit into 63 bits; got: pages of key/value memory).
template <class K, class Bound>
result<session_memory> plan_session_memory(const Bound& m, const session_options& options, u32 threads) noexcept {
  session_memory p;
  JIG_TRY(p.config, make_config(options, m.hp()));
  p.plan = plan_session<K>(m, p.config, threads);
  const u64 pages = p.config.pages().n_pages;
  const u64 states = state_store::floats(1, p.config.sequences, p.config.kept_states);
  if (p.plan.activation_bytes >> 62 != 0 || p.plan.paged.page_bytes > (~u64{0} >> 3) / pages ||
      p.plan.state_floats > (~u64{0} >> 4) / states)
    return fail(errc::out_of_memory, "session").got(pages);
  p.index_bytes = p.plan.words * sizeof(u32) + sizeof(sequence_view) * (p.plan.views + 1);
  p.candidate_bytes = u64{m.hp().n_vocab} * sizeof(sample::candidate);
  p.logit_bytes = u64{p.config.outputs} * m.hp().n_vocab * sizeof(f32);
  return p;
}

}  // namespace jig::host
