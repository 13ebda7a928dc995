#include "jig/text/stream.hpp"

#include <regex>

#include "kit.hpp"
#include "valid_utf8.hpp"

using namespace jig;
using namespace jig::test;

namespace {

std::string cleaned(std::string_view text) {
  std::string out;
  const auto put = [&](char c) { out += c; };
  space_cleaner cleaner;
  for (char c : text) cleaner.put(c, put);
  cleaner.finish(put);
  return out;
}

/// The three passes one after the other.
std::string naive_cleaned(std::string s) {
  s = std::regex_replace(s, std::regex(" (?=[?!.,])"), "");
  s = std::regex_replace(s, std::regex(" ' "), "'");
  return std::regex_replace(s, std::regex(" (?='(?:[sm]|re|ve))"), "");
}

std::string valid(std::string_view text, invalid_utf8 how = invalid_utf8::replace) {
  std::string out;
  const auto put = [&](const char* s, u32 n) { out.append(s, n); };
  utf8_filter filter(how);
  for (char c : text) filter.add(c, put);
  filter.finish(put);
  return out;
}

/// A byte-level vocabulary with a token per byte.
std::unique_ptr<opened> byte_vocab(const char* pre) {
  return open_vocab(toy{.model = "gpt2", .pre = pre, .tokens = byte_tokens(), .merges = {}}.bytes());
}

}  // namespace

TEST_CASE("clean_spaces: by hand") {
  CHECK(cleaned("Hello , world !") == "Hello, world!");
  CHECK(cleaned("a  .") == "a .");
  CHECK(cleaned("it 's I 'm we 're I 've") == "it's I'm we're I've");
  CHECK(cleaned("don 't he 'd we 'll") == "don 't he 'd we 'll");
  CHECK(cleaned("a ' b ' ' c") == "a'b'' c");
  CHECK(cleaned("' ") == "' ");
  CHECK(cleaned(" '") == " '");
  CHECK(cleaned(" 'r") == " 'r");
}

TEST_CASE("clean_spaces: the stream gives what three passes over the whole text give") {
  random_source random(5);
  for (u32 i = 0; i < 20000; ++i) {
    std::string text;
    for (u32 n = random.below(16); n > 0; --n) text += "   ''.?!,smrevtx"[random.below(16)];
    CAPTURE(text);
    REQUIRE(cleaned(text) == naive_cleaned(text));
  }
}

TEST_CASE("utf8_filter: the longest start of a character that goes wrong is one replacement character") {
  CHECK(valid("a\xc3\xa9\xf0\x9f\x98\x80") == "a\xc3\xa9\xf0\x9f\x98\x80");
  const std::string r = "\xef\xbf\xbd";
  CHECK(valid("\xff" "a") == r + "a");
  CHECK(valid("\xe4\xbd") == r);
  CHECK(valid("\xe4\xbd" "a") == r + "a");
  CHECK(valid("\xe4\xbd\xe4\xbd\xa0") == r + "\xe4\xbd\xa0");
  CHECK(valid("\xc0\x80") == r + r);
  CHECK(valid("\xed\xa0\x80") == r + r + r);                  // a surrogate
  CHECK(valid("\xf4\x90\x80\x80") == r + r + r + r);          // above U+10FFFF
  CHECK(valid("\xf0\x80\x80\x80") == r + r + r + r);          // over-long
  CHECK(valid("\xf0\x9f\x98" "a\x80") == r + "a" + r);        // Unicode 15, table 3-8
  CHECK(valid("\xf0\x9f\x98" "a\x80", invalid_utf8::keep) == "\xf0\x9f\x98" "a\x80");
}

TEST_CASE("utf8_filter: any bytes come out valid, valid text and kept bytes unchanged") {
  random_source random(6);
  for (u32 i = 0; i < 3000; ++i) {
    const std::string bytes = random.bytes(random.below(20)), text = random.text(20);
    REQUIRE(is_valid_utf8(valid(bytes)));
    REQUIRE(valid(bytes, invalid_utf8::keep) == bytes);
    REQUIRE(valid(text) == text);
  }
}

