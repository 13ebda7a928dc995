#pragma once
// The measurements: a model in a session, tokens in, times out.

#include <cmath>
#include <ctime>
#include <numeric>

#include "jig/host/compiled.hpp"
#include "options.hpp"
#include "profile.hpp"
#include "work.hpp"

namespace jig::bench {

using measured_model = host::compiled_model;

/// One kind of measurement.
struct test {
  u32 prompt = 0, generated = 0, depth = 0;
  u32 tokens() const noexcept { return prompt + generated; }
  /// As llama-bench names it: "pp512", "tg128 @ d4096".
  std::string name() const {
    std::string s;
    if (prompt != 0) s = fmt::format("pp{}", prompt);
    if (generated != 0) s += fmt::format("{}tg{}", s.empty() ? "" : "+", generated);
    return depth != 0 ? s + fmt::format(" @ d{}", depth) : s;
  }
};

/// The measurements that the options ask for, for each depth.
inline std::vector<test> tests_of(const settings& s) {
  std::vector<test> all;
  for (const u32 depth : s.depths) {
    for (const u32 n : s.prompts)
      if (n != 0) all.push_back({n, 0, depth});
    for (const u32 n : s.generated)
      if (n != 0) all.push_back({0, n, depth});
    for (const auto& [p, n] : s.both) all.push_back({p, n, depth});
  }
  return all;
}

/// What was measured, and on what.
struct measurement {
  std::string file, architecture, isa;
  model_work work;
  u32 threads = 0, batch = 0, kv_type = 0;
  test kind;
  std::string time;              ///< when it began, UTC
  std::vector<f64> seconds = {};  ///< of each repetition
  f64 least = 0.0;               ///< seconds that the machine needs at least; 0: ceilings are unknown
  const char* ceiling_name = "";  ///< "read" or "ops": what the least time is made of mainly

  /// Tokens per second of repetition i.
  f64 speed(usize i) const { return f64(kind.tokens()) / seconds[i]; }
  f64 mean_seconds() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0) / f64(seconds.size()); }
  f64 mean_speed() const {
    f64 sum = 0.0;
    for (usize i = 0; i < seconds.size(); ++i) sum += speed(i);
    return sum / f64(seconds.size());
  }
  f64 median_speed() const {
    std::vector<f64> v;
    for (usize i = 0; i < seconds.size(); ++i) v.push_back(speed(i));
    std::sort(v.begin(), v.end());
    return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2.0;
  }
  /// The share of the ceiling that the median reaches, in percent.
  f64 percent() const { return 100.0 * least * median_speed() / f64(kind.tokens()); }
};

/// Deviation of a sample from its mean.
template <class F>
f64 deviation(usize n, f64 mean, F&& value) {
  f64 sum = 0.0;
  for (usize i = 0; i < n; ++i) sum += (value(i) - mean) * (value(i) - mean);
  return n > 1 ? std::sqrt(sum / f64(n - 1)) : 0.0;
}

/// A model in a session that is measured.
class measured_session {
 public:
  using session_type = host::text_session<measured_model>;

  /// Room for all tests. Errors: those of text_session::make.
  static result<measured_session> make(const host::loaded<measured_model>& m, std::span<const test> tests, u32 batch,
                                       u32 kv_type, bool profile) {
    u32 context = 0;
    for (const test& t : tests) context = std::max(context, t.depth + t.tokens());
    host::session_options o{.context = context + 1, .batch = batch, .kv_type = kv_type};
    // A source is one batch, and its start token follows.
    if (m.encodes_source()) o.batch = std::max(batch, context + 1);
    const bool embeds = !m.hp().causal && !m.encodes_source();
    if (embeds) o.output = output_kind::states;
    if (embeds) o.pool = pooling::mean, o.batch = std::max(batch, context);
    JIG_TRY(auto kernels, measured_model::make_kernels());
    if (profile) {
      JIG_TRY(const cpu::kernel_table* const t,
              cpu::choose_table(jig_dispatch_tables, cpu::forced_isa(), cpu::detect_isas(),
                                type_bits(measured_model::quants{})));
      kernels = measured_model::kernels(with_profile(*t));
    }
    JIG_TRY(session_type s, session_type::make(m, o, kernels));
    return measured_session(std::move(s), embeds);
  }

