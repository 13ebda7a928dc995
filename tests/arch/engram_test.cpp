// arch/blocks/engram.hpp: which rows n-grams read, and what is wrong with the keys and the table.
#include <doctest/doctest.h>

#include <algorithm>

#include "arch/kit.hpp"
#include "jig/arch/blocks/engram.hpp"
#include "jig/arch/load.hpp"
#include "jig/arch/qwen4exp.hpp"
#include "jig/quant/all.hpp"

using namespace jig;

namespace {

/// A list as a file has it; `numbers` must stay.
gguf::value listed(const std::vector<u64>& numbers) {
  const std::span<const u8> bytes(reinterpret_cast<const u8*>(numbers.data()), numbers.size() * sizeof(u64));
  const auto order = std::endian::native == std::endian::little ? gguf::byte_order::little : gguf::byte_order::big;
  return {"list", true, gguf::value_type::u64, numbers.size(), bytes, order, 0};
}

struct tables {
  std::vector<u64> factors = {0x123456789abcd, 0x1fffffffffff3, 97}, offsets = {0, 100, 1000, 5000},
                   rows = {100, 97, 1009, 5003};
  hparams hp;
  tables() {
    hp.ngram_size = 3, hp.ngram_heads = 2, hp.n_ngram_tables = 4, hp.ngram_separator = 2;
    hp.ngram_factors = listed(factors), hp.ngram_offsets = listed(offsets), hp.ngram_rows = listed(rows);
  }
};

/// The rows of the last of these tokens, by the definition.
std::vector<u32> rows_of_last(const tables& a, const std::vector<i32>& text) {
  std::vector<u64> back = {static_cast<u64>(text.back())};
  for (usize i = text.size() - 1; back.size() < 3;) {
    if (i == 0 || text[i - 1] == 2) {
      back.resize(3, 2);  // the start or a separator: nothing beyond counts
      break;
    }
    back.push_back(static_cast<u64>(text[--i]));
  }
  const u64 two = (back[0] * a.factors[0]) ^ (back[1] * a.factors[1]), three = two ^ (back[2] * a.factors[2]);
  return {u32(two % 100), u32(100 + two % 97), u32(1000 + three % 1009), u32(5000 + three % 5003)};
}

kit::json base() { return kit::load(JIG_TEST_DATA "/archs/qwen4exp.json"); }

error load_error(const kit::json& d) {
  const std::vector<u8> bytes = kit::materialize(d);
  const auto file = gguf::open(bytes);
  REQUIRE(file);
  const auto hp = read_hparams<arch::qwen4exp>(*file);
  if (!hp) return hp.error();
  std::vector<weight> slots(slots_of<arch::qwen4exp>.count(*hp));
  const auto m = bind<arch::qwen4exp, all_quants>(*file, *hp, slots);
  return m ? error{errc::ok} : m.error();
}

void check_error(const kit::json& d, errc code, std::string_view name) {
  const error e = load_error(d);
  CHECK(jig::name(e.code) == jig::name(code));
  CHECK(e.name() == name);
}

kit::json without(const std::string& what) {
  kit::json d = base();
  for (const char* part : {"metadata", "tensors"})
    for (usize i = d[part].size(); i-- > 0;) {
      const std::string name = part[0] == 'm' ? d[part][i][0] : d[part][i]["name"];
      if (name.find(what) != name.npos) d[part].erase(i);
    }
  return d;
}

}  // namespace

TEST_CASE("hash_ngrams: rows by the definition, whatever the batches; sequences, their starts and separators apart") {
  const tables a;
  const std::vector<i32> texts[2] = {{5, 9, 7, 2, 8, 8, 2, 2, 3, (1 << 24) - 1, 6, 1}, {2, 4, 4, 4, 0, 2, 0, 1, 3}};
  for (u32 together : {1u, 2u, 5u, 100u}) {
    std::vector<f32> states(2 * 5, 0.0f);
    std::vector<i32> tokens;
    std::vector<u32> sequence, want;
    for (usize i = 0; i < 12; ++i)
      for (u32 s = 0; s < 2; ++s) {
        if (i >= texts[s].size()) continue;
        tokens.push_back(texts[s][i]), sequence.push_back(s);
        const auto rows = rows_of_last(a, {texts[s].begin(), texts[s].begin() + static_cast<i32>(i) + 1});
        want.insert(want.end(), rows.begin(), rows.end());
      }
    std::vector<u32> got(want.size());
    for (u32 at = 0; at < tokens.size(); at += together) {
      batch b;
      b.n_tokens = std::min(together, static_cast<u32>(tokens.size()) - at);
      b.tokens = tokens.data() + at, b.sequence = sequence.data() + at;
      b.states = {states.data(), 5};
      hash_ngrams(a.hp, b, 3, got.data() + 4 * at);
    }
    CHECK(got == want);
    for (u32 i : {0u, 1u, 2u, 5u, 6u, 7u}) CHECK(states[i] == 0.0f);
  }
}

TEST_CASE("engram: a missing or contradictory key is named; without all of them there are no n-grams") {
  CHECK(load_error(base()).code == errc::ok);
  for (const char* key : {"ple.ngram_size", "ple.heads_per_ngram", "ple.conv_kernel", "ple.layer_multipliers",
                          "ple.head_offsets", "ple.head_vocab_sizes", "embedding_length_per_layer_input"}) {
    CAPTURE(key);
    const error e = load_error(without(key));
    // A list whose length is unknown then does not fit, either.
    CHECK((e.code == errc::missing_key || e.code == errc::inconsistent));
    CHECK(e.name().starts_with("qwen4exp."));
  }
  kit::json none = without("ple");  // and the width
  for (usize i = none["tensors"].size(); i-- > 0;)
    if (none["tensors"][i]["name"] == "per_layer_token_embd.weight") none["tensors"].erase(i);
  CHECK(load_error(none).code == errc::ok);
  const auto with = [&](const std::string& key, const kit::json& value) {
    kit::json d = base();
    for (auto& entry : d["metadata"])
      if (entry[0] == "qwen4exp." + key) entry[2] = value;
    return d;
  };
  check_error(with("ple.layers", {0, 1}), errc::bad_value, "qwen4exp.ple.layers");
  check_error(with("ple.layers", {4}), errc::inconsistent, "qwen4exp.ple.layers");
  check_error(with("ple.heads_per_ngram", 3), errc::inconsistent, "qwen4exp.ple.heads_per_ngram");
  check_error(with("ple.head_offsets", {0, 160, 320, 0x7fffffff}), errc::inconsistent, "qwen4exp.ple.head_offsets");
  check_error(with("ple.head_vocab_sizes", {160, 0, 151, 149}), errc::bad_value, "qwen4exp.ple.head_vocab_sizes");
  check_error(with("attention.compress_ratios", {4, 4, 4, 8}), errc::ok, "");
  check_error(with("attention.compress_ratios", {0, 0, 0, 0}), errc::ok, "");
}

TEST_CASE("engram: the table may have rows that no n-gram reads, not fewer than are read") {
  for (i32 more : {-1, 0, 1, 1000}) {
    kit::json d = base();
    for (auto& t : d["tensors"])
      if (t["name"] == "per_layer_token_embd.weight") t["shape"][1] = 629 + more;
    check_error(d, more < 0 ? errc::wrong_shape : errc::ok, more < 0 ? "per_layer_token_embd.weight" : "");
  }
}
