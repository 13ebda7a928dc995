#pragma once
// Turns an `error` into one line of text without heap or printf:
//   "a metadata value is out of range: llama.block_count (got 0, at byte 96)"

#include <span>
#include <string_view>

#include "jig/core/result.hpp"

namespace jig {

/// Appends to a fixed buffer and silently stops at its end.
class text_writer {
 public:
  constexpr explicit text_writer(std::span<char> buffer) noexcept : buffer_(buffer) {}
  constexpr text_writer& put(char c) noexcept {
    if (size_ < buffer_.size()) buffer_[size_++] = c;
    return *this;
  }
  constexpr text_writer& put(std::string_view s) noexcept {
    for (char c : s) put(c);
    return *this;
  }
  constexpr text_writer& put(u64 v) noexcept {
    char digits[20];
    usize n = 0;
    do { digits[n++] = static_cast<char>('0' + v % 10); v /= 10; } while (v != 0);
    while (n > 0) put(digits[--n]);
    return *this;
  }
  constexpr std::string_view view() const noexcept { return {buffer_.data(), size_}; }

 private:
  std::span<char> buffer_;
  usize size_ = 0;
};

/// The error as one line in `buffer` (256 bytes always suffice); returns the written part.
constexpr std::string_view message(const error& e, std::span<char> buffer) noexcept {
  text_writer w(buffer);
  w.put(text(e.code));
  if (!e.name().empty()) w.put(": ").put(e.name());
  const bool has_value = e.value != error::unknown, has_position = e.position != error::unknown;
  if (has_value || has_position) w.put(" (");
  if (has_value) w.put("got ").put(e.value);
  if (has_value && has_position) w.put(", ");
  if (has_position) w.put("at byte ").put(e.position);
  if (has_value || has_position) w.put(')');
  return w.view();
}

}  // namespace jig