TEST_CASE("text_stream: never shows half a character, and all together is the whole list's text") {
  for (const char* pre : {"qwen2", "gpt-2"}) {  // without and with clean_spaces
    const auto o = byte_vocab(pre);
    const vocab& v = o->v.view();
    random_source random(8);
    for (u32 round = 0; round < 500; ++round) {
      std::string text = random.text(30) + " 's ' .";
      if (round % 2) text.resize(random.below(static_cast<u32>(text.size())));  // may end within a character
      const std::vector<i32> ids = ids_of(v, text, {.add_special = false});
      std::vector<i32> raw;  // one id per byte, also where the text is no UTF-8
      for (char c : text) raw.push_back(v.byte_ids[static_cast<u8>(c)]);
      std::string shown;
      const auto show = [&](std::string_view s) {
        REQUIRE(is_valid_utf8(s));
        shown += s;
      };
      text_stream stream(v);
      for (i32 id : raw) REQUIRE(stream.push(id, show));
      stream.finish(show);
      REQUIRE(shown == valid(text_of(v, raw)));
    }
  }
}

TEST_CASE("text_stream: a character arrives with its last byte") {
  const auto o = byte_vocab("qwen2");
  const vocab& v = o->v.view();
  std::string shown;
  const auto show = [&](std::string_view s) { shown += s; };
  text_stream stream(v);
  for (char c : {'\xf0', '\x9f', '\x98'}) REQUIRE(stream.push(v.byte_ids[static_cast<u8>(c)], show));
  CHECK(shown.empty());
  REQUIRE(stream.push(v.byte_ids[0x80], show));
  CHECK(shown == "\xf0\x9f\x98\x80");
  REQUIRE(stream.push(v.byte_ids[0xe4], show));
  stream.finish(show);
  CHECK(shown == "\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_CASE("text_stream: an id outside the vocabulary is a named error, and the stream goes on") {
  const auto o = byte_vocab("qwen2");
  const vocab& v = o->v.view();
  std::string shown;
  const auto show = [&](std::string_view s) { shown += s; };
  text_stream stream(v);
  for (i32 id : {-1, 256, 1 << 30}) {
    const auto r = stream.push(id, show);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::bad_token);
  }
  REQUIRE(stream.push(v.byte_ids['a'], show));
  CHECK(shown == "a");
}

TEST_CASE("detokenize: the prefix space, BOS and EOS") {
  toy t{.tokens = {"<unk>", "<s>", "</s>", "\xe2\x96\x81Hi", "\xe2\x96\x81you", "!"}, .types = {2, 3, 3, 1, 1, 1}};
  t.keys.set("tokenizer.ggml.add_eos_token", true);
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(text_of(v, {3, 4, 5}) == "Hi you!");
  CHECK(text_of(v, {3, 4}, {.continues = true}) == " Hi you");
  CHECK(text_of(v, {1, 3, 4, 2}) == " Hi you");
  CHECK(text_of(v, {1, 3, 4, 2}, {.remove_special = true}) == " Hi you");
  CHECK(text_of(v, {1, 3, 2, 4, 2, 2}, {.remove_special = true, .unparse_special = true}) == " Hi</s> you</s>");
  CHECK(text_of(v, {1, 3, 2}, {.unparse_special = true}) == "<s> Hi</s>");
  CHECK(text_of(v, {}) == "");

  char buffer[4];
  const std::vector<i32> ids = {3, 4};
  const auto r = detokenize(v, ids, {}, buffer);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == errc::buffer_too_small);
  CHECK(r.error().value == 6);
}

TEST_CASE("piece: what each type of token shows") {
  toy t{.tokens = {"<unk>", "<s>", "\xe2\x96\x81x", "<0x41>", "a\xe2\x96\x81", "gone", "odd"},
        .types = {2, 3, 1, 6, 4, 5, 9}};
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  const char* shown[] = {"<unk>", "<s>", " x", "A", "a\xe2\x96\x81", "", ""};
  const char* hidden[] = {"", "", " x", "A", "a\xe2\x96\x81", "", ""};
  for (i32 id = 0; id < 7; ++id) {
    CHECK(host::piece(v, id, true) == shown[id]);
    CHECK(host::piece(v, id, false) == hidden[id]);
  }
  char buffer[2];
  CHECK(*piece(v, 2, false, buffer) == 2);
  CHECK(piece(v, 0, true, buffer).error().value == 5);
  CHECK(piece(v, 7, true, buffer).error().code == errc::bad_token);
  CHECK(piece(v, -1, true, buffer).error().code == errc::bad_token);
}

TEST_CASE("piece: a byte-level token with a character outside the alphabet says so") {
  toy t{.model = "gpt2", .pre = "gpt-2", .tokens = {"a", "\xc4\xa0" "b", "\xe2\x82\xac!"}, .merges = {}};
  const auto o = open_vocab(t.bytes());
  CHECK(host::piece(o->v.view(), 1) == " b");
  CHECK(host::piece(o->v.view(), 2) == "[UNK_BYTE_0xe282ac\xe2\x82\xac!]!");
}
