#include "jig/text/special.hpp"

#include <algorithm>

#include "kit.hpp"

using namespace jig;
using namespace jig::test;

namespace {

/// What a text is cut into: raw stretches and ids as "<id>".
using fragments = std::vector<std::string>;

std::string named(i32 id) {
  std::string s = "<";
  s += std::to_string(id);
  s += '>';
  return s;
}

fragments cut(const vocab& v, std::string_view text, bool parse_special) {
  fragments all;
  std::vector<std::byte> memory(tokenize_scratch_bytes(text.size()));
  scratch work(memory);
  REQUIRE(detail::split_special(
      v, text, parse_special, work,
      [&](i32 id) -> result<void> {
        all.push_back(named(id));
        return {};
      },
      [&](std::string_view raw) -> result<void> {
        all.emplace_back(raw);
        return {};
      }));
  return all;
}

/// The rule as it is written: each token in turn over every raw stretch.
fragments naive(const vocab& v, const std::string& text, bool parse_special) {
  struct part {
    i32 id;
    std::string raw;
  };
  std::vector<i32> order;
  for (i32 id = 0; v.contains(id); ++id)
    if (v.attributes_of(id).is_special() && (parse_special || !v.attributes_of(id).is_hidden())) order.push_back(id);
  std::sort(order.begin(), order.end(), [&](i32 a, i32 b) {
    const usize la = v.text_of(a).size(), lb = v.text_of(b).size();
    return la != lb ? la > lb : a < b;
  });
  const auto is_space = [](char c) { return detail::is_c_space(c); };
  std::vector<part> parts = {{-1, text}};
  for (i32 id : order) {
    std::vector<part> next;
    for (part& p : parts) {
      usize at;
      while (p.id < 0 && (at = p.raw.find(v.text_of(id))) != std::string::npos) {
        std::string left = p.raw.substr(0, at);
        p.raw = p.raw.substr(at + v.text_of(id).size());
        if (v.attributes_of(id).has(token_attributes::left_strip))
          while (!left.empty() && is_space(left.back())) left.pop_back();
        if (v.attributes_of(id).has(token_attributes::right_strip))
          while (!p.raw.empty() && is_space(p.raw.front())) p.raw.erase(0, 1);
        if (!left.empty()) next.push_back({-1, left});
        next.push_back({id, ""});
      }
      if (p.id >= 0 || !p.raw.empty()) next.push_back(p);
    }
    parts = next;
  }
  fragments all;
  for (const part& p : parts)
    if (p.id >= 0 || !p.raw.empty()) all.push_back(p.id < 0 ? p.raw : named(p.id));
  return all;
}

constexpr i32 normal = 1, control = 3, user = 4;

}  // namespace

TEST_CASE("special tokens: longest first, control only on request, user-defined always") {
  const toy t{.tokens = {"<s>", "<s>>", "=>", "x"}, .types = {control, control, user, normal}};
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(cut(v, "", true) == fragments{});
  CHECK(cut(v, "a<s>b", true) == fragments{"a", "<0>", "b"});
  CHECK(cut(v, "a<s>b", false) == fragments{"a<s>b"});
  CHECK(cut(v, "a<s>>b", true) == fragments{"a", "<1>", "b"});
  CHECK(cut(v, "<s><s>>=>x=>", true) == fragments{"<0>", "<1>", "<2>", "x", "<2>"});
  CHECK(cut(v, "<s>=>", false) == fragments{"<s>", "<2>"});
}

TEST_CASE("special tokens: a longer one further right takes its place before a shorter one that overlaps it") {
  const auto o = open_vocab(toy{.tokens = {"ab", "bcd", "b"}, .types = {user, user, user}}.bytes());
  const vocab& v = o->v.view();
  CHECK(cut(v, "abcd", false) == fragments{"a", "<1>"});
  CHECK(cut(v, "abab", false) == fragments{"<0>", "<0>"});
  CHECK(cut(v, "bb", false) == fragments{"<2>", "<2>"});
}

TEST_CASE("special tokens: phi-3's take the white space behind them") {
  toy t{.tokens = {"<unk>", "<s>", "</s>", "<|user|>", "\n\n", " "}, .types = {2, 3, 4, 3, 4, 1}};
  t.keys.set("general.name", "Phi-3 mini");
  const auto o = open_vocab(t.bytes());
  const vocab& v = o->v.view();
  CHECK(cut(v, "a <|user|> \n b", true) == fragments{"a ", "<3>", "b"});
  CHECK(cut(v, "<s> b", true) == fragments{"<1>", " b"});
  CHECK(cut(v, "<|user|>\n\n", true) == fragments{"<3>"});
  CHECK(cut(v, "<|user|>\n\n", false) == fragments{"<|user|>", "<4>"});
  CHECK(cut(v, "<|user|>  ", true) == fragments{"<3>"});
}

TEST_CASE("special tokens: agrees with the rule as written, for random tokens, strips and texts") {
  random_source random(3);
  const auto piece = [&](u32 most) {
    std::string s;
    for (u32 n = 1 + random.below(most); n > 0; --n) s += "ab \n"[random.below(4)];
    return s;
  };
  for (u32 round = 0; round < 3000; ++round) {
    toy t;
    if (round % 3 == 1) t.keys.set("general.name", "phi3");
    if (round % 3 == 2) t.keys.set("general.name", "Modern-BERT");
    t.tokens = {"[MASK]"};
    t.types = {control};
    for (u32 n = random.below(8); n > 0; --n) {
      const std::string s = piece(4);
      if (std::find(t.tokens.begin(), t.tokens.end(), s) != t.tokens.end()) continue;
      t.tokens.push_back(s);
      t.types.push_back(static_cast<i32>(1 + random.below(4)));
    }
    const auto o = open_vocab(t.bytes());
    std::string text;
    for (u32 n = random.below(10); n > 0; --n) text += random.below(4) == 0 ? "[MASK]" : piece(5);
    CAPTURE(text);
    for (bool parse : {false, true}) REQUIRE(cut(o->v.view(), text, parse) == naive(o->v.view(), text, parse));
  }
}

TEST_CASE("special tokens: too little scratch memory is a named error that says what is needed") {
  const auto o = open_vocab(toy{.tokens = {"<s>"}, .types = {control}}.bytes());
  scratch work({});
  const auto r = detail::split_special(
      o->v.view(), "a<s>", true, work, [](i32) -> result<void> { return {}; },
      [](std::string_view) -> result<void> { return {}; });
  REQUIRE_FALSE(r);
  CHECK(r.error().code == errc::buffer_too_small);
  CHECK(r.error().value > 0);
}
