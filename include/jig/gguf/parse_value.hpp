#pragma once
// Hosted: metadata values from text, for command lines: a type's name and its words.
//
//   parse_value("llama.context_length", "u32", {"4096"});  parse_value("tags", "string[]", {"a", "b"});

#include <charconv>
#include <span>
#include <string>

#include "jig/gguf/writer.hpp"

namespace jig::gguf {

namespace detail {

/// Appends one number. Errors: bad_value if the word is not entirely a number of that type.
template <class T>
result<void> parse_number(std::string_view word, std::string_view key, byte_builder& out) {
  T v{};
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (failed != std::errc{} || end != word.data() + word.size()) return fail(errc::bad_value, key);
  out.put_number(v);
  return {};
}

inline result<void> parse_word(value_type type, std::string_view word, std::string_view key, byte_builder& out) {
  switch (type) {
    case value_type::u8: return parse_number<u8>(word, key, out);
    case value_type::i8: return parse_number<i8>(word, key, out);
    case value_type::u16: return parse_number<u16>(word, key, out);
    case value_type::i16: return parse_number<i16>(word, key, out);
    case value_type::u32: return parse_number<u32>(word, key, out);
    case value_type::i32: return parse_number<i32>(word, key, out);
    case value_type::u64: return parse_number<u64>(word, key, out);
    case value_type::i64: return parse_number<i64>(word, key, out);
    case value_type::f32: return parse_number<f32>(word, key, out);
    case value_type::f64: return parse_number<f64>(word, key, out);
    case value_type::boolean:
      if (word != "true" && word != "false") return fail(errc::bad_value, key);
      out.put_number(word == "true");
      return {};
    case value_type::string: out.put_string(word); return {};
    case value_type::array: break;
  }
  return fail(errc::nested_array, key);
}

}  // namespace detail

/// A metadata entry from text. `type` is a value type's name, followed by "[]" for an array; a scalar takes one word.
/// Errors: bad_key, bad_value_type (unknown name), nested_array, bad_value (a word is not of the type),
/// bad_argument (another number of words than one for a scalar).
inline result<owned_value> parse_value(std::string_view key, std::string_view type,
                                       std::span<const std::string> words) {
  if (key.empty() || key.size() > limits::key_bytes || !is_printable(key)) return fail(errc::bad_key, key);
  const bool array = type.ends_with("[]");
  const std::string_view element_name = array ? type.substr(0, type.size() - 2) : type;
  u32 element = 0;
  while (is_value_type(element) && name(static_cast<value_type>(element)) != element_name) ++element;
  if (!is_value_type(element)) return fail(errc::bad_value_type, type);
  if (!array && words.size() != 1)
    return fail(errc::bad_argument, "number of values for a type without []").got(words.size());
  detail::byte_builder payload(byte_order::little);
  for (const std::string& word : words)
    JIG_CHECK(detail::parse_word(static_cast<value_type>(element), word, key, payload));
  return owned_value{std::string(key), array, static_cast<value_type>(element), words.size(), std::move(payload.bytes)};
}

}  // namespace jig::gguf
