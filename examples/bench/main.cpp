// jig-bench: how fast models run, beside what the machine can do at most. See docs/bench.md.
//
// Exit status: 0 done, 1 an error, 2 a wrong command line.

#include <exception>
#include <map>

#include "../demo_model.hpp"
#include "jig/host/console.hpp"
#include "jig/host/output_file.hpp"
#include "show.hpp"

namespace {

using namespace jig;
using namespace jig::bench;

constexpr int failed = 1, wrong_usage = 2;

int usage_error(const std::string& what) {
  host::note(fmt::format("error: {}\n(jig-bench --help lists the options)", what));
  return wrong_usage;
}

/// Measures one model after another.
class run {
 public:
  explicit run(const settings& s) : s_(s), tests_(tests_of(s)), table_(s.format) {}

  /// A file, or bytes in memory under a name. False: an error was reported.
  bool file(const std::string& path) {
    return each_thread_count(path, path);
  }
  bool bytes(const std::string& name, std::span<const u8> file) {
    return each_thread_count(name, file);
  }
  bool end() { return put(table_.end()); }

 private:
  template <class File>
  bool each_thread_count(const std::string& name, const File& file) {
    for (const u32 threads : s_.threads) {
      const auto m = host::try_load<measured_model>(file, {.threads = threads, .repack = s_.repack});
      if (!m) return host::report(m.error(), name), false;
      for (const u32 batch : s_.batches)
        for (const u32 kv_type : s_.kv_types)
          if (!each_test(name, *m, batch, kv_type)) return false;
    }
    return true;
  }

  bool each_test(const std::string& name, const host::loaded<measured_model>& m, u32 batch, u32 kv_type) {
    auto session = measured_session::make(m, tests_, batch, kv_type, s_.profile);
    if (!session) return host::report(session.error(), name), false;
    const ceilings* const c = ceilings_of(m.threads().threads);
    if (s_.ceilings && c == nullptr) return false;
    for (const test& t : tests_) {
      measurement r{.file = name,
                    .architecture = std::string(m.architecture()),
                    .isa = session->isa(),
                    .work = count_work(m.file(), m.hp()),
                    .threads = m.threads().threads,
                    .batch = batch,
                    .kv_type = kv_type,
                    .kind = t,
                    .time = time_now()};
      if (s_.progress) host::note(fmt::format("jig-bench: {}, {} threads: {}", name, r.threads, t.name()));
      if (const auto done = repeat(*session, r); !done)
        return host::report(done.error(), name + ": " + t.name()), false;
      if (c != nullptr) set_least(r, m, *c);
      if (!put(table_.add(r))) return false;
      if (s_.profile) {
        const f64 seconds = std::accumulate(r.seconds.begin(), r.seconds.end(), 0.0);
        host::note(fmt::format("{}: share of the time\n{}", t.name(), profile_text(seconds)));
      }
    }
    return true;
  }

  result<void> repeat(measured_session& session, measurement& r) {
    if (s_.warmup) {
      test t = r.kind;
      t.generated = std::min(t.generated, 1u);
      JIG_CHECK(session.run(t));
    }
    for (u32 i = 0; i < s_.repetitions; ++i) {
      if (i == 0) reset_profile();
      JIG_TRY(const f64 seconds, session.run(r.kind));
      r.seconds.push_back(seconds);
    }
    return {};
  }

  /// Measured once for each number of threads; null without --no-ceilings means that an error was reported.
  const ceilings* ceilings_of(u32 threads) {
    if (!s_.ceilings) return nullptr;
    const auto known = ceilings_.find(threads);
    if (known != ceilings_.end()) return &known->second;
    const auto c = measure_ceilings(threads);
    if (!c) return host::report(c.error()), nullptr;
    host::note(shown(*c));
    return &ceilings_.emplace(threads, *c).first->second;
  }

  bool put(const std::string& text) {
    if (out_.write(text) || out_.gone()) return true;
    return host::report(out_.failure()), false;
  }

  const settings& s_;
  std::vector<test> tests_;
  table_writer table_;
  host::output out_;
  std::map<u32, ceilings> ceilings_;
};

int save(const std::string& path, const host::synthetic_model& m) {
  const auto written = [&]() -> result<void> {
    JIG_TRY(host::output_file file, host::output_file::create(path));
    JIG_CHECK(m.file().write([&](std::span<const u8> piece) { return file.write(piece); }));
    return file.commit();
  }();
  return written ? 0 : (host::report(written.error()), failed);
}

int measure_all(const settings& s, const char* self) {
  run r(s);
  for (const std::string& path : s.models)
    if (!r.file(path)) return failed;
  for (const synthetic_name& one : s.synthetic) {
    const std::string name = fmt::format("{}:{}", one.shape->name, find_block_info(one.type)->name);
    std::vector<u8> bytes;
    {
      const auto m = host::synthetic_model::make(*one.shape, one.type);
      if (!m) return host::report(m.error(), name), failed;
      if (!s.save.empty()) return save(s.save, *m);
      auto made = m->file().bytes();
      if (!made) return host::report(made.error(), name), failed;
      bytes = *std::move(made);
    }
    if (!r.bytes(name, bytes)) return failed;
  }
  if (s.models.empty() && s.synthetic.empty()) {
    const std::string path = examples::find_demo_model(self);
    if (path.empty()) return usage_error("no model: give one with -m FILE.gguf or --synthetic SHAPE:TYPE");
    if (!r.file(path)) return failed;
  }
  return r.end() ? 0 : failed;
}

int start(const char* self, std::span<const char* const> words) {
  settings s;
  if (const std::string wrong = host::parse(std::span<const row>(table), words, s); !wrong.empty())
    return usage_error(wrong);
  host::output out;
  if (s.help)
    return out.write("jig-bench measures how fast models run.\n\n  jig-bench -m FILE.gguf [-p N] [-n N]\n\n" +
                     host::help_text(std::span<const row>(table))),
           0;
  if (s.version) return out.write("jig-bench " JIG_VERSION "\n"), 0;
  if (const std::string wrong = check(s); !wrong.empty()) return usage_error(wrong);
  return measure_all(s, self);
}

}  // namespace

int main(int argc, char** argv) try {
  return start(argc > 0 ? argv[0] : "", {argv + (argc > 0), argv + argc});
} catch (const std::exception& e) {  // out of memory, in the end
  host::note(fmt::format("error: {}", e.what()));
  return failed;
}
