// jig-cli from outside: options, errors, exit statuses, pipes, signals, the end of the text.
#include "program.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#ifndef JIG_CLI
TEST_CASE("jig-cli") { MESSAGE("skipped: this build has no jig-cli (JIG_BUILD_EXAMPLES is off)"); }
#else

namespace {

const std::string demo = JIG_MODELS "/demo/jig-demo-q8_0.gguf";
const std::string question = "<|im_start|>user\n日本的首都是哪里？<|im_end|>\n<|im_start|>assistant\n";

std::vector<std::string> command(std::vector<std::string> words) {
  words.insert(words.begin(), JIG_CLI);
  return words;
}
outcome run(std::vector<std::string> words, const std::string& input = {}, std::vector<std::string> environment = {}) {
  program p(command(std::move(words)), std::move(environment));
  return p.finish(input);
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

bool valid_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || i + n > s.size()) return false;
    for (std::size_t k = 1; k < n; ++k)
      if ((static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return false;
    i += n;
  }
  return true;
}

/// A run whose prompt nearly fills the pipe, so that it is in the middle of its text when the pipe is full.
std::vector<std::string> long_run() {
  std::string prompt;
  while (prompt.size() + 60 < program::page) prompt += "One day, a girl named Lily found a red ball. ";
  return command({"-c", "4096", "--temp", "0", "-p", prompt + "Once upon a time"});
}

/// A wrong command line: status 2, nothing on standard output, this text in the one line of error.
void check_usage_error(std::vector<std::string> words, std::string_view expected) {
  const outcome o = run(std::move(words));
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(has(o.err, "error: "));
  CHECK(has(o.err, expected));
}
/// An error while running: status 1.
void check_error(std::vector<std::string> words, std::string_view expected, std::vector<std::string> environment = {}) {
  const outcome o = run(std::move(words), {}, std::move(environment));
  CAPTURE(o.err);
  CHECK(o.status == 1);
  CHECK(has(o.err, "error: "));
  CHECK(has(o.err, expected));
}

}  // namespace

TEST_CASE("jig-cli: without any option the demo model tells a story") {
  const outcome o = run({});
  CHECK(o.status == 0);
  CHECK(o.out.starts_with("Once upon a time, there was a little fox named "));
  CHECK(o.out.ends_with("\n"));
  CHECK(has(o.err, "no -m: using the bundled demo model"));
  CHECK(has(o.err, "prompt time ="));
  CHECK(has(o.err, "generation time ="));
  CHECK(!has(o.err, "\x1b"));  // no bar, no colour in a pipe
}

TEST_CASE("jig-cli: the seed that it tells repeats the text") {
  const outcome first = run({"-n", "20"});
  const std::size_t at = first.err.find("seed ");
  REQUIRE(at != first.err.npos);
  const std::string seed = first.err.substr(at + 5, first.err.find('\n', at) - at - 5);
  CHECK(run({"-n", "20", "-s", seed}).out == first.out);
  CHECK(run({"-n", "20", "-s", seed, "-t", "1", "-b", "3"}).out == first.out);
}

TEST_CASE("jig-cli: prompt from -p, -f and standard input, with and without escapes") {
  const std::vector<std::string> tail = {"-m", demo, "-n", "0", "-no-cnv"};
  const auto with = [&](std::vector<std::string> words, const std::string& input = {}) {
    words.insert(words.end(), tail.begin(), tail.end());
    const outcome o = run(words, input);
    CHECK_MESSAGE(o.status == 0, o.err);
    return o.out;
  };
  CHECK(with({"-p", "a\\tb"}) == "a\tb\n");
  CHECK(with({"-p", "a\\tb", "--no-escape"}) == "a\\tb\n");
  CHECK(with({"-f", "-"}, "from a pipe\n") == "from a pipe\n");
  CHECK(with({"-f", "-"}, "a\\tb") == "a\\tb\n");
  CHECK(with({"-f", "-", "-e"}, "a\\tb") == "a\tb\n");
  const auto path = std::filesystem::temp_directory_path() / "jig-cli-test-prompt.txt";
  std::ofstream(path) << "from a file";
  CHECK(with({"--file", path.string()}) == "from a file\n");
  std::filesystem::remove(path);
  CHECK(with({"-p", "Hi", "--no-display-prompt"}).empty());
}

