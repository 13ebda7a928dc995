// jig-cli: continues a text with a GGUF model. See docs/cli.md.
//
// Exit status: 0 done, 1 an error, 2 a wrong command line, 130 ended by Ctrl-C (143 by SIGTERM).

#include <exception>

#include "../demo_model.hpp"
#include "options.hpp"
#include "run.hpp"
#include "show_plan.hpp"

namespace {

using namespace jig;
using namespace jig::cli;

constexpr const char* demo_prompt = "Once upon a time, there was a little fox named";

int usage_error(const std::string& what) {
  note(fmt::format("error: {}\n(jig-cli --help lists the options)", what));
  return wrong_usage;
}

int print(const std::string& s) {
  output out;
  return out.write(s) || out.gone() ? 0 : report(out.failure());
}

std::string help() {
  return "jig-cli continues a text with a GGUF model.\n\n  jig-cli -m FILE.gguf -p TEXT [-n N]\n\n" +
         host::help_text(std::span<const row>(table)) +
         "\nThe text goes to standard output, everything else to standard error.\n"
         "JIG_ISA=NAME in the environment forces an instruction set.\n"
         "Exit status: 0 done, 1 an error, 2 a wrong command line, 130 ended by Ctrl-C.\n";
}

std::string version() {
  std::string text = fmt::format("jig-cli {}\narchitectures: {}\nblock types:", JIG_VERSION,
                                 host::detail::names_of(arch_infos<cli::any_model::archs>));
  for_each_type(cli::any_model::quants{}, [&]<class T>(type_tag<T>) { text += fmt::format(" {}", T::name); });
  return text + "\n";
}

int print_plan(const settings& s, const std::string& path) {
  const auto plan = host::plan_memory<cli::any_model>(path, s.session, s.threads, s.repack);
  if (!plan) return report(plan.error(), path);
  return print(s.json ? plan_json(*plan) : plan_text(*plan));
}

/// The prompt that the options give, or an error.
result<std::string> read_prompt(const settings& s) {
  std::string text = s.prompt.value_or(demo_prompt);
  if (s.file) {
    JIG_TRY(text, host::read_text(*s.file));
  }
  // A file's contents are taken as they are unless -e is given: who writes a file can write line ends.
  return s.escapes.value_or(!s.file) ? host::unescape(text) : text;
}

int start(const char* self, std::span<const char* const> words) {
  settings s;
  if (const std::string wrong = host::parse(std::span<const row>(table), words, s); !wrong.empty())
    return usage_error(wrong);
  if (s.help) return print(help());
  if (s.version) return print(version());
  if (const std::string wrong = check(s); !wrong.empty()) return usage_error(wrong);
  if (!s.model.empty() && !s.prompt && !s.file && !s.plan)
    return usage_error("no prompt: give one with -p TEXT or -f FILE (-f - reads standard input)");
  std::string path = s.model;
  if (path.empty()) {
    path = examples::find_demo_model(self);
    if (path.empty()) return usage_error("no model: give one with -m FILE.gguf (the bundled demo model was not found)");
    note("no -m: using the bundled demo model " + path);
  }
  if (s.plan) return print_plan(s, path);
  const auto prompt = read_prompt(s);
  if (!prompt) return report(prompt.error());
  return run(s, path, *prompt);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return start(argc > 0 ? argv[0] : "", {argv + (argc > 0), argv + argc});
  } catch (const std::exception& e) {  // out of memory, in the end
    return report(fail(errc::out_of_memory, e.what()));
  }
}
