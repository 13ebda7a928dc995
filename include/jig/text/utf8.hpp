#pragma once
// UTF-8, in the two readings that jig needs.
//
// Tokenizers read leniently, as the vocabularies' reference does: over-long forms and surrogates are accepted, and a
// byte that starts no complete sequence (or one above U+10FFFF) is one U+FFFD. Output is judged strictly, by the
// Unicode standard's table 3-7 (well-formed sequences): see utf8_filter in text/stream.hpp.

#include <string_view>

#include "jig/core/types.hpp"

namespace jig {

inline constexpr u32 replacement_character = 0xfffd;
inline constexpr u32 last_code_point = 0x10ffff;

/// A code point and the number of bytes that it was read from.
struct decoded {
  u32 code;
  u32 bytes;
};

/// The code point at s[at] (at < s.size()), leniently.
constexpr decoded decode_utf8(std::string_view s, usize at) noexcept {
  const auto byte = [&](usize i) { return static_cast<u32>(static_cast<u8>(s[at + i])); };
  const u32 lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const u32 length = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (length == 0 || s.size() - at < length) return {replacement_character, 1};
  u32 code = lead & (0x7fu >> length);
  for (u32 i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {replacement_character, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  if (code > last_code_point) return {replacement_character, 1};
  return {code, length};
}

/// Writes the shortest form (surrogates as three bytes) and returns its length; `out` holds at least 4 bytes.
constexpr u32 encode_utf8(u32 code, char* out) noexcept {
  const auto tail = [&](u32 shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xc0 | code >> 6), out[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xe0 | code >> 12), out[1] = tail(6), out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | code >> 18), out[1] = tail(12), out[2] = tail(6), out[3] = tail(0);
  return 4;
}

/// Length of a symbol by its first byte's high nibble alone, as the merging tokenizers cut text: continuation bytes
/// stand alone, F8..FF take four.
constexpr u32 symbol_length(u8 lead) noexcept { return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

}  // namespace jig
