#pragma once
// Backslash escapes in texts that are typed on a command line: "first\nsecond".

#include <string>
#include <string_view>

#include "jig/core/types.hpp"

namespace jig::host {

namespace detail {
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
}  // namespace detail

/// Replaces \n \r \t \' \" \\ and \xHH (exactly two hexadecimal digits, one byte). Everything else, a backslash at the
/// end included, stays as it is.
inline std::string unescape(std::string_view text) {
  constexpr std::string_view names = "nrt'\"\\", values = "\n\r\t'\"\\";
  std::string out;
  out.reserve(text.size());
  for (usize i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    if (const usize at = next != '\0' ? names.find(next) : names.npos; at != names.npos) {
      out += values[at];
      ++i;
    } else if (next == 'x' && i + 3 < text.size() && detail::hex_digit(text[i + 2]) >= 0 &&
               detail::hex_digit(text[i + 3]) >= 0) {
      out += static_cast<char>(detail::hex_digit(text[i + 2]) * 16 + detail::hex_digit(text[i + 3]));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace jig::host
