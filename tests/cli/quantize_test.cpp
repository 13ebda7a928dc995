// jig-quantize from outside: mixes by size and quality, overrides, importance, errors that leave nothing behind.
#include "program.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "jig/gguf/writer.hpp"
#include "jig/host/model_file.hpp"
#include "jig/quant/all.hpp"

#if !defined(JIG_QUANTIZE) || !defined(JIG_PERPLEXITY)
TEST_CASE("jig-quantize") { MESSAGE("skipped: this build has no jig-quantize (JIG_BUILD_EXAMPLES is off)"); }
#else

namespace {

using namespace jig;
using json = nlohmann::json;
namespace fs = std::filesystem;

const std::string demo = JIG_MODELS "/demo/jig-demo-q8_0.gguf";

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), JIG_QUANTIZE);
  program p(words, {});
  return p.finish({});
}

struct folder {
  fs::path path = fs::temp_directory_path() / ("jig-quantize-test-" + std::to_string(::getpid()));
  folder() { fs::create_directories(path); }
  ~folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  usize files() const { return static_cast<usize>(std::distance(fs::directory_iterator(path), {})); }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
u32 type_in(const std::string& path, std::string_view tensor) {
  const auto file = host::open_model_file(path);
  REQUIRE(file);
  const auto t = file->set().find_tensor(tensor);
  REQUIRE(t);
  return t->type;
}
void check_error(std::vector<std::string> words, const std::string& part) {
  const outcome o = run(std::move(words));
  CAPTURE(o.err);
  CHECK(o.status != 0);
  CHECK(o.err.find("error: ") == 0);
  CHECK(o.err.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("jig-quantize: the demo model in every mix of the golden figures: sizes equal, perplexity within 1%") {
  const std::string source = JIG_SHARED "/models/demo/jig-demo-f16.gguf";
  std::ifstream in(JIG_SHARED "/models/demo/golden.json");
  if (!in || !fs::exists(source)) {
    MESSAGE("skipped: no golden figures of the demo model");
    return;
  }
  const json golden = json::parse(in);
  const folder f;
  for (const auto& [name, size] : golden["sizes"].items()) {
    CAPTURE(name);
    const std::string made = f / (name + ".gguf");
    const outcome o = run({"-m", source, "-o", made, "--type", name, "-t", "2"});
    REQUIRE_MESSAGE(o.status == 0, o.err);
    CHECK(fs::file_size(made) == size.get<u64>());
    program p({JIG_PERPLEXITY, "-m", made, "-f", JIG_SHARED "/models/demo/heldout.txt", "-c", "256", "--json"}, {});
    const outcome measured = p.finish({});
    REQUIRE_MESSAGE(measured.status == 0, measured.err);
    const f64 ppl = json::parse(measured.out)[0]["perplexity"], recorded = golden["perplexity"]["values"][name]["ppl"];
    MESSAGE(name, ": perplexity ", ppl, ", recorded ", recorded);
    CHECK(ppl < 1.01 * recorded);
    CHECK(ppl > 0.98 * recorded);
  }
}

TEST_CASE("jig-quantize: the number of threads changes no byte; the file says what it is") {
  const folder f;
  for (const char* threads : {"1", "3"})
    REQUIRE(run({"-m", demo, "-o", f / threads, "--type", "q4_k_m", "--allow-requantize", "-t", threads}).status == 0);
  CHECK(bytes_of(f / "1") == bytes_of(f / "3"));
  const auto file = host::open_model_file(f / "1");
  REQUIRE(file);
  CHECK(*file->set().get<u32>("general.file_type") == 15);
  CHECK(*file->set().get<u32>("general.quantization_version") == 2);
  CHECK(type_in(f / "1", "blk.2.ffn_down.weight") == q6_k::id);
  CHECK(type_in(f / "1", "blk.0.attn_q.weight") == q4_k::id);
  CHECK(type_in(f / "1", "blk.0.attn_norm.weight") == f32_block::id);
}

TEST_CASE("jig-quantize: overrides, pure, and a run that only tells") {
  const folder f;
  const std::string made = f / "made";
  REQUIRE(run({"-m", demo, "-o", made, "--type", "Q4_0", "--allow-requantize", "--tensor-type",
               "blk\\.[01]\\.attn_q=q5_K", "--token-embedding-type", "iq4_nl"}).status == 0);
  CHECK(type_in(made, "blk.1.attn_q.weight") == q5_k::id);
  CHECK(type_in(made, "blk.2.attn_q.weight") == q4_0::id);
  CHECK(type_in(made, "token_embd.weight") == iq4_nl::id);
  REQUIRE(run({"-m", demo, "-o", made, "--type", "Q4_K_M", "--allow-requantize", "--pure"}).status == 0);
  CHECK(type_in(made, "blk.0.ffn_down.weight") == q4_k::id);
  const outcome told = run({"-m", demo, "--type", "Q3_K_M", "--allow-requantize", "--dry-run"});
  CHECK(told.status == 0);
  CHECK(told.out.find("q8_0 -> q3_K") != std::string::npos);
  CHECK(told.out.find("bits per weight") != std::string::npos);
  CHECK(f.files() == 1);
}

TEST_CASE("jig-quantize: an importance matrix changes what is written") {
  const folder f;
  std::vector<f32> sums(256), counts{10.0f};
  for (usize i = 0; i < sums.size(); ++i) sums[i] = i % 5 == 0 ? 1000.0f : 0.1f;
  std::vector<u8> sum_bytes(4 * sums.size()), count_bytes(4);
  for (usize i = 0; i < sums.size(); ++i) store_le(sum_bytes.data() + 4 * i, std::bit_cast<u32>(sums[i]));
  store_le(count_bytes.data(), std::bit_cast<u32>(counts[0]));
  gguf::writer w;
  w.set("general.type", "imatrix");
  REQUIRE(w.add_tensor("blk.0.attn_q.weight.in_sum2", {256, 1}, 0, sum_bytes));
  REQUIRE(w.add_tensor("blk.0.attn_q.weight.counts", {1, 1}, 0, count_bytes));
  const auto bytes = w.bytes();
  REQUIRE(bytes);
  std::ofstream(f / "imatrix", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  const std::vector<std::string> words = {"-m", demo, "--type", "Q4_K_S", "--pure", "--allow-requantize"};
  auto with = words, without = words;
  with.insert(with.end(), {"-o", f / "with", "--imatrix", f / "imatrix"});
  without.insert(without.end(), {"-o", f / "without"});
  REQUIRE(run(with).status == 0);
  REQUIRE(run(without).status == 0);
  const auto a = host::open_model_file(f / "with"), b = host::open_model_file(f / "without");
  const auto same = [&](std::string_view name) {
    const auto x = a->set().find_tensor(name)->data, y = b->set().find_tensor(name)->data;
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  CHECK(!same("blk.0.attn_q.weight"));
  CHECK(same("blk.1.attn_q.weight"));
  check_error({"-m", demo, "-o", f / "x", "--type", "Q4_0", "--imatrix", demo}, "general.type is not imatrix");
}

TEST_CASE("jig-quantize: errors name what was wrong and leave nothing behind") {
  const folder f;
  const std::string made = f / "made";
  check_error({"-o", made, "--type", "Q4_0"}, "-m: which model?");
  check_error({"-m", demo, "-o", made}, "--type: which mix?");
  check_error({"-m", demo, "-o", made, "--type", "Q4_X"}, "Q4_K_M");
  check_error({"-m", demo, "-o", made, "--type", "Q4_0"}, "quantised before: token_embd.weight");
  check_error({"-m", demo, "-o", made, "--type", "IQ3_S", "--allow-requantize"}, "encoder of iq3_s");
  check_error({"-m", demo, "-o", made, "--type", "Q2_K_S", "--allow-requantize"}, "importance of blk.0.");
  check_error({"-m", demo, "-o", made, "--type", "Q4_0", "--tensor-type", "[=q8_0"}, "no regular expression");
  check_error({"-m", demo, "-o", made, "--type", "Q4_0", "--tensor-type", "a=b"}, "unknown block type \"b\"");
  check_error({"-m", demo, "-o", "/no/where", "--type", "Q8_0", "--allow-requantize"}, "cannot write");
  check_error({"-m", demo, "-o", made, "--type", "Q4_0", "--imatrix", "/nowhere"}, "/nowhere");
  CHECK(f.files() == 0);
}

#endif
