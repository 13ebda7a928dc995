#pragma once
// What jig-cli does with its settings: load, stream the continuation to standard output, report on standard error.

#include <chrono>
#include <cstdio>
#include <string>

#include "interrupt.hpp"
#include "jig/host/compiled.hpp"
#include "jig/host/console.hpp"
#include "jig/host/escapes.hpp"
#include "jig/host/progress.hpp"
#include "jig/host/read_text.hpp"
#include "options.hpp"

namespace jig::cli {

using any_model = host::compiled_model;
using host::note, host::output;
using clock = std::chrono::steady_clock;

inline constexpr int failed = 1, wrong_usage = 2;

inline f64 seconds_since(clock::time_point start) { return std::chrono::duration<f64>(clock::now() - start).count(); }

/// Prints an error with what to do about it; the exit status.
inline int report(const error& e, const std::string& subject = {}) {
  host::report(e, subject,
               e.code == errc::out_of_memory ? "; choose a smaller -c or -b, or -ctk q8_0 -ctv q8_0" : "");
  return failed;
}

/// The instruction set of a kernel set.
template <class K>
std::string_view kernels_name(const K& k) {
  if constexpr (requires { k.isa_name(); }) return k.isa_name();
  else return isa::native::name;
}

inline std::string timing(std::string_view what, f64 seconds, u32 n, std::string_view unit) {
  const f64 each = n == 0 ? 0.0 : 1000.0 * seconds / n, rate = seconds > 0.0 ? n / seconds : 0.0;
  return fmt::format("{:>18} time = {:>10.2f} ms / {:>5} {:<6} ({:>8.2f} ms per token, {:>9.2f} tokens per second)",
                     what, 1000.0 * seconds, n, unit, each, rate);
}

inline void show_timings(f64 load, const host::generation_stats& s, f64 total) {
  note(fmt::format("{:>18} time = {:>10.2f} ms", "load", 1000.0 * load));
  note(timing("prompt", s.prompt_seconds, s.prompt_tokens, "tokens"));
  note(timing("generation", s.generate_seconds, s.generate_decodes, "runs"));
  note(timing("sampling", s.sample_seconds, s.generated_tokens, "tokens"));
  note(fmt::format("{:>18} time = {:>10.2f} ms / {:>5} tokens", "total", 1000.0 * total,
                   s.prompt_tokens + s.generated_tokens));
}

/// Loads with a progress bar where standard error is a terminal.
inline result<host::loaded<any_model>> load(const std::string& path, const settings& s) {
  host::progress_bar bar("loading");
  const bool shown = host::on_terminal();
  const auto draw = [&](const std::string& line) {
    if (shown) std::fputs(line.c_str(), stderr);
  };
  auto m = host::try_load<any_model>(
      path, {.threads = s.threads, .repack = s.repack, .progress = [&](u64 done, u64 total) {
               draw(bar.update(done, total));
               return !interrupted;
             }});
  draw(bar.finish());
  return m;
}

/// Streams all pieces; false if standard output failed.
inline bool stream(host::generation<any_model>& g, output& out) {
  while (g.advance())
    if (!out.write(g.piece())) return false;
  return true;
}

/// The last lines and the exit status after a generation.
inline int finish(const host::generation<any_model>& g, const output& out, bool written, u32 context) {
  if (!written && !out.gone()) return report(out.failure());
  if (!written) return 0;
  switch (g.reason()) {
    case host::stop_reason::failed: return report(g.failure());
    case host::stop_reason::context_full:
      note(fmt::format("the context of {} tokens is full (-c)", context));
      return 0;
    case host::stop_reason::cancelled: note("interrupted"); return 128 + interrupted_by;
    default: return 0;
  }
}

/// Continues the prompt. Returns the exit status.
inline int run(const settings& s, const std::string& path, const std::string& prompt) {
  catch_signals();
  const clock::time_point start = clock::now();
  const auto m = load(path, s);
  if (!m && m.error().code == errc::cancelled) return note("interrupted"), 128 + interrupted_by;
  if (!m) return report(m.error(), path);
  if (s.context_shift && !m->shifts()) {
    note(fmt::format("error: --context-shift: what {} models remember cannot be moved", m->architecture()));
    return failed;
  }
  auto options = s.session;
  if (s.context_shift) options.kept_window = ~u32{0};  // what is moved must still be there
  auto session = host::text_session<any_model>::make(*m, options);
  if (!session) return report(session.error());
  const f64 load_seconds = seconds_since(start);
  const u32 context = session->core().config().context;
  if (context > m->hp().n_ctx_train)
    note(fmt::format("warning: -c {} is more than the {} tokens that the model was trained for", context,
                     m->hp().n_ctx_train));

  output out;
  host::generation<any_model> g = session->generate(prompt, {.sampling = s.sampling,
                                                             .max_tokens = s.max_tokens,
                                                             .parse_special = true,
                                                             .context_shift = s.context_shift,
                                                             .keep = s.keep,
                                                             .cancel = &interrupted});
  note(fmt::format("{}, {} threads, {} kernels, seed {}", m->architecture(), m->threads().threads,
                   kernels_name(session->kernels()), g.seed()));
  if (g.reason() == host::stop_reason::failed) return report(g.failure());
  if (const usize n = g.prompt_ids().size(); n > context) {
    note(fmt::format("error: the prompt has {} tokens and the context {}; choose a larger -c", n, context));
    return failed;
  }
  bool written = !s.show_prompt || out.write(prompt);
  written = written && stream(g, out) && out.end();
  show_timings(load_seconds, g.stats(), seconds_since(start));
  return finish(g, out, written, context);
}

}  // namespace jig::cli
