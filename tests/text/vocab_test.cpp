#include "jig/text/load_vocab.hpp"

#include <algorithm>
#include <numeric>

#include "kit.hpp"

using namespace jig;
using namespace jig::test;

namespace {

toy small_spm() {
  return {.tokens = {"<unk>", "<s>", "</s>", "a", "b", "ab"},
          .scores = {0, 0, 0, -1, -2, -3},
          .types = {2, 3, 3, 1, 1, 1}};
}
toy small_bpe() {
  return {.model = "gpt2", .pre = "gpt-2", .tokens = {"a", "b", "ab", "c", "abc"}, .merges = {"a b", "ab c"}};
}

/// The error of loading a vocabulary.
error load_error(const std::vector<u8>& bytes) {
  const auto file = gguf::open(bytes);
  REQUIRE(file);
  const auto v = host::vocab::load(*file);
  REQUIRE_FALSE(v);
  return v.error();
}

}  // namespace

TEST_CASE("vocab: texts, look-ups, types and scores of a small SPM vocabulary") {
  for (auto order : {gguf::byte_order::little, gguf::byte_order::big}) {
    const auto o = open_vocab(small_spm().bytes(order));
    const vocab& v = o->v.view();
    CHECK(v.count == 6);
    CHECK(v.kind == &spm_kind);
    CHECK(v.text_of(5) == "ab");
    CHECK(v.find("ab") == 5);
    CHECK(v.find("a", "b") == 5);
    CHECK(v.find("", "ab") == 5);
    CHECK(v.find("abc") == -1);
    CHECK(v.find("") == -1);
    CHECK(v.scores[5] == -3);
    CHECK(v.attributes_of(0).type() == token_type::unknown);
    CHECK(v.attributes_of(1).is_hidden());
    CHECK_FALSE(v.attributes_of(3).is_special());
    CHECK(v.ids.bos == 1);
    CHECK(v.ids.eos == 2);
    CHECK(v.flags.add_bos);
    CHECK_FALSE(v.flags.add_eos);
    CHECK(v.is_end_of_generation(2));
    CHECK_FALSE(v.is_end_of_generation(1));
    CHECK_FALSE(v.is_end_of_generation(-1));
    CHECK_FALSE(v.is_end_of_generation(6));
    CHECK(v.words_separate);
  }
}

TEST_CASE("vocab: merges of a small BPE vocabulary, the first of equal pairs counts") {
  toy t = small_bpe();
  t.merges = {"a b", "ab c", "a b"};
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(v.find_merge(0, 1) == 0);
  CHECK(v.find_merge(2, 3) == 1);
  CHECK(v.merges[1].result == 4);
  CHECK(v.find_merge(1, 0) == lookup::none);
  CHECK(v.find_merge(-1, 0) == lookup::none);
  CHECK(v.byte_ids['a'] == 0);
  CHECK(v.byte_ids['z'] == -1);
}

TEST_CASE("vocab: keys override defaults; ids outside the vocabulary are no ids") {
  toy t = small_spm();
  t.keys.set("tokenizer.ggml.bos_token_id", u32{3});
  t.keys.set("tokenizer.ggml.eos_token_id", u32{600});
  t.keys.set("tokenizer.ggml.eot_token_id", i32{4});
  t.keys.set("tokenizer.ggml.padding_token_id", u32{0xffffffff});
  t.keys.set("tokenizer.ggml.add_bos_token", false);
  t.keys.set("tokenizer.ggml.add_eos_token", true);
  t.keys.set("tokenizer.ggml.add_space_prefix", false);
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(v.ids.bos == 3);
  CHECK(v.ids.eos == -1);
  CHECK(v.is_end_of_generation(2));  // by its text, </s>
  CHECK(v.ids.eot == 4);
  CHECK(v.ids.pad == -1);
  CHECK_FALSE(v.flags.add_bos);
  CHECK(v.flags.add_eos);
  CHECK_FALSE(v.flags.add_space_prefix);
  CHECK(v.is_end_of_generation(4));

  const auto bpe = open_vocab(small_bpe().bytes());
  CHECK(bpe->v.view().ids.bos == -1);  // its default, 11, is beyond the five tokens
}

TEST_CASE("vocab: roles and end tokens by their texts") {
  toy t = small_bpe();
  for (const char* text : {"<|im_end|>", "<|fim_prefix|>", "<|channel|>", "<|return|>", "<|call|>", "<|end|>"})
    t.tokens.push_back(text);
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(v.ids.eot == 5);
  CHECK(v.ids.fim_pre == 6);
  CHECK(v.attributes_of(5).is_hidden());
  CHECK(v.is_end_of_generation(5));
  CHECK(v.attributes_of(6).is_hidden());
  CHECK_FALSE(v.is_end_of_generation(6));
  CHECK(v.attributes_of(7).type() == token_type::user_defined);
  CHECK_FALSE(v.attributes_of(7).is_hidden());
  CHECK(v.is_end_of_generation(8));
  CHECK_FALSE(v.is_end_of_generation(10));  // <|end|> beside <|return|> and <|call|> only ends a message
  CHECK(v.attributes_of(10).type() == token_type::user_defined);
}

