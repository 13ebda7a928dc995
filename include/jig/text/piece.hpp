#pragma once
// The text that a token stands for.

#include "jig/text/byte_alphabet.hpp"
#include "jig/text/utf8.hpp"
#include "jig/text/vocab.hpp"

namespace jig {

namespace detail {

constexpr i32 hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The byte of a text `<0xHH>`, or -1.
constexpr i32 byte_of_text(std::string_view text) noexcept {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const i32 high = hex_digit(text[3]), low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

template <class Put>
constexpr void put_all(std::string_view text, Put&& put) noexcept {
  for (char c : text) put(c);
}

/// U+2581 becomes a space.
template <class Put>
constexpr void put_unescaped(std::string_view text, Put&& put) noexcept {
  for (usize i = 0; i < text.size();) {
    const bool space = text.substr(i).starts_with("\xe2\x96\x81");
    put(space ? ' ' : text[i]);
    i += space ? 3 : 1;
  }
}

/// Byte alphabet back to bytes. A code point outside of it gives [UNK_BYTE_0x<its UTF-8 in hex><the whole text>].
template <class Put>
constexpr void put_from_alphabet(std::string_view text, Put&& put) noexcept {
  for (usize i = 0; i < text.size();) {
    const decoded d = decode_utf8(text, i);
    i += d.bytes;
    if (const i32 byte = code_to_byte(d.code); byte >= 0) {
      put(static_cast<char>(byte));
      continue;
    }
    put_all("[UNK_BYTE_0x", put);
    char bytes[4];
    const u32 n = encode_utf8(d.code, bytes);
    for (u32 k = 0; k < n; ++k)
      for (u32 shift : {4u, 0u}) put("0123456789abcdef"[static_cast<u8>(bytes[k]) >> shift & 15]);
    put_all(text, put);
    put(']');
  }
}

}  // namespace detail

/// Calls put(char) for each byte of the token's text, as it stands within a longer text. Control and unknown tokens
/// have one only if show_special. Ids outside the vocabulary have none.
template <class Put>
constexpr void put_piece(const vocab& v, i32 id, bool show_special, Put&& put) noexcept {
  if (!v.contains(id)) return;
  const token_attributes a = v.attributes_of(id);
  const std::string_view text = v.text_of(id);
  if (a.is_hidden()) {
    if (show_special) detail::put_all(text, put);
    return;
  }
  switch (a.type()) {
    case token_type::user_defined: return detail::put_all(text, put);
    case token_type::byte:
      if (const i32 byte = detail::byte_of_text(text); byte >= 0) put(static_cast<char>(byte));
      return;
    case token_type::normal:
      if (v.kind == nullptr || !v.kind->uses_merges || v.flags.escape_whitespaces) detail::put_unescaped(text, put);
      else detail::put_from_alphabet(text, put);
      return;
    default: return;
  }
}

/// Writes the token's text to `out` and returns its length in bytes. It need not be whole characters.
/// Errors: bad_token, buffer_too_small (got: bytes needed).
inline result<usize> piece(const vocab& v, i32 id, bool show_special, std::span<char> out) noexcept {
  if (!v.contains(id)) return fail(errc::bad_token).got(static_cast<u64>(static_cast<i64>(id)));
  usize n = 0;
  put_piece(v, id, show_special, [&](char c) {
    if (n < out.size()) out[n] = c;
    ++n;
  });
  if (n > out.size()) return fail(errc::buffer_too_small, "piece").got(n);
  return n;
}

}  // namespace jig
