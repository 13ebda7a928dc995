// The golden strings of real vocabularies: ids, pieces, special ids and detokenised texts, all exact.

#include "jig/gguf/sha256.hpp"
#include "kit.hpp"

using namespace jig;
using namespace jig::test;

namespace {

constexpr const char* vocabularies[] = {
    "llama-spm", "phi-3", "baichuan", "synth-spm-a", "synth-spm-b",                                // SPM
    "gpt-2",     "mpt",   "gpt-neox", "llama-bpe",   "qwen2",       "qwen35",   "falcon",         // BPE
    "starcoder", "refact", "command-r", "aquila",
};

/// Pieces of all tokens in id order, each with its length in front.
std::string pieces_hash(const vocab& v) {
  std::string all;
  for (u32 id = 0; id < v.count; ++id) {
    const std::string text = host::piece(v, static_cast<i32>(id), true);
    for (u32 shift = 0; shift < 32; shift += 8) all += static_cast<char>(text.size() >> shift);
    all += text;
  }
  sha256 hash;
  std::string hex;
  for (u8 byte : hash.update({reinterpret_cast<const u8*>(all.data()), all.size()}).digest())
    for (u32 shift : {4u, 0u}) hex += "0123456789abcdef"[byte >> shift & 15];
  return hex;
}

void check_header(const vocab& v, const json& want) {
  CHECK(v.count == want["n_tokens"]);
  CHECK(v.kind->name == want["type"].get<std::string>());
  const std::pair<const char*, i32> ids[] = {
      {"bos", v.ids.bos},         {"eos", v.ids.eos},         {"eot", v.ids.eot},         {"sep", v.ids.sep},
      {"pad", v.ids.pad},         {"mask", v.ids.mask},       {"fim_pre", v.ids.fim_pre}, {"fim_suf", v.ids.fim_suf},
      {"fim_mid", v.ids.fim_mid}, {"fim_pad", v.ids.fim_pad}, {"fim_rep", v.ids.fim_rep}, {"fim_sep", v.ids.fim_sep}};
  for (const auto& [key, id] : ids) {
    CAPTURE(key);
    CHECK(id == want[key]);
  }
  CHECK(v.flags.add_bos == want["add_bos"]);
  CHECK(v.flags.add_eos == want["add_eos"]);
  CHECK(v.flags.add_sep == want["add_sep"]);
  std::vector<i32> ends, left, right;
  for (i32 id = 0; v.contains(id); ++id) {
    const token_attributes a = v.attributes_of(id);
    if (v.is_end_of_generation(id)) ends.push_back(id);
    if (a.has(token_attributes::left_strip)) left.push_back(id);
    if (a.has(token_attributes::right_strip)) right.push_back(id);
  }
  CHECK(json(ends) == want["eog"]);
  CHECK(json(left) == want["lstrip"]);
  CHECK(json(right) == want["rstrip"]);
  CHECK(pieces_hash(v) == want["pieces_sha256"].get<std::string>());
}

void check_ids(const vocab& v, const std::string& text, const json& want) {
  for (bool special : {false, true})
    for (bool parse : {false, true}) {
      const std::string key = {special ? 't' : 'f', parse ? 't' : 'f'};
      const auto ids = host::tokenize(v, text, {.add_special = special, .parse_special = parse});
      CAPTURE(key);
      REQUIRE(ids);
      CHECK(json(*ids) == want[key]);
    }
}

/// The list's text, and the same through the stream.
std::string text_of(const vocab& v, const json& ids, detokenize_options options) {
  const auto list = ids.get<std::vector<i32>>();
  const auto whole = host::detokenize(v, list, options);
  REQUIRE(whole);
  std::string streamed;
  const auto show = [&](std::string_view s) { streamed += s; };
  text_stream stream(v, options, invalid_utf8::keep);
  for (i32 id : list) REQUIRE(stream.push(id, show));
  stream.finish(show);
  CHECK(streamed == *whole);
  return *whole;
}

}  // namespace

TEST_CASE("golden: real vocabularies give the recorded ids, pieces and texts") {
  if (!kit_present()) {
    MESSAGE("skipped: no tokenizer kit at " << kit_folder());
    return;
  }
  const std::vector<std::string> cases = kit_cases();
  REQUIRE(cases.size() == 216);
  for (const char* which : vocabularies) {
    CAPTURE(which);
    const auto o = open_kit_vocab(which);
    if (!o) {
      MESSAGE("skipped: " << which << " can't be unpacked (is xz installed?)");
      continue;
    }
    const vocab& v = o->v.view();
    const json golden = kit_json(which);
    check_header(v, golden["header"]["vocab"]);
    REQUIRE(golden["cases"].size() == cases.size());
    for (usize i = 0; i < cases.size(); ++i) {
      const json& want = golden["cases"][i];
      CAPTURE(want["name"].get<std::string>());
      check_ids(v, cases[i], want);
      CHECK(text_of(v, want["ff"], {}) == kit_text(want, "detok_plain"));
      CHECK(text_of(v, want["tt"], {.remove_special = true}) == kit_text(want, "detok"));
      CHECK(text_of(v, want["tt"], {.unparse_special = true}) == kit_text(want, "detok_special"));
    }
  }
}
