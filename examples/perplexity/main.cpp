// jig-perplexity: how well models predict a text, and how far they are from a base model. See docs/perplexity.md.
//
// Exit status: 0 done, 1 an error, 2 a wrong command line.

#include <exception>
#include <filesystem>

#include "jig/host/base_logits.hpp"
#include "jig/host/compiled.hpp"
#include "jig/host/console.hpp"
#include "jig/host/read_text.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "show.hpp"

namespace {

using namespace jig;
using namespace jig::perplexity;
using any_model = host::compiled_model;
using model = host::loaded<any_model>;

constexpr int failed = 1, wrong_usage = 2;

int usage_error(const std::string& what) {
  host::note(fmt::format("error: {}\n(jig-perplexity --help lists the options)", what));
  return wrong_usage;
}

int print(const std::string& s) {
  host::output out;
  if (out.write(s) || out.gone()) return 0;
  return host::report(out.failure()), failed;
}

/// The whole chunks of a text. Errors: those of reading and tokenizing; bad_argument (a text shorter than one chunk;
/// got: its tokens).
result<std::vector<i32>> read_chunks(const model& m, const settings& s) {
  JIG_TRY(const std::string text, host::read_text(s.file));
  JIG_TRY(std::vector<i32> ids, m.vocabulary().tokenize(text, {.add_special = true}));
  if (ids.size() < s.context)
    return fail(errc::bad_argument, "the text is shorter than one chunk (-c)").got(ids.size());
  ids.resize(ids.size() / s.context * s.context);
  return ids;
}

/// Shows on a terminal how far a model is.
class chunk_bar {
 public:
  explicit chunk_bar(u32 chunks) : chunks_(chunks) {}
  void update(u32 done, const host::mean_of& losses) {
    if (shown_) std::fprintf(stderr, "\rchunk %u of %u: perplexity %.4f ", done, chunks_, perplexity_of(losses).first);
    if (shown_ && done == chunks_) std::fprintf(stderr, "\n");
  }

 private:
  u32 chunks_;
  bool shown_ = host::on_terminal();
};

/// Scores all chunks. Each scored token: f(logits, next, chunk, index), which may fail.
template <class F>
result<void> score(const model& m, const settings& s, std::span<const i32> ids, u32 context, measured& into, F&& f) {
  JIG_TRY(auto scorer,
          host::chunk_scorer<any_model>::make(m, {.context = context, .kv_type = s.kv_type, .batch = s.batch}));
  u32 chunks = static_cast<u32>(ids.size() / context);
  if (s.chunks != 0) chunks = std::min(chunks, s.chunks);
  chunk_bar bar(chunks);
  for (u32 c = 0; c < chunks; ++c) {
    result<void> done;
    JIG_CHECK(scorer.run(ids.subspan(usize{c} * context, context), [&](auto logits, i32 next, u32 index) {
      into.losses.add(host::loss(logits, next));
      if (done) done = f(logits, next, c, index);
    }));
    JIG_CHECK(done);
    bar.update(c + 1, into.losses);
  }
  return {};
}

/// The perplexity of one model over a text; its predictions are written where a base file is named.
result<void> measure_text(const model& m, const settings& s, measured& into) {
  JIG_TRY(std::vector<i32> ids, read_chunks(m, s));
  const auto nothing = [](auto, i32, u32, u32) { return result<void>(); };
  if (s.base.empty()) return score(m, s, ids, s.context, into, nothing);
  if (s.chunks != 0) ids.resize(std::min(ids.size(), usize{s.chunks} * s.context));
  JIG_TRY(host::base_writer out, host::base_writer::create(s.base, s.context, m.hp().n_vocab, ids));
  JIG_CHECK(score(m, s, ids, s.context, into, [&](auto logits, i32, u32, u32) { return out.add(logits); }));
  return out.commit();
}

/// One model against a base model's predictions.
result<void> measure_against(const model& m, const settings& s, const host::base_logits& base, measured& into) {
  if (base.n_vocab() != m.hp().n_vocab) return fail(errc::bad_value, "vocabulary of the base file").got(base.n_vocab());
  host::divergence& d = into.against_base.emplace();
  std::vector<f32> expected;
  return score(m, s, base.tokens(), base.context(), into, [&](auto logits, i32 next, u32 chunk, u32 index) {
    base.read(chunk, index, expected);
    d.add(expected, logits, next);
    return result<void>();
  });
}

u64 file_bytes(const model& m) {
  u64 bytes = 0;
  for (const gguf::tensor_info& t : m.file().tensors()) bytes += t.bytes;
  return bytes;
}

/// Writes the picture. False: an error was reported.
bool draw(const settings& s, const std::vector<measured>& all) {
  std::vector<plot_point> points;
  for (const measured& m : all)
    points.push_back({std::filesystem::path(m.path).stem().string(), static_cast<f64>(m.bytes) / (1 << 20),
                      m.against_base->kl().mean()});
  const std::string svg = plot(points);
  auto file = host::output_file::create(s.plot);
  result<void> done = file ? file->write({reinterpret_cast<const u8*>(svg.data()), svg.size()}) : file.error();
  if (done) done = file->commit();
  if (!done) host::report(done.error(), s.plot);
  return static_cast<bool>(done);
}

int run(const settings& s) {
  std::optional<host::base_logits> base;
  if (s.compare) {
    auto opened = host::base_logits::open(s.base);
    if (!opened) return host::report(opened.error(), s.base), failed;
    base = *std::move(opened);
  }
  std::vector<measured> all;
  for (const std::string& path : s.models) {
    const auto m = host::try_load<any_model>(path, {.threads = s.threads, .repack = s.repack});
    if (!m) return host::report(m.error(), path), failed;
    measured one{path, file_bytes(*m), {}, {}};
    const result<void> done = base ? measure_against(*m, s, *base, one) : measure_text(*m, s, one);
    if (!done) return host::report(done.error(), path), failed;
    if (!s.json)
      if (const int status = print((all.empty() ? "" : "\n") + shown(one)); status != 0) return status;
    all.push_back(std::move(one));
  }
  if (s.json) {
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const measured& m : all) j.push_back(shown_json(m));
    if (print(j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n") != 0) return failed;
  }
  return s.plot.empty() || draw(s, all) ? 0 : failed;
}

int start(std::span<const char* const> words) {
  settings s;
  if (const std::string wrong = host::parse(std::span<const row>(table), words, s); !wrong.empty())
    return usage_error(wrong);
  if (s.help)
    return print(
        "jig-perplexity says how well models predict a text, and how far they are from a base model.\n\n"
        "  jig-perplexity -m FILE.gguf -f TEXT [--kl-divergence-base BASE]\n"
        "  jig-perplexity -m FILE.gguf [-m FILE2.gguf...] --kl-divergence-base BASE --kl-divergence\n\n" +
        host::help_text(std::span<const row>(table)));
  if (const std::string wrong = check(s); !wrong.empty()) return usage_error(wrong);
  return run(s);
}

}  // namespace

int main(int argc, char** argv) try {
  return start({argv + 1, argv + (argc > 0 ? argc : 1)});
} catch (const std::exception& e) {
  host::note(fmt::format("error: {}", e.what()));
  return failed;
}
