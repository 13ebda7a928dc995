// arch/load.hpp: every kind of bad hyperparameter and tensor gets its error with the name at fault.
#include <doctest/doctest.h>

#include <functional>

#include "arch/kit.hpp"
#include "jig/arch/llama.hpp"
#include "jig/arch/load.hpp"
#include "jig/quant/all.hpp"

using namespace jig;

namespace {

struct outcome {
  errc code;
  std::string name;
};

outcome load(const kit::json& d) {
  const std::vector<u8> bytes = kit::materialize(d);
  const auto file = gguf::open(bytes);
  REQUIRE(file);
  const auto hp = read_hparams<arch::llama>(*file);
  if (!hp) return {hp.error().code, std::string(hp.error().name())};
  std::vector<weight> slots(slots_of<arch::llama>.count(*hp));
  const auto m = bind<arch::llama, all_quants>(*file, *hp, slots);
  return m ? outcome{errc::ok, ""} : outcome{m.error().code, std::string(m.error().name())};
}

kit::json base() { return kit::load(JIG_TEST_DATA "/archs/llama-moe.json"); }

void set(kit::json& d, const std::string& key, const std::string& type, const kit::json& value) {
  for (auto& entry : d["metadata"])
    if (entry[0] == key) {
      entry = {key, type, value};
      return;
    }
  d["metadata"].push_back({key, type, value});
}

void remove(kit::json& d, const std::string& key) {
  for (usize i = 0; i < d["metadata"].size(); ++i)
    if (d["metadata"][i][0] == key) return d["metadata"].erase(i);
}

}  // namespace

TEST_CASE("load: the unchanged model is accepted") { CHECK(load(base()).code == errc::ok); }

TEST_CASE("load: a bad hyperparameter gives its error and names the key") {
  struct row {
    const char *key, *type;
    kit::json value;
    errc code;
  };
  const std::vector<row> rows = {
      {"llama.block_count", "u32", 0, errc::bad_value},
      {"llama.block_count", "u32", 4000000000u, errc::bad_value},
      {"llama.block_count", "i32", -1, errc::bad_value},
      {"llama.block_count", "f32", 2.0, errc::wrong_key_type},
      {"llama.block_count", "str", "2", errc::wrong_key_type},
      {"llama.nextn_predict_layers", "u32", 2, errc::inconsistent},
      {"llama.nextn_predict_layers", "u32", 4000000000u, errc::bad_value},
      {"llama.embedding_length", "u32", 0, errc::bad_value},
      {"llama.embedding_length", "u32", 4294967295u, errc::bad_value},
      {"llama.feed_forward_length", "u32", 0, errc::bad_value},
      {"llama.feed_forward_length", "[u32]", {192}, errc::inconsistent},
      {"llama.attention.head_count", "u32", 0, errc::bad_value},
      {"llama.attention.head_count", "u32", 3, errc::inconsistent},
      {"llama.attention.head_count_kv", "u32", 3, errc::inconsistent},
      {"llama.attention.head_count_kv", "[u32]", {2, 0}, errc::bad_value},
      {"llama.attention.layer_norm_rms_epsilon", "f32", -1.0, errc::bad_value},
      {"llama.attention.layer_norm_rms_epsilon", "u32", 1, errc::wrong_key_type},
      {"llama.rope.dimension_count", "u32", 31, errc::inconsistent},
      {"llama.rope.dimension_count", "u32", 64, errc::inconsistent},
      {"llama.rope.freq_base", "f32", 0.0, errc::bad_value},
      {"llama.rope.scaling.type", "str", "spiral", errc::unsupported_feature},
      {"llama.rope.scaling.factor", "f32", 0.0, errc::bad_value},
      {"llama.context_length", "u32", 0, errc::bad_value},
      {"llama.expert_used_count", "u32", 9, errc::inconsistent},
      {"llama.expert_used_count", "u32", 0, errc::inconsistent},
  };
  for (const row& r : rows) {
    kit::json d = base();
    set(d, r.key, r.type, r.value);
    CAPTURE(std::string(r.key) + " = " + r.value.dump());
    const outcome got = load(d);
    CHECK(name(got.code) == name(r.code));
    CHECK(got.name.find(r.key) != std::string::npos);
  }
}

TEST_CASE("load: a missing key or tensor is named") {
  for (const char* key :
       {"llama.block_count", "llama.embedding_length", "llama.context_length", "llama.feed_forward_length",
        "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon", "llama.vocab_size"}) {
    kit::json d = base();
    remove(d, key);
    const outcome got = load(d);
    CHECK(name(got.code) == name(errc::missing_key));
    CHECK(got.name == key);
  }
  const kit::json whole = base();
  for (usize i = 0; i < whole["tensors"].size(); ++i) {
    const std::string tensor = whole["tensors"][i]["name"];
    if (tensor == "output.weight") continue;  // optional: tied to the embedding
    kit::json d = whole;
    d["tensors"].erase(i);
    const outcome got = load(d);
    CHECK(name(got.code) == name(errc::missing_tensor));
    CHECK(got.name == tensor);
  }
}

TEST_CASE("load: a wrong shape in any dimension of any tensor is named, and so is a tensor too many") {
  const kit::json whole = base();
  for (usize i = 0; i < whole["tensors"].size(); ++i)
    for (usize dim = 0; dim < whole["tensors"][i]["shape"].size(); ++dim) {
      kit::json d = whole;
      auto& n = d["tensors"][i]["shape"][dim];
      n = n.get<u64>() + 1;
      const outcome got = load(d);
      CHECK(name(got.code) == name(errc::wrong_shape));
      CHECK(got.name == whole["tensors"][i]["name"].get<std::string>());
    }
  kit::json d = whole;
  d["tensors"].push_back({{"name", "blk.0.surprise.weight"}, {"shape", {8}}, {"offset", 0.0}, {"scale", 1.0}});
  CHECK(load(d).name == "blk.0.surprise.weight");
  d["tensors"].back()["name"] = "blk.0.attn_q.input_scale";
  CHECK(load(d).code == errc::ok);
  d["tensors"].back()["name"] = "blk.2.attn_norm.weight";  // a layer that does not exist
  CHECK(name(load(d).code) == name(errc::unexpected_tensor));
}

TEST_CASE("load: a vocabulary shorter than the embedding is a wrong shape") {
  kit::json d = base();
  set(d, "llama.vocab_size", "u32", 100);
  const outcome got = load(d);
  CHECK(name(got.code) == name(errc::wrong_shape));
  CHECK(got.name == "token_embd.weight");
}

TEST_CASE("load: block types that the program was not built with are named") {
  const std::vector<u8> bytes = kit::materialize(base());
  const auto file = gguf::open(bytes);
  const auto hp = read_hparams<arch::llama>(*file);
  std::vector<weight> slots(slots_of<arch::llama>.count(*hp));
  const auto m = bind<arch::llama, quants<q8_0>>(*file, *hp, slots);
  CHECK(name(m.error().code) == name(errc::wrong_tensor_type));
  CHECK(m.error().name() == "token_embd.weight");
  CHECK(bind<arch::llama, all_quants>(*file, *hp, std::span<weight>(slots).first(3)).error().code ==
        errc::buffer_too_small);
}