TEST_CASE("vocab: an empty token gets a text of its own") {
  toy t = small_spm();
  t.tokens.push_back("");
  t.tokens.push_back("z");
  t.tokens.push_back("");
  const auto o = open_vocab(t.bytes());
  CHECK(o->v.view().text_of(6) == "[EMPTY_6]");
  CHECK(o->v.view().find("[EMPTY_8]") == 8);
  CHECK(host::piece(o->v.view(), 6) == "[EMPTY_6]");
}

TEST_CASE("vocab: loading needs exactly the memory that is asked for, wherever it lies") {
  for (const toy& t : {small_spm(), small_bpe()}) {
    const auto bytes = t.bytes();
    const auto file = gguf::open(bytes);
    REQUIRE(file);
    const auto need = vocab_bytes_needed(*file);
    REQUIRE(need);
    for (usize shift = 0; shift < 4; ++shift) {
      std::vector<std::byte> memory(shift + *need);
      CHECK(load_vocab(*file, std::span(memory).subspan(shift)));
    }
    std::vector<std::byte> memory(*need - 1);
    const auto v = load_vocab(*file, memory);
    REQUIRE_FALSE(v);
    CHECK(v.error().code == errc::buffer_too_small);
    CHECK(v.error().value == *need);
  }
}

TEST_CASE("vocab: only the kinds that are named are known") {
  const auto bytes = small_bpe().bytes();
  const auto file = gguf::open(bytes);
  REQUIRE(file);
  constexpr const tokenizer_kind* only_spm[] = {&spm_kind};
  const auto v = host::vocab::load(*file, only_spm);
  REQUIRE_FALSE(v);
  CHECK(v.error().code == errc::unknown_tokenizer);
  CHECK(v.error().name() == "gpt2");
}

TEST_CASE("vocab: malformed vocabularies are named errors") {
  const auto expect = [](const toy& t, errc code, std::string_view name) {
    const error e = load_error(t.bytes());
    CHECK(jig::name(e.code) == jig::name(code));
    CHECK(e.name() == name);
  };
  toy t;
  t = small_spm(), t.model = "my-own";
  expect(t, errc::unknown_tokenizer, "my-own");
  for (const char* later : {"bert", "t5", "rwkv", "plamo2", "gemma4"}) {
    t = small_spm(), t.model = later;
    expect(t, errc::unknown_tokenizer, later);
  }
  t = small_bpe(), t.pre = "my-own";
  expect(t, errc::unknown_pretokenizer, "my-own");
  t = small_spm(), t.tokens[4] = t.tokens[3];
  expect(t, errc::bad_vocabulary, "a");
  t = small_spm(), t.tokens.clear(), t.scores.clear(), t.types.clear();
  expect(t, errc::bad_vocabulary, "tokenizer.ggml.tokens");
  t = small_spm(), t.tokens.push_back(std::string(8193, 'x'));
  expect(t, errc::bad_vocabulary, "token too long");
  t = small_spm(), t.scores[2] = std::numeric_limits<f32>::quiet_NaN();
  expect(t, errc::bad_vocabulary, "score is not a number");
  t = small_bpe(), t.merges = {"ab"};
  expect(t, errc::bad_merge, "ab");
  t = small_bpe(), t.merges = {" b"};
  expect(t, errc::bad_merge, " b");
  t = small_bpe(), t.merges = {"a b", "a z"};
  expect(t, errc::bad_merge, "a z");
  t = small_bpe(), t.merges = {"z a"};
  expect(t, errc::bad_merge, "z a");
  t = small_bpe(), t.merges = {"b a"};
  expect(t, errc::bad_merge, "b a");
  t = small_bpe(), t.merges = {""};
  expect(t, errc::bad_merge, "");
  t = small_spm(), t.keys.set("tokenizer.ggml.bos_token_id", "one");
  expect(t, errc::wrong_key_type, "tokenizer.ggml.bos_token_id");
  t = small_spm(), t.keys.set("tokenizer.ggml.add_bos_token", u32{1});
  expect(t, errc::wrong_key_type, "tokenizer.ggml.add_bos_token");
}

