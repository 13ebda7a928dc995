#include "jig/text/pre_rules.hpp"

#include "kit.hpp"

using namespace jig;
using namespace jig::test;

namespace {

/// The pieces of a text.
std::vector<std::string> split(std::string_view rule_name, std::string_view text) {
  struct context {
    std::string_view text;
    std::vector<std::string> pieces;
  } c{text, {}};
  const auto rule = find_pre_rule(rule_name);
  REQUIRE(rule);
  REQUIRE((*rule)->split(text, {&c, [](void* p, usize begin, usize end) -> result<void> {
                                  auto& to = *static_cast<context*>(p);
                                  to.pieces.emplace_back(to.text.substr(begin, end - begin));
                                  return {};
                                }}));
  return c.pieces;
}
using pieces = std::vector<std::string>;

usize code_points(std::string_view s) {
  usize n = 0;
  for (usize i = 0; i < s.size(); i += decode_utf8(s, i).bytes) ++n;
  return n;
}

/// A text that counts how often it is looked at.
struct counting_text {
  std::string_view bytes;
  u64* count;
  decoded at(usize i) const noexcept { return ++*count, decode_utf8(bytes, i); }
};

template <class Rule>
u64 looks(std::string_view text) {
  u64 count = 0;
  REQUIRE(Rule::split(counting_text{text, &count}, 0, text.size(), [](usize, usize) -> result<void> { return {}; }));
  return count;
}

}  // namespace

TEST_CASE("pre-tokenizers: gpt-2 splits by hand") {
  CHECK(split("gpt-2", "") == pieces{});
  CHECK(split("gpt-2", "Hello world") == pieces{"Hello", " world"});
  CHECK(split("gpt-2", "I'm it's 'S") == pieces{"I", "'m", " it", "'s", " '", "S"});
  CHECK(split("gpt-2", "a  b") == pieces{"a", " ", " b"});
  CHECK(split("gpt-2", "a\n\nb") == pieces{"a", "\n", "\n", "b"});
  CHECK(split("gpt-2", "abc123 45!? ") == pieces{"abc", "123", " 45", "!?", " "});
  CHECK(split("gpt-2", "x \t") == pieces{"x", " \t"});
}

TEST_CASE("pre-tokenizers: llama3, qwen2 and qwen35 split by hand") {
  CHECK(split("llama-bpe", "I'LL go") == pieces{"I", "'LL", " go"});
  CHECK(split("llama-bpe", "12345") == pieces{"123", "45"});
  CHECK(split("qwen2", "123") == pieces{"1", "2", "3"});
  CHECK(split("llama-bpe", "(word)") == pieces{"(word", ")"});
  CHECK(split("llama-bpe", "a \n\n  b") == pieces{"a", " \n\n", " ", " b"});
  CHECK(split("llama-bpe", " !!\n\nx") == pieces{" !!\n\n", "x"});
  CHECK(split("llama-bpe", "\nx") == pieces{"\n", "x"});
  CHECK(split("llama-bpe", "\tx") == pieces{"\tx"});
  CHECK(split("qwen2", "e\xcc\x81" "e") == pieces{"e", "\xcc\x81" "e"});    // the mark is a sign before a word
  CHECK(split("qwen35", "e\xcc\x81" "e") == pieces{"e\xcc\x81" "e"});
}

TEST_CASE("pre-tokenizers: default splits by hand") {
  CHECK(split("default", "1234567") == pieces{"123", "456", "7"});
  CHECK(split("default", "a+b==c") == pieces{"a", "+", "b", "==", "c"});
  CHECK(split("", "x 12") == split("default", "x 12"));
  CHECK(split("default", "x 12") == pieces{"x", " ", "12"});
}

TEST_CASE("pre-tokenizers: an unknown name is a named error") {
  const auto r = find_pre_rule("no-such-rule");
  REQUIRE_FALSE(r);
  CHECK(r.error().code == errc::unknown_pretokenizer);
  CHECK(r.error().name() == "no-such-rule");
}

TEST_CASE("pre-tokenizers: names are unique") {
  for (const pre_rule& a : detail::pre_rules)
    for (const pre_rule& b : detail::pre_rules) CHECK((&a == &b || a.name != b.name));
}

TEST_CASE("pre-tokenizers: pieces are the text, in order, for any bytes") {
  random_source random(1);
  for (u32 i = 0; i < 300; ++i) {
    const std::string text = i % 2 ? random.text(40) : random.bytes(40);
    for (const pre_rule& r : detail::pre_rules) {
      std::string joined;
      for (const std::string& p : split(r.name, text)) {
        CHECK_FALSE(p.empty());
        joined += p;
      }
      CHECK(joined == text);
    }
  }
}

TEST_CASE("pre-tokenizers: golden splits and flags of every name in the table") {
  if (!kit_present()) {
    MESSAGE("skipped: no tokenizer kit at " << kit_folder());
    return;
  }
  const json rules = kit_json("pretokenizers"), splits = kit_json("pretokenizer_splits")["splits"];
  const std::vector<std::string> cases = kit_cases();
  for (const pre_rule& r : detail::pre_rules) {
    CAPTURE(r.name);
    const json& row = rules["names"][std::string(r.name)];
    const std::string rule_name = row["rule"];
    CHECK(r.flags.ignore_merges == row["ignore_merges"]);
    CHECK(r.flags.add_bos == row["add_bos"]);
    CHECK(r.flags.add_eos == row["add_eos"]);
    CHECK(r.flags.add_sep == row["add_sep"]);
    CHECK(r.flags.clean_spaces == row["clean_spaces"]);
    CHECK(r.flags.add_space_prefix == row["add_space_prefix"]);
    CHECK(r.flags.escape_whitespaces == row["escape_whitespaces"]);
    CHECK(r.flags.byte_encode == rules["rules"][rule_name]["byte_encode"]);
    for (usize i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      std::vector<usize> lengths;
      for (const std::string& p : split(r.name, cases[i])) lengths.push_back(code_points(p));
      CHECK(json(lengths) == splits[rule_name][i]);
    }
  }
}

TEST_CASE("pre-tokenizers: 1 MB of one character is looked at in linear time") {
  const auto check = [](std::string_view unit) {
    std::string text;
    while (text.size() < (1 << 20)) text += unit;
    CHECK(looks<detail::default_rule>(text) < 40 * text.size());
    CHECK(looks<detail::gpt2_rule>(text) < 10 * text.size());
    CHECK(looks<detail::llama3_rule>(text) < 10 * text.size());
    CHECK(looks<detail::qwen2_rule>(text) < 10 * text.size());
    CHECK(looks<detail::starcoder_rule>(text) < 20 * text.size());
    CHECK(looks<detail::falcon_rule>(text) < 40 * text.size());
  };
  for (const char* unit : {"a", " ", "\n", " \n", "1", "!", "'", "\xf0\x9f\x98\x80", "\xff", "'s", " a", "12a"})
    check(unit);
}
