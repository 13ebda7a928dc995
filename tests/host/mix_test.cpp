// The mixes: every assignment of the golden list, names, overrides, errors.
#include "jig/host/mix.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using namespace jig;
using namespace jig::host;
using json = nlohmann::json;

namespace {

/// A llama of two layers with rows of `n`.
std::vector<mix_tensor> small_model(u64 n = 256) {
  return {{"token_embd.weight", {n, 1000}, 1},      {"output.weight", {n, 1000}, 1},
          {"blk.0.attn_norm.weight", {n}, 0},       {"blk.0.attn_v.weight", {n, 256}, 1},
          {"blk.0.ffn_down.weight", {n, 256}, 1},   {"blk.1.attn_v.weight", {n, 256}, 1},
          {"blk.1.ffn_gate_inp.weight", {n, 8}, 0}, {"blk.1.ffn_down.weight", {n, 256}, 1}};
}
const mix_facts facts{"llama", 2, 4, 4, 0};

std::vector<u32> types_of(const mix_request& r, const std::vector<mix_tensor>& tensors = small_model()) {
  const auto types = assign_types(r, facts, tensors);
  REQUIRE(types);
  return *types;
}

}  // namespace

TEST_CASE("mixes: names in any case, and what files say they are") {
  CHECK(find_mix("Q4_K_M") == mix::q4_k_m);
  CHECK(find_mix("iq2_xxs") == mix::iq2_xxs);
  CHECK(find_mix("q5_k") == mix::q5_k_m);
  CHECK(!find_mix("Q4_K_X"));
  CHECK(!find_mix(""));
  for (usize i = 0; i < std::size(mixes); ++i) CHECK(find_mix(mixes[i].name) == static_cast<mix>(i));
  CHECK(info_of(mix::iq2_s).base == iq2_xs::id);
  CHECK(info_of(mix::mxfp4_moe).file_type == 38);
}

TEST_CASE("mixes: what is kept, what is better, in the order of the tensors given") {
  using v = std::vector<u32>;
  CHECK(types_of({.mix = mix::q4_0}) == v{2, 14, 0, 2, 2, 2, 0, 2});
  CHECK(types_of({.mix = mix::q3_k_m}) == v{11, 14, 0, 13, 12, 13, 0, 12});
  CHECK(types_of({.mix = mix::f16}) == v{1, 1, 0, 1, 1, 1, 0, 1});
  std::vector<mix_tensor> reversed = small_model();
  std::reverse(reversed.begin(), reversed.end());
  v types = types_of({.mix = mix::q4_k_s}, reversed);
  std::reverse(types.begin(), types.end());
  CHECK(types == types_of({.mix = mix::q4_k_s}));
}

TEST_CASE("mixes: what the user wants comes first") {
  using v = std::vector<u32>;
  CHECK(types_of({.mix = mix::q4_k_m, .pure = true}) == v{12, 12, 0, 12, 12, 12, 0, 12});
  CHECK(types_of({.mix = mix::q4_0, .leave_output = true})[1] == 1);
  CHECK(types_of({.mix = mix::q4_0, .output_type = q8_0::id, .embedding_type = q6_k::id})[1] == q8_0::id);
  CHECK(types_of({.mix = mix::q4_0, .output_type = q8_0::id, .embedding_type = q6_k::id})[0] == q6_k::id);
  const auto wanted = [](std::string_view name) -> std::optional<u32> {
    if (name.find("blk.0.") == name.npos) return {};
    return q8_0::id;
  };
  CHECK(types_of({.mix = mix::q4_0, .wanted = wanted}) == v{2, 14, 0, 8, 8, 2, 0, 2});
}

TEST_CASE("mixes: rows that are no whole blocks take smaller ones, or are an error that names the tensor") {
  CHECK(types_of({.mix = mix::q4_k_s, .pure = true}, small_model(288))[3] == q5_0::id);
  CHECK(types_of({.mix = mix::iq4_xs, .pure = true}, small_model(288))[3] == iq4_nl::id);
  CHECK(types_of({.mix = mix::q6_k, .pure = true}, small_model(100))[3] == f16_block::id);
  const auto wrong = assign_types({.mix = mix::q1_0, .pure = true}, facts, small_model(288));
  REQUIRE(!wrong);
  CHECK(wrong.error().code == errc::partial_block);
  CHECK(needs_importance(mix::iq2_xs, "blk.0.attn_q.weight", iq2_xs::id));
  CHECK(!needs_importance(mix::iq2_xs, "token_embd.weight", iq2_xs::id));
  CHECK(!needs_importance(mix::q2_k, "blk.0.attn_q.weight", q2_k::id));
}

TEST_CASE("mixes: every assignment of the golden list") {
  std::ifstream in(JIG_SHARED "/golden/quant/mixes.json");
  if (!in) {
    MESSAGE("skipped: golden/quant/mixes.json is absent");
    return;
  }
  const json golden = json::parse(in);
  usize compared = 0, different = 0, refused = 0;
  for (const auto& [name, model] : golden["models"].items()) {
    CAPTURE(name);
    const json& hp = model["hparams"];
    const std::string architecture = model["arch"];
    const mix_facts f{architecture, hp["block_count"], hp["attention.head_count"], hp["attention.head_count_kv"],
                      hp.value("expert_count", 0u)};
    std::vector<std::string> names;
    for (const json& t : model["tensors"]) names.push_back(t[0]);
    std::vector<mix_tensor> tensors;
    for (const json& t : model["tensors"]) {
      mix_tensor& one = tensors.emplace_back(mix_tensor{names[tensors.size()], {1, 1, 1, 1}, t[2]});
      for (usize d = 0; d < t[1].size(); ++d) one.ne[d] = t[1][d];
    }
    for (const mix_info& m : mixes) {
      for (const bool importance : {false, true}) {
        const std::string key = std::string(m.name) + (importance ? "+imatrix" : "");
        const json& mixed = model["mixes"];
        const auto expected = mixed.contains(key) ? mixed.find(key) : mixed.find(std::string(m.name));
        const auto types = assign_types({.mix = *find_mix(m.name), .importance = importance}, f, tensors);
        if (expected == mixed.end()) {  // refused, or not listed
          refused += !types;
          continue;
        }
        REQUIRE_MESSAGE(types, key);
        for (usize i = 0; i < tensors.size(); ++i, ++compared) different += (*types)[i] != (*expected)[i].get<u32>();
      }
    }
  }
  MESSAGE(compared, " assignments compared, ", refused, " refused");
  CHECK(compared == 319072);
  CHECK(different == 0);
}