TEST_CASE("jig-cli: for every -n the output is whole characters of the same answer") {
  const std::string whole = "日本的首都是东京。\n";
  for (int n = 0; n <= 12; ++n) {
    const outcome o = run({"-p", question, "-n", std::to_string(n), "--temp", "0", "--no-display-prompt"});
    CHECK(o.status == 0);
    CHECK(valid_utf8(o.out));
    if (n >= 10) CHECK(o.out == whole);
  }
  CHECK(run({"-p", question, "--temp", "0", "--no-display-prompt"}).out == whole);
}

TEST_CASE("jig-cli: stops when the context is full and says so") {
  const outcome o = run({"-c", "30", "--temp", "0"});
  CHECK(o.status == 0);
  CHECK(has(o.err, "the context of 30 tokens is full (-c)"));
  check_error({"-c", "4", "-p", "Once upon a time there was"},
              "the prompt has 6 tokens and the context 4; choose a larger -c");
  CHECK(has(run({"-c", "600", "-n", "1"}).err, "warning: -c 600 is more than the 512 tokens"));
}

TEST_CASE("jig-cli: with --context-shift a full context goes on") {
  const outcome o = run({"-c", "30", "--temp", "0", "-n", "80", "--context-shift", "--keep", "-1"});
  CHECK(o.status == 0);
  CHECK(valid_utf8(o.out));
  CHECK(!has(o.err, "is full"));
  check_usage_error({"--keep", "x"}, "--keep: must be");
}

TEST_CASE("jig-cli: wrong command lines say what is wrong with which option") {
  check_usage_error({"--tmep", "1"}, "unknown option --tmep; did you mean --temp?");
  check_usage_error({"-no-cvn"}, "did you mean -no-cnv?");
  check_usage_error({"--conversation"}, "unknown option --conversation; did you mean --no-conversation?");
  check_usage_error({"story"}, "\"story\" stands alone");
  check_usage_error({"-t", "0"}, "-t: must be a whole number from 1 to 1024");
  check_usage_error({"-t", "-2"}, "-t: must be");
  check_usage_error({"-c", "-1"}, "-c: must be");
  check_usage_error({"-c", "99999999999999999999"}, "-c: must be");
  check_usage_error({"-b", "0"}, "-b: must be");
  check_usage_error({"-n", "-3"}, "-n: must be");
  check_usage_error({"-s", "4294967296"}, "-s: must be");
  check_usage_error({"--temp", "-1"}, "--temp: must be");
  check_usage_error({"--temp", "nan"}, "--temp: must be");
  check_usage_error({"--top-p", "1.1"}, "--top-p: must be");
  check_usage_error({"-ctk", "q4_0"}, "-ctk: must be f32, f16, bf16 or q8_0");
  check_usage_error({"-ctk", "q8_0"}, "keys and values must have one type");
  check_usage_error({"-p"}, "-p: the value is missing");
  check_usage_error({"-p", "a", "-f", "b"}, "give the prompt once");
  check_usage_error({"--json"}, "belongs to --plan");
  check_usage_error({"-m", demo}, "no prompt: give one with -p TEXT or -f FILE");
}

TEST_CASE("jig-cli: errors while running are one line and status 1") {
  check_error({"-m", "/nowhere.gguf", "-p", "x"}, "/nowhere.gguf");
  check_error({"-m", "/", "-p", "x"}, "error: /: ");
  check_error({"-m", JIG_MODELS "/demo/README.md", "-p", "x"}, "not a GGUF file");
  check_error({"-f", "/nowhere.txt"}, "cannot open the file");
  check_error({"-p", ""}, "the prompt is empty");
  check_error({"-c", "2000000000", "-ctk", "f32", "-ctv", "f32"}, "not enough memory: keys, values and states",
              {"ASAN_OPTIONS=allocator_may_return_null=1"});
  check_error({}, "unknown name of an instruction set: nonsense", {"JIG_ISA=nonsense"});
}

