// stories260K in f32: tokenizer, greedy texts, logits and the likelihood of every token of a text.
#include "kit.hpp"

using namespace golden;

namespace {
const std::string model_path = JIG_SHARED "/models/stories260K.gguf";
json figures() { return read(JIG_SHARED "/golden/stories260K.json"); }
}  // namespace

TEST_CASE("stories260K: the tokenizer gives the recorded ids") {
  const json g = figures();
  if (g.is_null()) return;
  const auto m = load(model_path);
  for (const json& c : g["tokenizer"]["cases"]) {
    const std::string text = c["text"];
    CAPTURE(text);
    const auto ids = [&](tokenize_options o) {
      const auto r = m.vocabulary().tokenize(text, o);
      REQUIRE(r);
      return json(*r);
    };
    CHECK(ids({.add_special = false}) == c["without_bos"]);
    CHECK(ids({}) == c["ids"]);
    CHECK(ids({.parse_special = true}) == c["ids_parse_special"]);
  }
  CHECK(g["tokenizer"]["cases"].size() >= 27);
}

TEST_CASE_TEMPLATE("stories260K: greedy ids, text and logits of all prompts", Kernels, by_reference, by_cpu) {
  const json g = figures();
  if (g.is_null()) return;
  const auto m = load(model_path, 2, Kernels::repack);
  f64 worst = 0;
  for (usize i = 0; i < g["prompts"].size(); i += test_every()) {
    const json& c = g["prompts"][i];
    CAPTURE(c["text"].get<std::string>());
    auto s = make(m, Kernels::kernels(), {.kv_type = 0});
    host::generate_options o{.max_tokens = 128};
    o.sampling.temp = 0.0f;
    auto run = s.generate(c["text"].get<std::string>(), o);
    std::string text;
    for (std::string_view piece : run) text += piece;
    CHECK(json(std::vector<i32>(run.prompt_ids().begin(), run.prompt_ids().end())) == c["ids"]);
    CHECK(json(std::vector<i32>(run.ids().begin(), run.ids().end())) == c["greedy_ids"]);
    CHECK(text == c["greedy_text"].get<std::string>());
    REQUIRE(s.core().truncate(0, 0));
    const auto logits = s.feed(c["ids"].get<std::vector<i32>>());
    REQUIRE(logits);
    for (const char* key : {"logits_last", "logits_last_f64"})
      worst = std::max(worst, nmse({logits->row(0), logits->cols}, c[key]));
  }
  MESSAGE("largest NMSE of the logits ", worst);
  CHECK(worst < 1e-6);
  CHECK(g["prompts"].size() == 5);
}

TEST_CASE_TEMPLATE("stories260K: -ln p of every token and the perplexity", Kernels, by_reference, by_cpu) {
  const json g = figures();
  if (g.is_null()) return;
  const auto m = load(model_path, 2, Kernels::repack);
  const auto ids = m.vocabulary().tokenize(read_bytes(JIG_SHARED "/golden/stories_text.txt"), {.add_special = false});
  REQUIRE(ids);
  CHECK(json(*ids) == g["nll"]["ids"]);
  const usize shown = ids->size() / test_every();
  const auto nlls = per_token_nll(m, Kernels::kernels(), std::span(*ids).first(shown), g["nll"]["window"]);
  const std::vector<f64> expected = g["nll"]["per_token_nll"];
  REQUIRE(expected.size() == ids->size());
  REQUIRE(nlls.size() == shown);
  f64 worst = 0;
  for (usize i = 0; i < nlls.size(); ++i) worst = std::max(worst, std::abs(nlls[i] - expected[i]));
  const f64 off = perplexity(nlls) / g["nll"]["ppl_f64"].get<f64>() - 1.0;
  MESSAGE("largest difference of a token ", worst, ", of the perplexity ", off);
  CHECK(worst < 1e-4);
  if (test_every() == 1) CHECK(std::abs(off) < 1e-6);
}
