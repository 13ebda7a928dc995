#include "jig/host/requantize.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "jig/gguf/sha256.hpp"
#include "jig/host/embed.hpp"
#include "jig/host/mapped_file.hpp"
#include "jig/text/load_vocab.hpp"

using namespace jig;

namespace {

std::string hex(std::span<const u8> bytes) {
  std::string out;
  sha256 hash;
  for (u8 b : hash.update(bytes).digest()) out += fmt::format("{:02x}", b);
  return out;
}

/// A model of one layer with 8 tokens; `heads` heads of 32 values.
std::vector<u8> tiny_model(bool vary_layers) {
  gguf::writer w;
  std::vector<f32_block> ones(64 * 64);
  for (f32_block& b : ones) b.value = 0.5f;
  const auto bytes = [&](usize n) { return std::span(reinterpret_cast<const u8*>(ones.data()), n * 4); };
  w.set("general.architecture", "llama");
  w.set("llama.context_length", u32{32});
  w.set("llama.embedding_length", u32{64});
  w.set("llama.block_count", u32{2});
  w.set("llama.attention.head_count", u32{2});
  w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const u32 n_ff[] = {40, vary_layers ? 20u : 40u};
  if (vary_layers) w.set_array("llama.feed_forward_length", std::span<const u32>(n_ff));
  else w.set("llama.feed_forward_length", n_ff[0]);
  w.set("llama.vocab_size", u32{8});
  w.set("tokenizer.ggml.model", "none");
  REQUIRE(w.add_tensor("token_embd.weight", {64, 8}, 0, bytes(512)));
  REQUIRE(w.add_tensor("output_norm.weight", {64}, 0, bytes(64)));
  for (u64 il : {0, 1}) {
    const std::string blk = fmt::format("blk.{}.", il);
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"})
      REQUIRE(w.add_tensor(blk + name + ".weight", {64, 64}, 0, bytes(64 * 64)));
    for (const char* name : {"attn_norm", "ffn_norm"})
      REQUIRE(w.add_tensor(blk + name + ".weight", {64}, 0, bytes(64)));
    for (const char* name : {"ffn_gate", "ffn_up"})
      REQUIRE(w.add_tensor(blk + name + ".weight", {64, n_ff[il]}, 0, bytes(64 * n_ff[il])));
    REQUIRE(w.add_tensor(blk + "ffn_down.weight", {n_ff[il], 64}, 0, bytes(64 * n_ff[il])));
  }
  auto out = w.bytes();
  REQUIRE(out);
  return *out;
}

result<host::embedded_model> embedded(const std::vector<u8>& bytes, const host::embed_options& options) {
  JIG_TRY(const gguf::file file, gguf::open(bytes));
  JIG_TRY(const usize needed, vocab_bytes_needed(file));
  std::vector<std::byte> memory(needed);
  JIG_TRY(const vocab v, load_vocab(file, memory));
  return host::embed(file, v, options);
}

}  // namespace

TEST_CASE("requantize: matrices change, vectors stay, odd rows become f16") {
  const auto bytes = tiny_model(false);
  const auto out = host::requantize(*gguf::open(bytes), q8_0::id);
  REQUIRE(out);
  const auto file = gguf::open(*out);
  REQUIRE(file);
  CHECK(file->find_tensor("token_embd.weight")->type == q8_0::id);
  CHECK(file->find_tensor("blk.1.ffn_norm.weight")->type == f32_block::id);
  CHECK(file->find_tensor("blk.1.ffn_down.weight")->type == f16_block::id);  // rows of 40
  const auto data = file->find_tensor("blk.0.attn_q.weight")->data;
  REQUIRE(data.size() == 64 * 2 * 34);
  // 0.5 in every place: the scale is 0.5 / 127 as f16 (0x1c08), every code 127.
  CHECK((data[0] == 0x08 && data[1] == 0x1c && data[2] == 127 && data[33] == 127 && data[34] == 0x08));
}

TEST_CASE("requantize: tables of numbers stay as they are") {
  gguf::writer w;
  const i32 ids[8] = {3, 1, 4, 1, 5, 2, 6, 5};
  const std::span bytes(reinterpret_cast<const u8*>(ids), sizeof ids);
  REQUIRE(w.add_tensor("blk.0.ffn_gate_tid2eid.weight", {2, 4}, 26, bytes));
  const auto in = w.bytes();
  REQUIRE(in);
  const auto out = host::requantize(*gguf::open(*in), q8_0::id);
  REQUIRE(out);
  const auto file = gguf::open(*out);
  REQUIRE(file);
  const gguf::tensor_info t = *file->find_tensor("blk.0.ffn_gate_tid2eid.weight");
  CHECK(t.type == 26);
  CHECK(std::equal(t.data.begin(), t.data.end(), bytes.begin(), bytes.end()));
}

TEST_CASE("requantize: unknown types and types without a fixed encoder are named errors") {
  const auto bytes = tiny_model(false);
  const auto file = *gguf::open(bytes);
  CHECK(host::requantize(file, 4).error().code == errc::unknown_tensor_type);
  CHECK(host::requantize(file, 999).error().code == errc::unknown_tensor_type);
}

TEST_CASE("requantize: stories260K as Q8_0 has the golden bytes in every tensor") {
  std::ifstream in(JIG_SHARED "/golden/stories260K.json");
  const auto map = host::mapped_file::open(JIG_SHARED "/models/stories260K.gguf");
  if (!in || !map) {
    MESSAGE("skipped: stories260K is not in " JIG_SHARED);
    return;
  }
  const auto golden = nlohmann::json::parse(in)["variants"]["Q8_0"]["tensors"];
  const auto out = host::requantize(*gguf::open(map->bytes()), q8_0::id);
  REQUIRE(out);
  const auto file = gguf::open(*out);
  REQUIRE(file);
  REQUIRE(golden.size() > 30);
  for (const auto& [name, wanted] : golden.items()) {
    CAPTURE(name);
    const auto t = file->find_tensor(name);
    REQUIRE(t);
    CHECK(find_block_info(t->type)->name == wanted[0].get<std::string>());
    CHECK(t->bytes == wanted[1].get<u64>());
    CHECK(hex(t->data) == wanted[2].get<std::string>());
  }
}

TEST_CASE("embed: names that are no identifiers, and layers of different extents, are named errors") {
  const auto bytes = tiny_model(false);
  for (const char* name : {"", "1a", "a-b", "a b", "a;b", "\xc3\xa4"}) {
    CAPTURE(name);
    CHECK(embedded(bytes, {.name = name, .blob_path = "x.bin", .origin = {}}).error().code == errc::bad_argument);
  }
  CHECK(embedded(bytes, {.name = "ok_1", .blob_path = "x.bin", .origin = {}}));
  const auto varied = embedded(tiny_model(true), {.name = "m", .blob_path = "x.bin", .origin = {}});
  REQUIRE_FALSE(varied);
  CHECK(varied.error().code == errc::not_supported);
  CHECK(varied.error().name() == "feed_forward_length");
}

TEST_CASE("embed: origins and paths with odd characters stay inside their comment and string") {
  const auto out = embedded(tiny_model(false), {.name = "m", .blob_path = "a\"b.bin", .origin = "x\n#error\\"});
  REQUIRE(out);
  CHECK(out->header.find("\n#error") == std::string::npos);
  CHECK(out->header.find("x?#error?") != std::string::npos);
  CHECK(out->source.find(R"(\"a\\\"b.bin\")") != std::string::npos);
}