  const char* isa() const noexcept { return session_.kernels().isa_name(); }

  /// The seconds of one test. Errors: those of decoding; not_supported (generation by an encoder).
  result<f64> run(const test& t) {
    if (embeds_ && (t.generated != 0 || t.depth != 0)) return fail(errc::not_supported, "generation by an encoder");
    JIG_CHECK(go_to(t.depth));
    const auto start = std::chrono::steady_clock::now();
    if (t.prompt != 0) JIG_CHECK(feed(t.prompt));
    for (u32 i = 0; i < t.generated; ++i) JIG_CHECK(feed(1));
    return std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  measured_session(session_type s, bool embeds) : session_(std::move(s)), embeds_(embeds) {}

  /// Makes the sequence `depth` tokens long; what is there already is kept where the model can go back.
  result<void> go_to(u32 depth) {
    session& core = session_.core();
    const bool source = session_.model().encodes_source();
    if (source || core.length(0) < depth || !core.truncate(0, depth)) JIG_CHECK(core.truncate(0, 0));
    if (source) return start_decoder(std::max(depth, 1u));
    if (core.length(0) < depth) JIG_CHECK(feed(depth - core.length(0)));
    return {};
  }

  /// For models of an encoder and a decoder: a source of n tokens and the start token.
  result<void> start_decoder(u32 n) {
    const std::vector<i32> tokens = draw(n);
    const auto logits = session_.feed_source(tokens);
    return logits ? result<void>() : result<void>(logits.error());
  }

  /// Appends n random tokens; logits for the last one. A prompt of an encoder-decoder is its source.
  result<void> feed(u32 n) {
    if (session_.model().encodes_source() && n > 1) return start_decoder(n);
    if (embeds_) JIG_CHECK(session_.core().truncate(0, 0));
    const std::vector<i32> tokens = draw(n);
    if (!embeds_) {
      const auto logits = session_.feed(tokens);
      return logits ? result<void>() : result<void>(logits.error());
    }
    std::vector<batch_item> items;
    for (const i32 token : tokens) items.push_back({token, 0, items.empty()});
    const auto states = session_.decode(items);
    return states ? result<void>() : result<void>(states.error());
  }

  std::vector<i32> draw(u32 n) {
    std::vector<i32> tokens(n);
    for (i32& t : tokens) t = static_cast<i32>(random_.next() % session_.model().hp().n_vocab);
    return tokens;
  }

  session_type session_;
  bool embeds_;
  sample::pcg32 random_{1};
};

/// Bytes of keys and values that a token with `length` tokens before it reads; windows and choices bound them.
inline f64 kv_bytes(const host::loaded<measured_model>& m, u32 kv_type, u32 length) {
  const auto plan = m.plan({.context = std::max(length, 1u), .batch = 1, .kv_type = kv_type, .kept_window = 0}, 1);
  return plan ? f64(plan->plan.kv_bytes) : 0.0;
}

/// The least seconds for a test: each prompt's operations, each generated token's bytes.
inline void set_least(measurement& r, const host::loaded<measured_model>& m, const ceilings& c) {
  const test& t = r.kind;
  const matrix_work &layers = r.work.layers, &output = r.work.output;
  const f64 prompt = t.prompt != 0 ? ops_seconds(layers, f64(t.prompt), c) + ops_seconds(output, 1.0, c) : 0.0;
  const f64 token_bytes = layers.bytes + output.bytes + kv_bytes(m, r.kv_type, t.depth + t.prompt + t.generated / 2);
  const f64 generation = f64(t.generated) * token_bytes / c.read;
  r.least = prompt + generation;
  r.ceiling_name = generation > prompt ? "read" : layers.int8_ops >= layers.bf16_ops + layers.f32_ops ? "int8 ops"
                   : layers.bf16_ops >= layers.f32_ops && c.bf16 != 0.0                              ? "bf16 ops"
                                                                                                      : "f32 ops";
}

/// The time now as "2026-11-30T20:15:00Z".
inline std::string time_now() {
  const std::time_t now = std::time(nullptr);
  char s[32];
  std::strftime(s, sizeof s, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return s;
}

}  // namespace jig::bench
