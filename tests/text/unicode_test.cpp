#include "jig/text/unicode.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "jig/text/byte_alphabet.hpp"
#include "jig/text/utf8.hpp"

using namespace jig;

TEST_CASE("unicode: categories of well-known characters") {
  CHECK(category_of('a') == category::letter);
  CHECK(category_of('7') == category::number);
  CHECK(category_of('$') == category::symbol);
  CHECK(category_of('!') == category::punctuation);
  CHECK(category_of(' ') == category::separator);
  CHECK(category_of('\n') == category::other);
  CHECK(category_of(0x301) == category::mark);      // combining acute
  CHECK(category_of(0xbd) == category::number);     // one half
  CHECK(category_of(0x4e00) == category::letter);   // first and last of a range that the source abbreviates
  CHECK(category_of(0x9fff) == category::letter);
  CHECK(category_of(0x1f600) == category::symbol);  // an emoji
  CHECK(category_of(0x378) == category::unassigned);
  CHECK(category_of(0x2ebf0) == category::letter);  // added by 15.1
  CHECK(category_of(0x2ffc) == category::symbol);
  CHECK(category_of(0x110000) == category::unassigned);
  CHECK(category_of(0xffffffff) == category::unassigned);
}

TEST_CASE("unicode: white space is the property's 25 characters") {
  u32 n = 0;
  for (u32 c = 0; c <= last_code_point; ++c) n += is_space(c);
  CHECK(n == 25);
  for (u32 c : {0x9u, 0xdu, 0x20u, 0x85u, 0xa0u, 0x2000u, 0x200au, 0x3000u}) CHECK(is_space(c));
  for (u32 c : {0x8u, 0xeu, 0x200bu, 0x2060u, 0xfeffu}) CHECK_FALSE(is_space(c));
}

TEST_CASE("unicode: the table agrees with UnicodeData.txt for every code point") {
  std::ifstream in("/usr/share/unicode/UnicodeData.txt");
  if (!in) {
    MESSAGE("skipped: no /usr/share/unicode/UnicodeData.txt (Debian: apt-get install unicode-data)");
    return;
  }
  std::vector<char> major(last_code_point + 1, 0);
  u32 range_start = 0;
  for (std::string line; std::getline(in, line);) {
    const u32 code = static_cast<u32>(std::stoul(line, nullptr, 16));
    const usize name = line.find(';') + 1, category = line.find(';', name) + 1;
    if (line.substr(name, category - name).ends_with("First>;")) range_start = code;
    const bool last = line.substr(name, category - name).ends_with("Last>;");
    for (u32 c = last ? range_start : code; c <= code; ++c) major[c] = line[category];
  }
  u32 wrong = 0;
  for (u32 c = 0; c <= last_code_point; ++c) {
    constexpr char names[] = {0, 'L', 'M', 'N', 'P', 'S', 'Z', 'C'};
    const bool added = (c >= 0x2ebf0 && c <= 0x2ee5d) || (c >= 0x2ffc && c <= 0x2fff) || c == 0x31ef;
    wrong += !added && names[static_cast<u8>(category_of(c))] != major[c];
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf8: lenient decoding takes surrogates and over-long forms, and bad bytes one by one") {
  const auto codes = [](std::string_view s) {
    std::vector<u32> all;
    for (usize i = 0; i < s.size();) {
      const decoded d = decode_utf8(s, i);
      all.push_back(d.code);
      i += d.bytes;
    }
    return all;
  };
  using v = std::vector<u32>;
  CHECK(codes("a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80") == v{'a', 0xe9, 0x4f60, 0x1f600});
  CHECK(codes("\xed\xa0\x80") == v{0xd800});
  CHECK(codes("\xc0\x80\xe0\x80\xaf") == v{0, '/'});
  CHECK(codes("\xe4\xbd") == v{0xfffd, 0xfffd});
  CHECK(codes("\xe4\xbd ") == v{0xfffd, 0xfffd, ' '});
  CHECK(codes("\x80\xff") == v{0xfffd, 0xfffd});
  CHECK(codes("\xf4\x90\x80\x80") == v{0xfffd, 0xfffd, 0xfffd, 0xfffd});
}

TEST_CASE("utf8: every code point survives encoding and decoding") {
  u32 wrong = 0;
  for (u32 c = 0; c <= last_code_point; ++c) {
    char bytes[4];
    const u32 n = encode_utf8(c, bytes);
    const decoded d = decode_utf8({bytes, n}, 0);
    wrong += d.code != c || d.bytes != n || symbol_length(static_cast<u8>(bytes[0])) != n;
  }
  CHECK(wrong == 0);
}

TEST_CASE("byte alphabet: 256 distinct printable code points, and back") {
  CHECK(byte_to_code(' ') == 0x120);
  CHECK(byte_to_code('\n') == 0x10a);
  CHECK(byte_to_code('A') == 'A');
  CHECK(byte_to_code(0xad) == 256 + 67);
  u32 known = 0, wrong = 0;
  for (u32 c = 0; c < 1000; ++c) {
    const i32 b = code_to_byte(c);
    known += b >= 0;
    wrong += b >= 0 && byte_to_code(static_cast<u8>(b)) != c;
  }
  CHECK(known == 256);
  CHECK(wrong == 0);
}
