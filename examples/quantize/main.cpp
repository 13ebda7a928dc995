// jig-quantize: a model in smaller types. See docs/quantize.md.
//
// Exit status: 0 done, 1 an error, 2 a wrong command line.

#include <exception>

#include "jig/host/console.hpp"
#include "jig/host/output_file.hpp"
#include "jig/host/progress.hpp"
#include "jig/host/quantize.hpp"
#include "options.hpp"

namespace {

using namespace jig;
using namespace jig::quantize;

constexpr int failed = 1, wrong_usage = 2;

int usage_error(const std::string& what) {
  host::note(fmt::format("error: {}\n(jig-quantize --help lists the options)", what));
  return wrong_usage;
}

int print(const std::string& s) {
  host::output out;
  if (out.write(s) || out.gone()) return 0;
  return host::report(out.failure()), failed;
}

host::mix_request request_of(const settings& s) {
  host::mix_request r{.mix = *s.mix, .pure = s.pure, .leave_output = s.leave_output};
  r.output_type = s.output_type;
  r.embedding_type = s.embedding_type;
  if (!s.tensor_types.empty())
    r.wanted = [&s](std::string_view name) -> std::optional<u32> {
      for (const auto& [expression, type] : s.tensor_types)
        if (std::regex_search(name.begin(), name.end(), expression)) return type;
      return {};
    };
  return r;
}

/// "blk.0.attn_q.weight  2048 x 2048  f16 -> q4_K  2.25 MiB", and the sums.
std::string shown(const host::quantization& q) {
  std::string out;
  u64 before = 0, after = 0, weights = 0;
  for (const host::quantized_tensor& t : q.tensors()) {
    std::string shape;
    for (u32 d = 0; d < t.from.n_dims; ++d) shape += fmt::format("{}{}", d == 0 ? "" : " x ", t.from.ne[d]);
    const std::string_view from = find_block_info(t.from.type)->name, to = find_block_info(t.type)->name;
    out += fmt::format("{:<40} {:>22}  {:>8}{:<12} {:>10}\n", t.from.name, shape, from,
                       from == to ? "" : fmt::format(" -> {}", to), host::readable_bytes(t.bytes));
    before += t.from.bytes, after += t.bytes, weights += t.from.elements();
  }
  return out + fmt::format("{} -> {} ({:.2f} bits per weight)\n", host::readable_bytes(before),
                           host::readable_bytes(after), 8.0 * static_cast<f64>(after) / static_cast<f64>(weights));
}

/// Writes the new file, with a bar on a terminal. The file appears when it is complete.
result<void> write(const settings& s, const host::quantization& q) {
  host::pool pool({.threads = s.threads});
  host::progress_bar bar("quantising");
  const bool drawn = host::on_terminal();
  const auto draw = [&](const std::string& line) {
    if (drawn) std::fputs(line.c_str(), stderr);
  };
  JIG_TRY(const gguf::writer w, q.writer(pool.handle(), [&](u64 done, u64 total) {
            draw(bar.update(done, total));
            return true;
          }));
  JIG_TRY(host::output_file out, host::output_file::create(s.output));
  JIG_CHECK(w.write([&](std::span<const u8> piece) { return out.write(piece); }));
  draw(bar.finish());
  return out.commit();
}

int run(const settings& s) {
  const auto file = host::open_model_file(s.input);
  if (!file) return host::report(file.error(), s.input), failed;
  host::quantize_options options{.request = request_of(s), .from_quantised = s.from_quantised};
  std::optional<host::importance_matrix> importance;
  if (!s.importance.empty()) {
    auto m = host::importance_matrix::open(s.importance);
    if (!m) return host::report(m.error(), s.importance), failed;
    importance = *std::move(m);
    options.importance = &*importance;
  }
  const auto q = host::quantization::plan(file->set(), options);
  if (!q) return host::report(q.error(), s.input), failed;
  if (s.dry_run) return print(shown(*q));
  if (const auto done = write(s, *q); !done) return host::report(done.error(), s.output), failed;
  return 0;
}

int start(std::span<const char* const> words) {
  settings s;
  if (const std::string wrong = host::parse(std::span<const row>(table), words, s); !wrong.empty())
    return usage_error(wrong);
  if (s.help)
    return print("jig-quantize writes a model in smaller types.\n\n"
                 "  jig-quantize -m F16.gguf -o OUT.gguf --type Q4_K_M\n\n" +
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