TEST_CASE("jig-cli: every key/value type and an instruction set of choice tell a story") {
  for (const char* type : {"f32", "f16", "bf16", "q8_0"}) {
    const outcome o =
        run({"-n", "8", "--temp", "0", "-ctk", type, "-ctv", type, "--prompt", "The capital of France is"});
    CHECK_MESSAGE(o.out.starts_with("The capital of France is Paris."), o.err);
  }
  CHECK(has(run({"-n", "1"}, {}, {"JIG_ISA=scalar"}).err, "scalar kernels"));
}

TEST_CASE("jig-cli: --plan prints the memory by kind and loads nothing") {
  const outcome human = run({"--plan", "-c", "128"});
  CHECK(human.status == 0);
  CHECK(has(human.out, "llama, context 128 of 512"));
  CHECK(has(human.out, "q8_0 in 29 tensors"));
  const outcome o = run({"--plan", "--json", "-m", demo, "-c", "128", "-ctk", "f32", "-ctv", "f32"});
  const auto j = nlohmann::json::parse(o.out, nullptr, false);
  REQUIRE(!j.is_discarded());
  const auto& bytes = j["bytes"];
  CHECK(bytes["key_value_memory"] == 4 * 128 * 4 * 64 * 4);  // layers, tokens, heads, two rows of 32, f32
  CHECK(bytes["weights"] == 3908608);
  CHECK(bytes["weights_by_type"][0]["bytes"].get<int>() + bytes["weights_by_type"][1]["bytes"].get<int>() == 3908608);
  long sum = 0;
  for (const char* k :
       {"packed_weights", "key_value_memory", "activations", "page_index", "sampler_candidates", "vocabulary",
        "tensor_table"})
    sum += bytes[k].get<long>();
  CHECK(bytes["allocated"] == sum);
  CHECK(bytes["total"] == sum + 3908608 - bytes["replaced_by_packed"].get<long>());
  const outcome mapped = run({"--plan", "--json", "-m", demo, "--no-repack"});
  const auto plain = nlohmann::json::parse(mapped.out, nullptr, false);
  REQUIRE(!plain.is_discarded());
  CHECK(plain["bytes"]["packed_weights"] == 0);
  CHECK(plain["bytes"]["replaced_by_packed"] == 0);
  check_error({"--plan", "-m", "/nowhere.gguf"}, "/nowhere.gguf");
}

TEST_CASE("jig-cli: --help and --version answer on standard output") {
  const outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(has(help.out, "-n, --predict, --n-predict N"));
  CHECK(help.err.empty());
  CHECK(run({"--version"}).out.starts_with("jig-cli "));
}

TEST_CASE("jig-cli: Ctrl-C ends the text cleanly, with timings and status 130; SIGTERM likewise") {
  for (int signal : {SIGINT, SIGTERM}) {
    program p(long_run());
    REQUIRE(p.wait_until_full());
    p.send(signal);
    const outcome o = p.finish();
    CHECK(o.status == 128 + signal);
    CHECK(valid_utf8(o.out));
    CHECK(o.out.ends_with("\n"));
    CHECK(has(o.err, "generation time ="));
    CHECK(has(o.err, "interrupted"));
  }
}

TEST_CASE("jig-cli: a second Ctrl-C ends the program at once") {
  program p(long_run());
  REQUIRE(p.wait_until_full());
  p.send(SIGINT);
  ::usleep(200000);  // it still waits for its reader
  p.send(SIGINT);
  CHECK(p.finish().status == 128 + SIGINT);
}

TEST_CASE("jig-cli: ends quietly when nobody reads its output any more") {
  program p(long_run());
  REQUIRE(p.wait_until_full());
  p.close_output();
  const outcome o = p.finish();
  CHECK(o.status == 0);
  CHECK(!has(o.err, "error"));
}

TEST_CASE("jig-cli: a full disk behind standard output is an error") {
  if (!std::filesystem::exists("/dev/full")) {
    MESSAGE("skipped: this system has no /dev/full");
    return;
  }
  program p({"/bin/sh", "-c", std::string(JIG_CLI) + " -n 4 >/dev/full"});
  const outcome o = p.finish();
  CHECK(o.status == 1);
  CHECK(has(o.err, "No space left on device"));
}

#endif
