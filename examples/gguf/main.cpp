// jig-gguf: shows, checks, splits, joins and edits GGUF files.
//
// Exit status: 0 done, 1 an error in a file or the system, 2 a wrong command line.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <new>

#include "commands.hpp"
#include "jig/core/message.hpp"
#include "show.hpp"

namespace {

using namespace jig;
using namespace jig::gguf_tool;

/// "-" means standard input.
std::string input_path(const std::string& path) { return path == "-" ? "/dev/stdin" : path; }

int report(const std::string& path, const error& e) {
  char line[512];
  const std::string_view text = message(e, line);
  std::fprintf(stderr, "jig-gguf: %s: %.*s [%s]\n", path.c_str(), static_cast<int>(text.size()), text.data(),
               std::string(name(e.code)).c_str());
  return 1;
}

/// Prints a command's text; a full disk behind standard output is an error too.
int finish(const std::string& path, const result<std::string>& text) {
  if (!text) return report(path, text.error());
  auto out = host::output_file::create("-");
  if (!out) return report("standard output", out.error());
  auto written = out->write({reinterpret_cast<const u8*>(text->data()), text->size()});
  if (written) written = out->commit();
  return written ? 0 : report("standard output", written.error());
}

result<std::string> show(const std::string& path, const show_options& options, bool as_json) {
  JIG_TRY(const host::model_file m, host::open_model_file(path));
  return as_json ? show_json(m, options) : show_text(m, options);
}

/// Negative numbers look like options to the parser: `set FILE KEY i32 -1` becomes `set FILE KEY i32 -- -1`.
std::vector<std::string> guard_numbers(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc), options, words;
  if (args.empty() || args[0] != "set") return args;
  const auto is_number = [](const std::string& a) {
    return a.size() > 1 && a[0] == '-' && (a[1] == '.' || std::isdigit(static_cast<unsigned char>(a[1])));
  };
  if (std::find(args.begin(), args.end(), "--") != args.end()) return args;
  for (usize i = 0; i < args.size(); ++i) {
    const bool option = args[i].size() > 1 && args[i][0] == '-' && !is_number(args[i]);
    (option ? options : words).push_back(args[i]);
    if ((args[i] == "-o" || args[i] == "--output") && i + 1 < args.size()) options.push_back(args[++i]);
  }
  std::vector<std::string> out = {words[0]};
  out.insert(out.end(), options.begin(), options.end());
  out.push_back("--");
  out.insert(out.end(), words.begin() + 1, words.end());
  return out;
}

/// The command line: options and, for each command, what to run.
class program {
 public:
  program() {
    app_.require_subcommand(1);
    add_show();
    add_checks();
    add_split();
    add_edits();
  }

  int run(int argc, char** argv) {
    try {
      std::vector<std::string> args = guard_numbers(argc, argv);
      std::reverse(args.begin(), args.end());  // CLI11 takes the words from the back
      app_.parse(args);
    } catch (const CLI::ParseError& e) { return app_.exit(e) == 0 ? 0 : 2; }
    return action_();
  }

 private:
  CLI::App* command(const char* name, const char* about, std::function<int()> action) {
    CLI::App* c = app_.add_subcommand(name, about);
    c->callback([this, action] { action_ = action; });
    return c;
  }

  void add_show() {
    CLI::App* c = command("show", "Print header, keys and tensors",
                          [this] { return finish(path_, show(input_path(path_), show_, json_)); });
    c->add_option("FILE", path_, "GGUF file, any part of a split one, or - for standard input")->required();
    c->add_flag("--json", json_, "as JSON");
    c->add_flag("--full", show_.full, "long strings and arrays to the end");
    c->add_flag("!--no-keys", show_.keys, "leave out the keys");
    c->add_flag("!--no-tensors", show_.tensors, "leave out the tensors");
  }

  void add_checks() {
    CLI::App* v = command("verify", "Check everything, the tensors' data included", [this] {
      int status = 0;
      for (const std::string& path : paths_) status = std::max(status, finish(path, verify(input_path(path))));
      return status;
    });
    v->add_option("FILE", paths_, "GGUF files")->required();
    CLI::App* h = command("sha256", "Print the SHA-256 of each tensor's data",
                          [this] { return finish(path_, hashes(input_path(path_))); });
    h->add_option("FILE", path_, "GGUF file, or any part of a split one")->required();
  }

  void add_split() {
    CLI::App* s = command("split", "Split a model into PREFIX-00001-of-0000N.gguf ...",
                          [this] { return finish(path_, split(input_path(path_), output_, limits_)); });
    s->add_option("FILE", path_, "GGUF file")->required();
    s->add_option("PREFIX", output_, "path of the parts without -00001-of-0000N.gguf")->required();
    s->add_option("--split-max-tensors", limits_.tensors, "most tensors of a part")->check(CLI::PositiveNumber);
    s->add_option("--split-max-size", limits_.data_bytes,
                  "most tensor bytes of a part: a number with K, M or G (of 1000)")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, u64>{{"K", 1000}, {"M", 1000000}, {"G", 1000000000}}))
        ->check(CLI::PositiveNumber);
    CLI::App* m = command("merge", "Join the parts of a split model",
                          [this] { return finish(path_, merge(input_path(path_), output_)); });
    m->add_option("FILE", path_, "any part")->required();
    m->add_option("OUT", output_, "the file to write, or -")->required();
  }

  void add_edits() {
    CLI::App* s =
        command("set", "Set a key: set FILE KEY TYPE VALUE (TYPE: u8 ... f64, bool, string; TYPE[] VALUES...)",
                [this] { return finish(path_, set_key(input_path(path_), target(), key_, type_, words_)); });
    s->add_option("FILE", path_, "GGUF file")->required();
    s->add_option("KEY", key_, "metadata key")->required();
    s->add_option("TYPE", type_, "its type; with [] for an array")->required();
    s->add_option("VALUE", words_, "its value or values");
    s->add_option("-o,--output", output_, "write here (- for standard output) instead of changing FILE");
    CLI::App* r = command("remove", "Remove a key",
                          [this] { return finish(path_, remove_key(input_path(path_), target(), key_)); });
    r->add_option("FILE", path_, "GGUF file")->required();
    r->add_option("KEY", key_, "metadata key")->required();
    r->add_option("-o,--output", output_, "write here (- for standard output) instead of changing FILE");
  }

  /// Where an edited file goes: standard input can only go to standard output.
  std::string target() const { return output_.empty() ? path_ : output_; }

  CLI::App app_{"Shows, checks, splits, joins and edits GGUF files", "jig-gguf"};
  std::function<int()> action_;
  std::string path_, output_, key_, type_;
  std::vector<std::string> paths_, words_;
  show_options show_;
  bool json_ = false;
  gguf::split_limits limits_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return program().run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("jig-gguf: not enough memory\n", stderr);
    return 1;
  }
}
