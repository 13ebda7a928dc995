#pragma once
// The oracle of UTF-8: what stream tests and the tokenizer's fuzz target demand of shown text.

#include <string_view>

#include "jig/text/utf8.hpp"

namespace jig::test {

/// True if `s` is whole characters in their shortest form, none of them a surrogate.
inline bool is_valid_utf8(std::string_view s) {
  for (usize i = 0; i < s.size();) {
    const decoded d = decode_utf8(s, i);
    char shortest[4];
    const bool surrogate = d.code >= 0xd800 && d.code < 0xe000;
    if (surrogate || (d.bytes == 1 && d.code > 0x7f) || encode_utf8(d.code, shortest) != d.bytes) return false;
    i += d.bytes;
  }
  return true;
}

}  // namespace jig::test
