// jig-perplexity from outside: perplexity, base files, comparisons, the picture, errors.
#include "program.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#ifndef JIG_PERPLEXITY
TEST_CASE("jig-perplexity") { MESSAGE("skipped: this build has no jig-perplexity (JIG_BUILD_EXAMPLES is off)"); }
#else

namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

const std::string demo = JIG_MODELS "/demo/jig-demo-q8_0.gguf";

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), JIG_PERPLEXITY);
  program p(words, {});
  return p.finish({});
}
json read(const outcome& o) {
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  return json::parse(o.out);
}
void check_error(std::vector<std::string> words, const std::string& part) {
  const outcome o = run(std::move(words));
  CAPTURE(o.err);
  CHECK(o.status != 0);
  CHECK(o.err.find("error: ") == 0);
  CHECK(o.err.find(part) != std::string::npos);
}

/// A folder that goes with the test, with a text of some chunks.
struct folder {
  fs::path path = fs::temp_directory_path() / ("jig-perplexity-test-" + std::to_string(::getpid()));
  folder() {
    fs::create_directories(path);
    std::ofstream out(path / "text");
    for (int i = 0; i < 12; ++i)
      out << "Once upon a time, there was a little robot named Bella. She loved to sing happy songs. One sunny day, "
             "Bella heard a sad meow. A kitten named Dot was high up in a tree.\n";
  }
  ~folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("jig-perplexity: the demo model on its held-out text") {
  const std::string text = JIG_SHARED "/models/demo/heldout.txt";
  std::ifstream golden(JIG_SHARED "/models/demo/golden.json");
  if (!golden) {
    MESSAGE("skipped: no golden figures of the demo model");
    return;
  }
  const json recorded = json::parse(golden)["perplexity"]["values"]["q8_0"];
  const json j = read(run({"-m", demo, "-f", text, "-c", "256", "--json"}));
  const double ppl = recorded["ppl"], error = recorded["error"];
  CHECK(std::abs(j[0]["perplexity"].get<double>() / ppl - 1.0) < 0.01);
  CHECK(std::abs(j[0]["perplexity_error"].get<double>() / error - 1.0) < 0.02);
}

TEST_CASE("jig-perplexity: a model against itself and against another kind of memory; the picture") {
  const folder f;
  const std::string base = f / "base", plot = f / "a.svg";
  const json alone = read(
      run({"-m", demo, "-f", f / "text", "-c", "64", "--chunks", "3", "--kl-divergence-base", base, "--json"}));
  CHECK(alone[0]["tokens"] == 3 * 31);
  CHECK(fs::file_size(base) == 20 + 4 * 3 * 64 + 3 * 31 * (8 + 2 * 2048));
  const json same = read(
      run({"-m", demo, "-m", demo, "--kl-divergence-base", base, "--kl-divergence", "--json", "--plot", plot}));
  REQUIRE(same.size() == 2);
  CHECK(same[0]["perplexity"] == alone[0]["perplexity"]);
  CHECK(same[1]["same_top"] == 1.0);
  CHECK(std::abs(same[0]["kl"].get<double>()) < 1e-5);
  CHECK(same[0]["kl_quantiles"]["maximum"] >= same[0]["kl_quantiles"]["median"]);
  std::ifstream svg(plot);
  const std::string drawn{std::istreambuf_iterator<char>(svg), {}};
  CHECK(drawn.starts_with("<svg "));
  CHECK(drawn.find(">jig-demo-q8_0</text>") != std::string::npos);
  CHECK(drawn.ends_with("</svg>\n"));
  // keys and values in eight bits are another model, a little
  const json other = read(
      run({"-m", demo, "-ctk", "q8_0", "--chunks", "2", "--kl-divergence-base", base, "--kl-divergence", "--json"}));
  CHECK(other[0]["tokens"] == 2 * 31);
  CHECK(other[0]["kl"] > same[0]["kl"]);
  CHECK(other[0]["rms_change"] > 1e-5);
  // and as text
  const outcome text = run({"-m", demo, "--kl-divergence-base", base, "--kl-divergence"});
  CHECK(text.out.find("same likeliest      100.000") != std::string::npos);
}

TEST_CASE("jig-perplexity: the number of threads and of tokens computed together change nothing much") {
  const folder f;
  const auto ppl = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"-m", demo, "-f", f / "text", "-c", "100", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return read(run(words))[0]["perplexity"].get<double>();
  };
  const double one = ppl({"-t", "1"});
  CHECK(ppl({"-t", "3"}) == one);
  CHECK(ppl({"-b", "7"}) == doctest::Approx(one).epsilon(1e-3));
}

TEST_CASE("jig-perplexity: errors name what was wrong") {
  const folder f;
  const std::string text = f / "text", base = f / "base";
  check_error({"-f", text}, "-m: which model?");
  check_error({"-m", demo}, "-f: which text?");
  check_error({"-m", demo, "-f", text, "--plot", f / "x.svg"}, "--plot: needs --kl-divergence");
  check_error({"-m", demo, "--kl-divergence"}, "--kl-divergence-base FILE says");
  check_error({"-m", demo, "-f", "/nowhere.txt"}, "/nowhere.txt");
  check_error({"-m", demo, "-f", text, "-c", "4096"}, "shorter than one chunk");
  check_error({"-m", demo, "-f", text, "-ctk", "q4_9"}, "must be f32, f16, bf16 or q8_0");
  check_error({"-m", demo, "--kl-divergence", "--kl-divergence-base", text}, "not a file of a base model");
  REQUIRE(run({"-m", demo, "-f", text, "-c", "32", "--chunks", "1", "--kl-divergence-base", base}).status == 0);
  fs::resize_file(base, fs::file_size(base) - 1);
  check_error({"-m", demo, "--kl-divergence", "--kl-divergence-base", base}, "ends too early");
  {
    std::fstream damaged(base, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(20);
    damaged.write("\xff\xff\xff\xff", 4);
  }
  fs::resize_file(base, fs::file_size(base) + 1);
  check_error({"-m", demo, "--kl-divergence", "--kl-divergence-base", base}, "outside the vocabulary");
  check_error({"-m", demo, "-f", text, "-c", "32", "--kl-divergence-base", f / "no/where"}, "cannot write");
}

#endif
