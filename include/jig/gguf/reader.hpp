#pragma once
// The pull reader: header, then metadata entries, then tensor entries, one call each, straight from the bytes.
//
// It needs no memory, checks everything that one entry can show about itself and never reads outside the bytes.
// `file` (file.hpp) drives it and adds what concerns the whole file.
// Layout (all numbers in the file's byte order): "GGUF", u32 version, u64 tensors, u64 keys;
// per key: string key, u32 type, payload; per tensor: string name, u32 rank, u64 ne[rank], u32 type, u64 offset;
// padding to the alignment; data. A string is a u64 length and bytes; an array is u32 element type, u64 count, payload.
// Source: the GGUF specification (ggml repository, docs/gguf.md).

#include "jig/gguf/tensor_info.hpp"
#include "jig/gguf/value.hpp"

namespace jig::gguf {

/// The first 24 bytes.
struct header {
  u32 version = 3;
  byte_order order = byte_order::little;
  u64 tensor_count = 0;
  u64 key_count = 0;
  static constexpr u64 size = 24;
};

/// Reads the header; the byte order is the one in which the version makes sense.
/// Errors: truncated, bad_magic, unsupported_version, count_too_large.
inline result<header> read_header(std::span<const u8> bytes) noexcept {
  constexpr u8 magic[4] = {'G', 'G', 'U', 'F'};
  for (usize i = 0; i < 4 && i < bytes.size(); ++i)
    if (bytes[i] != magic[i]) return fail(errc::bad_magic).at(i);
  if (bytes.size() < 8) return fail(errc::truncated, "the header").at(bytes.size());
  header h;
  h.version = load<u32>(bytes.data() + 4, byte_order::little);
  if (const u32 swapped = byteswap(h.version); swapped == 2 || swapped == 3) {
    h.version = swapped;
    h.order = byte_order::big;
  }
  if (h.version != 2 && h.version != 3) return fail(errc::unsupported_version).got(h.version).at(4);
  cursor at(bytes, h.order, 8);
  JIG_TRY(h.tensor_count, at.read<u64>("the header"));
  JIG_TRY(h.key_count, at.read<u64>("the header"));
  if (h.tensor_count > limits::tensors || h.tensor_count > at.left() / limits::min_tensor_entry)
    return fail(errc::count_too_large, "tensors").got(h.tensor_count).at(8);
  if (h.key_count > limits::keys || h.key_count > at.left() / limits::min_key_entry)
    return fail(errc::count_too_large, "metadata keys").got(h.key_count).at(16);
  return h;
}

namespace detail {

/// Steps over `count` elements and checks them. Errors: count_too_large, string_too_long, truncated, bad_bool.
inline result<void> skip_elements(cursor& at, std::string_view key, value_type element, u64 count) noexcept {
  const u64 start = at.position();
  if (element == value_type::string) {
    if (count > at.left() / 8) return fail(errc::count_too_large, key).got(count).at(start);
    for (u64 i = 0; i < count; ++i) {
      if (at.left() < 8) return fail(errc::truncated, key).at(at.position());
      const u64 length = load<u64>(at.here(), at.order());
      if (length > at.left() - 8) return fail(errc::string_too_long, key).got(length).at(at.position());
      JIG_CHECK(at.skip(8 + length, key));
    }
    return {};
  }
  const u64 size = size_of(element);
  if (count > at.left() / size) return fail(errc::count_too_large, key).got(count).at(start);
  if (element == value_type::boolean)
    for (u64 i = 0; i < count; ++i)
      if (at.here()[i] > 1) return fail(errc::bad_bool, key).got(at.here()[i]).at(start + i);
  return at.skip(count * size, key);
}

/// Steps over one value that is no array. Errors: truncated, string_too_long, bad_bool.
inline result<void> skip_scalar(cursor& at, std::string_view key, value_type type) noexcept {
  const u64 start = at.position();
  if (type == value_type::string) {
    const auto s = at.read_string(key, at.left());
    return s ? result<void>{} : result<void>{s.error()};
  }
  JIG_CHECK(at.skip(size_of(type), key));
  const u8 first = *(at.here() - size_of(type));
  if (type == value_type::boolean && first > 1) return fail(errc::bad_bool, key).got(first).at(start);
  return {};
}

}  // namespace detail

/// Reads one metadata entry, its payload checked to the last element.
/// Errors: truncated, string_too_long, bad_key, bad_value_type, nested_array, count_too_large, bad_bool; each with the
/// key and the position.
inline result<value> read_value(cursor& at) noexcept {
  const u64 start = at.position();
  const auto name = at.read_string("a metadata key", at.left());
  if (!name) return name.error();
  const std::string_view key = *name;
  if (key.empty() || key.size() > limits::key_bytes || !is_printable(key))
    return fail(errc::bad_key, key).got(key.size()).at(start);
  const u64 type_at = at.position();
  JIG_TRY(u32 type, at.read<u32>(key));
  if (!is_value_type(type)) return fail(errc::bad_value_type, key).got(type).at(type_at);
  const bool array = static_cast<value_type>(type) == value_type::array;
  u64 count = 1;
  if (array) {
    const u64 element_at = at.position();
    JIG_TRY(type, at.read<u32>(key));
    if (!is_value_type(type)) return fail(errc::bad_value_type, key).got(type).at(element_at);
    if (static_cast<value_type>(type) == value_type::array) return fail(errc::nested_array, key).at(element_at);
    JIG_TRY(count, at.read<u64>(key));
  }
  const auto element = static_cast<value_type>(type);
  const u64 payload_at = at.position();
  const u8* payload = at.here();
  JIG_CHECK(array ? detail::skip_elements(at, key, element, count) : detail::skip_scalar(at, key, element));
  const auto size = static_cast<usize>(at.position() - payload_at);
  return value(key, array, element, count, {payload, size}, at.order(), payload_at);
}

}  // namespace jig::gguf
