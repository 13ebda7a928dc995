#include "jig/text/tokenize.hpp"

#include "kit.hpp"

using namespace jig;
using namespace jig::test;

namespace {

/// Joins the best pair again and again over the whole text: SPM as it is written.
std::vector<i32> naive_spm(const vocab& v, const std::string& text) {
  std::string escaped = v.flags.add_space_prefix ? "\xe2\x96\x81" : "";
  for (char c : text) escaped += c == ' ' ? std::string("\xe2\x96\x81") : std::string(1, c);
  if (text.empty()) return {};
  std::vector<std::string> symbols;
  for (usize i = 0; i < escaped.size(); i += symbols.back().size())
    symbols.push_back(escaped.substr(i, symbol_length(static_cast<u8>(escaped[i]))));
  for (;;) {
    usize best = symbols.size();
    f32 score = 0;
    for (usize i = 0; i + 1 < symbols.size(); ++i) {
      const i32 id = v.find(symbols[i] + symbols[i + 1]);
      if (id < 0 || (best != symbols.size() && v.scores[static_cast<usize>(id)] <= score)) continue;
      best = i;
      score = v.scores[static_cast<usize>(id)];
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<i32> ids;
  for (const std::string& s : symbols) {
    if (v.find(s) >= 0) ids.push_back(v.find(s));
    else
      for (char c : s) ids.push_back(v.byte_ids[static_cast<u8>(c)]);
  }
  return ids;
}

/// An SPM vocabulary of byte tokens and random joined texts with few distinct scores.
toy random_spm(random_source& random, bool joins_across_words) {
  toy t{.tokens = {"<unk>", "<s>", "</s>", "\xe2\x96\x81"}, .scores = {0, 0, 0, -9}, .types = {2, 3, 3, 1}};
  char text[8];
  for (u32 b = 0; b < 256; ++b) {
    std::snprintf(text, sizeof text, "<0x%02X>", b);
    t.tokens.emplace_back(text);
    t.scores.push_back(0);
    t.types.push_back(6);
  }
  for (u32 i = 0; i < 60; ++i) {
    std::string token;
    const bool spaced = random.below(3) == 0;
    for (u32 n = 1 + random.below(4); n > 0; --n) token += "abc"[random.below(3)];
    if (spaced) token = "\xe2\x96\x81" + token;
    if (random.below(8) == 0) token = "\xe2\x96\x81\xe2\x96\x81";
    if (joins_across_words && random.below(3) == 0) token += "\xe2\x96\x81";
    if (std::find(t.tokens.begin(), t.tokens.end(), token) != t.tokens.end()) continue;
    t.tokens.push_back(token);
    t.scores.push_back(-static_cast<f32>(random.below(5)));
    t.types.push_back(1);
  }
  if (random.below(2) == 0) t.keys.set("tokenizer.ggml.add_space_prefix", false);
  return t;
}

/// Scratch bytes that a text takes, by asking with ever more.
usize scratch_needed(const vocab& v, std::string_view text) {
  std::vector<i32> ids(3 * text.size() + 16);
  std::vector<std::byte> memory;
  for (;;) {
    const auto n = tokenize(v, text, {}, ids, memory);
    if (n) return memory.size();
    REQUIRE(n.error().code == errc::buffer_too_small);
    REQUIRE(n.error().name() == "scratch");
    REQUIRE(n.error().value > memory.size());
    REQUIRE(n.error().value <= tokenize_scratch_bytes(text.size()));
    memory.resize(static_cast<usize>(n.error().value));
  }
}

std::unique_ptr<opened> demo() { return open_vocab(read_file(JIG_MODELS "/demo/jig-demo-q8_0.gguf")); }

std::string repeated(std::string_view unit, usize bytes) {
  std::string s;
  while (s.size() < bytes) s += unit;
  return s;
}

}  // namespace

TEST_CASE("spm: by hand") {
  const toy t{.tokens = {"<unk>", "<s>", "</s>", "\xe2\x96\x81", "a", "b", "ab", "\xe2\x96\x81" "ab", "bb", "<0xC3>",
                         "<0xA9>"},
              .scores = {0, 0, 0, -1, -1, -1, -2, -3, -2, 0, 0},
              .types = {2, 3, 3, 1, 1, 1, 1, 1, 1, 6, 6}};
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  using ids = std::vector<i32>;
  CHECK(ids_of(v, "") == ids{1});
  CHECK(ids_of(v, "ab") == ids{1, 7});
  CHECK(ids_of(v, " ab") == ids{1, 3, 7});
  CHECK(ids_of(v, "abb") == ids{1, 7, 5});        // ab and bb tie: the left one joins first
  CHECK(ids_of(v, "\xc3\xa9") == ids{1, 3, 9, 10});  // no token: its bytes
  CHECK(ids_of(v, "a<s>b", {.add_special = false, .parse_special = true}) == ids{3, 4, 1, 3, 5});
  CHECK(host::tokenize(v, "z").error().code == errc::untokenizable);
  CHECK(host::tokenize(v, "z").error().value == 'z');
}

TEST_CASE("spm: agrees with joining the best pair of all, for random vocabularies and any bytes") {
  random_source random(9);
  for (u32 round = 0; round < 60; ++round) {
    const bool across = round % 2;
    const auto o = open_vocab(random_spm(random, across).bytes());
    const vocab& v = o->v.view();
    if (!across) CHECK(v.words_separate);
    for (u32 i = 0; i < 40; ++i) {
      std::string text;
      for (u32 n = random.below(20); n > 0; --n) text += "aabbc   \xe2\x96\x81\xe4\xff"[random.below(13)];
      if (i % 8 == 7) text = random.bytes(20);
      REQUIRE(ids_of(v, text, {.add_special = false}) == naive_spm(v, text));
    }
  }
}

TEST_CASE("bpe: by hand") {
  toy t{.model = "gpt2", .pre = "qwen2", .tokens = byte_tokens()};
  t.merges = {"h e", "l l", "he ll", "\xc4\xa0 w", "hell o"};
  for (const char* s : {"he", "ll", "hell", "\xc4\xa0w", "hello", "<|im_end|>"}) t.tokens.emplace_back(s);
  t.keys.set("tokenizer.ggml.eos_token_id", u32{261});
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  using ids = std::vector<i32>;
  CHECK(ids_of(v, "") == ids{});
  CHECK(ids_of(v, "hello") == ids{260});
  CHECK(ids_of(v, "hell w") == ids{258, 259});
  CHECK(ids_of(v, "elle") == ids{'e', 257, 'e'});
  CHECK(ids_of(v, "he\xff") == ids{256, 0xef, 0xbf, 0xbd});  // an invalid byte is U+FFFD
  CHECK(ids_of(v, "he<|im_end|>", {.parse_special = true}) == ids{256, 261});
  CHECK(ids_of(v, "<|im_end|>").size() == 10);

  t.keys.set("tokenizer.ggml.add_eos_token", true);
  const auto with_eos = open_vocab(t.bytes());
  CHECK(ids_of(with_eos->v.view(), "he") == ids{256, 261});
}

TEST_CASE("bpe: with llama-bpe a word that is a token is taken whole, and bytes without a token are dropped") {
  toy t{.model = "gpt2", .pre = "llama-bpe", .tokens = {"a", "b", "abb", "\xc4\xa0" "abb"}, .merges = {}};
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(ids_of(v, "abb abb ab") == std::vector<i32>{2, 3, 0, 1});
}

TEST_CASE("tokenize: the caller's array may be too short, and says what is needed") {
  const auto o = demo();
  std::vector<std::byte> memory(static_cast<usize>(tokenize_scratch_bytes(100)));
  std::vector<i32> ids(2);
  const auto r = tokenize(o->v.view(), "Once upon a time, there was a little fox", {}, ids, memory);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == errc::buffer_too_small);
  CHECK(r.error().name() == "token ids");
  ids.resize(static_cast<usize>(r.error().value));
  CHECK(tokenize(o->v.view(), "Once upon a time, there was a little fox", {}, ids, memory));
}

TEST_CASE("demo model: the golden prompts give their ids, and texts come back") {
  const auto o = demo();
  const vocab& v = o->v.view();
  std::ifstream in(JIG_MODELS "/demo/golden.json");
  REQUIRE(in);
  const json golden = json::parse(in);
  for (const char* variant : {"f16", "q8_0"})
    for (const json& g : golden["greedy"][variant]) {
      const std::string prompt = g["prompt"];
      CAPTURE(prompt);
      const auto want = g["prompt_ids"].get<std::vector<i32>>();
      CHECK(ids_of(v, prompt, {.parse_special = true}) == want);
      CHECK(text_of(v, want, {.unparse_special = true}) == prompt);
    }
  const std::vector<u8> held_out = read_file(JIG_MODELS "/demo/heldout.txt");
  const std::string text(held_out.begin(), held_out.end());
  REQUIRE_FALSE(text.empty());
  CHECK(text_of(v, ids_of(v, text)) == text);
}

TEST_CASE("stories260K: the golden strings give their ids") {
  const std::vector<u8> bytes = read_file(JIG_SHARED "/models/stories260K.gguf");
  if (bytes.empty()) {
    MESSAGE("skipped: no " JIG_SHARED "/models/stories260K.gguf");
    return;
  }
  const auto o = open_vocab(bytes);
  const vocab& v = o->v.view();
  const json golden = json::parse(std::ifstream(JIG_SHARED "/golden/stories260K.json"));
  for (const json& c : golden["tokenizer"]["cases"]) {
    const std::string text = c["text"];
    CAPTURE(text);
    CHECK(json(ids_of(v, text)) == c["ids"]);
    CHECK(json(ids_of(v, text, {.add_special = false})) == c["without_bos"]);
    CHECK(json(ids_of(v, text, {.parse_special = true})) == c["ids_parse_special"]);
  }
}

TEST_CASE("tokenize: what was tokenized comes back, for valid UTF-8") {
  random_source random(11);
  const auto byte_level = demo();
  const auto spm = open_vocab(random_spm(random, false).bytes());
  for (u32 i = 0; i < 2000; ++i) {
    const std::string text = random.text(40);
    CAPTURE(text);
    for (const vocab* v : {&byte_level->v.view(), &spm->v.view()}) {
      REQUIRE(text_of(*v, ids_of(*v, text, {.add_special = false})) == text);
      REQUIRE(text_of(*v, ids_of(*v, text), {.remove_special = true}) ==
              (v->flags.add_bos && v->flags.add_space_prefix && !text.empty() ? " " + text : text));
    }
  }
}

TEST_CASE("tokenize: any bytes come back, invalid ones as U+FFFD where the vocabulary reads characters") {
  random_source random(12);
  const auto byte_level = demo();
  const auto spm = open_vocab(random_spm(random, true).bytes());
  for (u32 i = 0; i < 2000; ++i) {
    std::string text = random.bytes(random.below(60));
    std::string read;
    for (usize at = 0; at < text.size();) {
      char bytes[4];
      const decoded d = decode_utf8(text, at);
      read.append(bytes, encode_utf8(d.code, bytes));
      at += d.bytes;
    }
    REQUIRE(text_of(byte_level->v.view(), ids_of(byte_level->v.view(), text, {.add_special = false})) == read);
    for (char& c : text) c = c == ' ' ? '_' : c;  // an invalid lead byte may cut the mark of a space in two
    REQUIRE(text_of(spm->v.view(), ids_of(spm->v.view(), text, {.add_special = false})) == text);
  }
}

TEST_CASE("tokenize: scratch memory is that of the longest word") {
  random_source random(13);
  const auto byte_level = demo();
  const auto spm = open_vocab(random_spm(random, false).bytes());
  const std::string text = repeated("abc a few words of no great length, a line.\n", 1 << 16);
  CHECK(scratch_needed(byte_level->v.view(), text) < 1024);
  CHECK(scratch_needed(spm->v.view(), text) < 2048);
  for (const std::string& worst : {std::string(4000, 'a'), std::string(4000, ' '), std::string(4000, '\xff')}) {
    CHECK(scratch_needed(byte_level->v.view(), worst) <= tokenize_scratch_bytes(worst.size()));
    CHECK(scratch_needed(spm->v.view(), worst) <= tokenize_scratch_bytes(worst.size()));
  }
}

TEST_CASE("tokenize: 1 MB of one letter, of spaces, of emoji, of special tokens comes back") {
  random_source random(14);
  const auto byte_level = demo();
  const auto spm = open_vocab(random_spm(random, true).bytes());
  for (const char* unit : {"a", " ", "\n", "ab", "\xf0\x9f\x98\x80", "a ", "<", "</s>", "<|im_end|>"}) {
    const std::string text = repeated(unit, 1 << 20);
    for (const vocab* v : {&byte_level->v.view(), &spm->v.view()}) {
      const auto ids = ids_of(*v, text, {.add_special = false, .parse_special = true});
      CHECK((text_of(*v, ids, {.unparse_special = true}) == text));
    }
  }
}
