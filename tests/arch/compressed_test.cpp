// arch/deepseek4.hpp: what a sequence remembers of compressed attention: any cut, page size and element type; and what
// its files may get wrong.
#include <doctest/doctest.h>

#include "arch/kit.hpp"
#include "arch/runner.hpp"

using namespace jig;

namespace {

kit::json kit_model(const std::string& name = "deepseek4") {
  return kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
}

kit::json& tensor(kit::json& d, const std::string& name) {
  for (auto& t : d["tensors"])
    if (t["name"] == name) return t;
  throw std::runtime_error(name);
}

void set(kit::json& d, const std::string& key, const kit::json& value) {
  for (auto& entry : d["metadata"])
    if (entry[0] == "deepseek4." + key) {
      entry[2] = value;
      return;
    }
  throw std::runtime_error(key);
}

/// The error of loading, as code and name.
std::pair<errc, std::string> outcome(const kit::json& d) {
  const std::vector<u8> file = kit::materialize(d);
  const auto m = host::try_load<host::compiled_model>(std::span(file), {.threads = 1});
  return m ? std::pair(errc::ok, std::string()) : std::pair(m.error().code, std::string(m.error().name()));
}

}  // namespace

TEST_CASE("compressed attention: a sequence can be cut after any token and goes on as if nothing had happened") {
  const kit::json d = kit_model();
  const std::vector<u8> file = kit::materialize(d);
  const auto m = load_model(file);
  const std::vector<i32> tokens = kit::tokens(d);
  test_session s(m);
  const auto want = s.decode(0, tokens);
  for (u32 cut = 0; cut < tokens.size(); ++cut) {
    REQUIRE(s->truncate(0, cut));
    s.decode(0, {9, 8, 7, 6, 5});
    REQUIRE(s->truncate(0, cut));
    const auto again = s.decode(0, {tokens.begin() + cut, tokens.end()});
    CHECK(kit::nmse(flat({want.begin() + cut, want.end()}), flat(again)) < 1e-10);
  }
}

TEST_CASE("compressed attention: results do not depend on the size of pages") {
  const kit::json d = kit_model("deepseek4-long");
  const std::vector<u8> file = kit::materialize(d);
  const auto m = load_model(file);
  const std::vector<i32> tokens = kit::tokens(d);
  const auto last = [&](u32 page_tokens) {
    auto s = host::text_session<host::compiled_model>::make(
        m, {.context = 150, .batch = 50, .kv_type = 0, .page_tokens = page_tokens}, reference_kernel_set());
    REQUIRE(s);
    const auto logits = s->feed(tokens);
    REQUIRE(logits);
    return std::vector<f32>(logits->row(0), logits->row(0) + logits->cols);
  };
  const auto want = last(4);
  for (u32 n : {1u, 3u, 32u, 150u}) CHECK(last(n) == want);
}

TEST_CASE("compressed attention: what a session in which all groups are seen remembers serves a longer one") {
  const kit::json d = kit_model();
  const std::vector<u8> file = kit::materialize(d);
  const auto m = load_model(file);
  const std::vector<i32> tokens = kit::tokens(d);
  check_serves_longer(m, tokens, m.hp().index_top_k * m.hp().index_block);
}

TEST_CASE("compressed attention: every element type of the memory stays close to f32") {
  for (const char* name : {"deepseek4", "deepseek4-long"}) {
    CAPTURE(name);
    const kit::json d = kit_model(name);
    const std::vector<u8> file = kit::materialize(d);
    const auto m = load_model(file);
    const std::vector<i32> tokens = kit::tokens(d);
    const auto logits = [&](u32 type) {
      test_session s(m, reference_kernel_set(), 1, type);
      return flat(s.decode(0, tokens));
    };
    const auto exact = logits(f32_block::id);
    const f64 f16 = kit::nmse(exact, logits(f16_block::id)), bf16 = kit::nmse(exact, logits(bf16_block::id)),
              q8 = kit::nmse(exact, logits(q8_0::id));
    MESSAGE(std::string(name) << ": f16 " << f16 << ", bf16 " << bf16 << ", q8_0 " << q8);
    CHECK((f16 > 0.0 && f16 < 1e-3));  // a score that was second may become first
    CHECK((bf16 > f16 && bf16 < 2e-2));
    CHECK((q8 > f16 && q8 < 2e-2));
  }
}

TEST_CASE("deepseek4: the first output matrices may be one in the file; other shapes are refused") {
  kit::json d = kit_model();
  const auto want = run(kit::materialize(d), {{kit::tokens(d), {24}}});
  for (u32 il = 0; il < 4; ++il) tensor(d, "blk." + std::to_string(il) + ".attn_output_a.weight")["shape"] = {64, 128};
  CHECK(run(kit::materialize(d), {{kit::tokens(d), {24}}}) == want);
  const auto wrong = std::pair(errc::wrong_shape, std::string("blk.1.attn_output_a.weight"));
  for (const kit::json& shape : {kit::json{64, 64, 2}, {64, 32, 2, 2}, {128, 64}, {64, 4, 32}}) {
    tensor(d, "blk.1.attn_output_a.weight")["shape"] = shape;
    CHECK(outcome(d) == wrong);
  }
}

TEST_CASE("deepseek4: experts that tokens choose must be there") {
  const std::string name = "blk.0.ffn_gate_tid2eid.weight";
  for (const auto& [offset, scale] : {std::pair{0, 9}, {-1, 8}}) {
    kit::json d = kit_model();
    tensor(d, name)["offset"] = offset, tensor(d, name)["scale"] = scale;
    CHECK(outcome(d) == std::pair(errc::bad_value, name));
  }
  kit::json d = kit_model();
  tensor(d, name)["type"] = "f32";
  CHECK(outcome(d) == std::pair(errc::wrong_tensor_type, name));
}

TEST_CASE("deepseek4: keys that contradict each other are named") {
  const std::vector<std::pair<const char*, kit::json>> rows = {
      {"attention.compress_ratios", {0, 0, 5, 128}}, {"attention.output_group_count", 3},
      {"attention.head_count_kv", 2},                {"attention.value_length", 32},
      {"attention.indexer.key_length", 16}};
  for (const auto& [key, value] : rows) {
    kit::json d = kit_model();
    set(d, key, value);
    CHECK(outcome(d) == std::pair(errc::inconsistent, "deepseek4." + std::string(key)));
  }
  const std::vector<std::pair<const char*, kit::json>> beyond = {
      {"hyper_connection.count", 0}, {"hyper_connection.count", 17}, {"hyper_connection.sinkhorn_iterations", 0},
      {"attention.sliding_window", 0}, {"attention.output_group_count", 0}};
  for (const auto& [key, value] : beyond) {
    kit::json d = kit_model();
    set(d, key, value);
    CHECK(outcome(d) == std::pair(errc::bad_value, "deepseek4." + std::string(key)));
  }
}
