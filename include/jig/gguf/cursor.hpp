#pragma once
// A bounds-checked position in the bytes of a GGUF file: every read either fits or is a named error.

#include <span>
#include <string_view>

#include "jig/core/endian.hpp"
#include "jig/core/result.hpp"
#include "jig/gguf/value_type.hpp"

namespace jig::gguf {

/// Reads an unsigned integer of the given byte order from any address.
template <class U>
constexpr U load(const u8* p, byte_order order) noexcept {
  const U v = load_le<U>(p);
  return order == byte_order::little ? v : byteswap(v);
}

/// Bytes as text; valid as long as the bytes are.
inline std::string_view as_text(const u8* p, usize n) noexcept { return {reinterpret_cast<const char*>(p), n}; }

/// True if every byte is printable ASCII (space included): what keys and tensor names may hold.
constexpr bool is_printable(std::string_view s) noexcept {
  for (char c : s)
    if (static_cast<u8>(c) < 0x20 || static_cast<u8>(c) > 0x7e) return false;
  return true;
}

/// A position in a file's bytes. Errors carry the position; the caller names the key or tensor.
class cursor {
 public:
  constexpr cursor(std::span<const u8> bytes, byte_order order, u64 position = 0) noexcept
      : bytes_(bytes), position_(position), order_(order) {}

  constexpr u64 position() const noexcept { return position_; }
  constexpr u64 left() const noexcept { return bytes_.size() - position_; }
  constexpr const u8* here() const noexcept { return bytes_.data() + position_; }
  constexpr byte_order order() const noexcept { return order_; }

  /// The next unsigned integer. Errors: truncated.
  template <class U>
  constexpr result<U> read(std::string_view name = {}) noexcept {
    if (left() < sizeof(U)) return fail(errc::truncated, name).at(position_);
    const U v = load<U>(here(), order_);
    position_ += sizeof(U);
    return v;
  }

  /// Steps over n bytes. Errors: truncated.
  constexpr result<void> skip(u64 n, std::string_view name = {}) noexcept {
    if (left() < n) return fail(errc::truncated, name).got(n).at(position_);
    position_ += n;
    return {};
  }

  /// The next string: a u64 length and that many bytes. Errors: truncated, string_too_long.
  result<std::string_view> read_string(std::string_view name, u64 limit) noexcept {
    const u64 start = position_;
    JIG_TRY(const u64 length, read<u64>(name));
    if (length > left() || length > limit) return fail(errc::string_too_long, name).got(length).at(start);
    const std::string_view s = as_text(here(), static_cast<usize>(length));
    position_ += length;
    return s;
  }

 private:
  std::span<const u8> bytes_;
  u64 position_;  // never beyond the end
  byte_order order_;
};

}  // namespace jig::gguf