TEST_CASE("vocab: keys of the wrong type or length are named errors") {
  const auto expect = [](gguf::writer w, errc code, std::string_view name) {
    const auto bytes = w.bytes();
    REQUIRE(bytes);
    const error e = load_error(*bytes);
    CHECK(jig::name(e.code) == jig::name(code));
    CHECK(e.name() == name);
  };
  const std::vector<std::string> tokens = {"a", "b"};
  const std::vector<i32> numbers = {1};
  gguf::writer w;
  expect(w, errc::missing_key, "tokenizer.ggml.model");
  w.set("tokenizer.ggml.model", u32{7});
  expect(w, errc::wrong_key_type, "tokenizer.ggml.model");
  w.set("tokenizer.ggml.model", "llama");
  expect(w, errc::missing_key, "tokenizer.ggml.tokens");
  w.set_array<i32>("tokenizer.ggml.tokens", numbers);
  expect(w, errc::wrong_key_type, "tokenizer.ggml.tokens");
  w.set_array<std::string>("tokenizer.ggml.tokens", tokens);
  w.set_array<i32>("tokenizer.ggml.token_type", numbers);
  expect(w, errc::bad_vocabulary, "tokenizer.ggml.token_type");
  w.set("tokenizer.ggml.token_type", u32{1});
  expect(w, errc::wrong_key_type, "tokenizer.ggml.token_type");
  w.set_array<std::string>("tokenizer.ggml.token_type", tokens);
  expect(w, errc::wrong_key_type, "tokenizer.ggml.token_type");
  w.remove("tokenizer.ggml.token_type");
  w.set_array<i32>("tokenizer.ggml.scores", numbers);
  expect(w, errc::bad_vocabulary, "tokenizer.ggml.scores");
  w.remove("tokenizer.ggml.scores");
  w.set("tokenizer.ggml.model", "gpt2");
  expect(w, errc::missing_key, "tokenizer.ggml.merges");
  w.set_array<i32>("tokenizer.ggml.merges", numbers);
  expect(w, errc::wrong_key_type, "tokenizer.ggml.merges");
  w.set("tokenizer.ggml.model", "no_vocab");
  expect(w, errc::missing_key, "general.architecture");
}

TEST_CASE("vocab: the malformed models with a broken vocabulary give the errors of their manifest") {
  std::ifstream manifest(JIG_TEST_DATA "/malformed/manifest.txt");
  REQUIRE(manifest);
  u32 n = 0;
  for (std::string line; std::getline(manifest, line);) {
    const usize code = line.find('\t') + 1;
    const std::string file_name = line.substr(0, code - 1), want = line.substr(code, line.find('\t', code) - code);
    const bool about_tokens = line.find("tokenizer") != std::string::npos || want == "bad_merge";
    if (!file_name.starts_with("model-") || !about_tokens) continue;
    CAPTURE(line);
    const std::vector<u8> bytes = read_file(JIG_TEST_DATA "/malformed/" + file_name);
    ++n;
    if (line.ends_with("_token_id")) {  // real files write such ids for "none": no fault of the vocabulary's
      const vocab v = open_vocab(bytes)->v.view();
      CHECK(v.ids.*(line.find("bos") != std::string::npos ? &special_ids::bos : &special_ids::eos) < 0);
      continue;
    }
    CHECK(jig::name(load_error(bytes).code) == want);
  }
  CHECK(n >= 14);
}

TEST_CASE("vocab: a model without one has ids without text, and cannot tokenize") {
  gguf::writer w;
  w.set("tokenizer.ggml.model", "no_vocab");
  w.set("general.architecture", "llama");
  w.set("llama.vocab_size", u32{40});
  const auto bytes = w.bytes();
  REQUIRE(bytes);
  const auto o = open_vocab(*bytes);
  const vocab& v = o->v.view();
  CHECK(v.count == 40);
  CHECK(v.text_of(39).empty());
  CHECK(v.find("a") == -1);
  CHECK(text_of(v, {0, 39}).empty());
  CHECK(host::detokenize(v, std::vector<i32>{40}).error().code == errc::bad_token);
  CHECK(host::tokenize(v, "a").error().code == errc::untokenizable);
  CHECK(ids_of(v, "").empty());
  CHECK(host::tokenize(vocab{}, "a").error().code == errc::untokenizable);
}

TEST_CASE("lookup: the sorted form for flash finds what the hashed form finds") {
  random_source random(4);
  std::vector<std::string> words;
  for (u32 i = 0; i < 500; ++i) words.push_back(random.text(1 + random.below(4)));
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const auto o = open_vocab(toy{.tokens = words}.bytes());
  vocab v = o->v.view();
  std::vector<u32> order(v.count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
    return v.text_of(static_cast<i32>(a)) < v.text_of(static_cast<i32>(b));
  });
  vocab sorted = v;
  sorted.by_text = {order, 0};
  for (const std::string& w : words)
    for (const std::string& text : {w, w + "a", w.substr(0, w.size() / 2)}) CHECK(sorted.find(text) == v.find(text));

  const auto b = open_vocab(small_bpe().bytes());
  vocab bpe = b->v.view();
  const std::vector<u32> ranks = {0, 1};  // (0, 1) before (2, 3)
  bpe.by_pair = {ranks, 0};
  CHECK(bpe.find_merge(0, 1) == 0);
  CHECK(bpe.find_merge(2, 3) == 1);
  CHECK(bpe.find_merge(0, 3) == lookup::none);
  CHECK(bpe.find_merge(3, 0) == lookup::none);
}

TEST_CASE("lookup: a table made to collide is refused, not slow") {
  std::vector<u32> slots(lookup::slots_for(3000));
  lookup_builder table(slots, 3000);
  const auto differs = [](u32) { return 1; };
  auto outcome = lookup_builder::outcome::added;
  u32 n = 0;
  for (; n < 3000 && outcome == lookup_builder::outcome::added; ++n) outcome = table.add(n, 42, differs);
  CHECK(outcome == lookup_builder::outcome::too_slow);
  CHECK(n == lookup::max_probes + 1);
}
