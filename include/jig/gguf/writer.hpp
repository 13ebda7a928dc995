#pragma once
// Hosted: builds and edits GGUF files. Keys lie in vectors; tensor data stays where it is and is streamed.
//
//   gguf::writer w;                                   // v3, little-endian; or writer::from(file) to edit a file
//   w.set("general.architecture", "llama");
//   w.add_tensor("token_embd.weight", {64, 512}, 0, bytes);
//   w.write(sink);                                    // sink: result<void>(std::span<const u8>)
//
// A writer made from a file and not changed writes that file byte for byte: order of keys, value types, offsets,
// padding, gaps and trailing bytes. Changing keys moves the data section as a whole.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jig/gguf/data_order.hpp"
#include "jig/gguf/file.hpp"

namespace jig::gguf {

/// A metadata entry that owns its bytes.
struct owned_value {
  std::string key;
  bool array = false;
  value_type element = value_type::u8;
  u64 count = 1;
  std::vector<u8> payload;  ///< little-endian, laid out as in a file
};

/// A copy of a file's entry.
owned_value copy(const value& v);

namespace detail {

/// Which value_type stands for a C++ type.
template <class T>
constexpr value_type type_for() noexcept {
  if constexpr (std::is_same_v<T, bool>) return value_type::boolean;
  else if constexpr (std::is_same_v<T, f32>) return value_type::f32;
  else if constexpr (std::is_same_v<T, f64>) return value_type::f64;
  else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? value_type::i8 : value_type::u8;
  else if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? value_type::i16 : value_type::u16;
  else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? value_type::i32 : value_type::u32;
  else return std::is_signed_v<T> ? value_type::i64 : value_type::u64;
}

/// Appends numbers in a chosen byte order.
class byte_builder {
 public:
  explicit byte_builder(byte_order order) noexcept : order_(order) {}
  template <class U>
  void put(U v) {
    if (order_ == byte_order::big) v = byteswap(v);
    u8 raw[sizeof(U)];
    store_le(raw, v);
    bytes.insert(bytes.end(), raw, raw + sizeof(U));
  }
  void put_string(std::string_view s) {
    put(u64{s.size()});
    bytes.insert(bytes.end(), s.begin(), s.end());
  }
  template <class T>
  void put_number(T v) {
    if constexpr (std::is_same_v<T, bool>) bytes.push_back(v ? 1 : 0);
    else if constexpr (std::is_same_v<T, f32>) put(std::bit_cast<u32>(v));
    else if constexpr (std::is_same_v<T, f64>) put(std::bit_cast<u64>(v));
    else put(static_cast<std::make_unsigned_t<T>>(v));
  }
  std::vector<u8> bytes;

 private:
  byte_order order_;
};

/// Turns a checked payload between the byte orders; the same call in both directions needs the current order.
inline void swap_payload(std::span<u8> p, value_type element, u64 count, byte_order current) noexcept {
  if (element == value_type::string) {
    for (u64 i = 0, at = 0; i < count; ++i) {
      const u64 length = load<u64>(p.data() + at, current);
      store_le(p.data() + at, byteswap(load<u64>(p.data() + at, byte_order::little)));
      at += 8 + length;
    }
    return;
  }
  const usize width = size_of(element);
  for (usize at = 0; at < p.size(); at += width)
    for (usize k = 0; k < width / 2; ++k) std::swap(p[at + k], p[at + width - 1 - k]);
}

}  // namespace detail

/// Where a written file's bytes go: called with consecutive pieces; its error ends the writing.
using byte_sink = std::function<result<void>(std::span<const u8>)>;

/// Data that are made while they are written: hands them to the sink, in whole blocks, little-endian.
using byte_source = std::function<result<void>(const byte_sink&)>;

/// A GGUF file under construction. Tensor data is borrowed and must live until write() is done.
class writer {
 public:
  /// Everything of `f`: keys, tensors, layout. The bytes of `f` must outlive the writer.
  static writer from(const file& f);

  u32 version = 3;                        ///< 2 or 3
  byte_order order = byte_order::little;  ///< of the file to be written; data of the other order is turned

  /// Sets a key to a number, bool or string; an existing key keeps its place. Errors of a bad key come from write().
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view key, T v) {
    detail::byte_builder b(byte_order::little);
    b.put_number(v);
    set(owned_value{std::string(key), false, detail::type_for<T>(), 1, std::move(b.bytes)});
  }
  void set(std::string_view key, std::string_view v) {
    detail::byte_builder b(byte_order::little);
    b.put_string(v);
    set(owned_value{std::string(key), false, value_type::string, 1, std::move(b.bytes)});
  }
  void set(std::string_view key, const char* v) { set(key, std::string_view(v)); }
  /// Sets a key to an array of numbers, bools or strings (elements convertible to std::string_view).
  template <class T>
  void set_array(std::string_view key, std::span<const T> elements) {
    detail::byte_builder b(byte_order::little);
    auto element = value_type::string;
    if constexpr (std::is_arithmetic_v<T>) {
      element = detail::type_for<T>();
      for (const T v : elements) b.put_number(v);
    } else {
      for (const T& s : elements) b.put_string(s);
    }
    set(owned_value{std::string(key), true, element, elements.size(), std::move(b.bytes)});
  }
  void set(owned_value v);
  /// Removes a key; false if there is none.
  bool remove(std::string_view key);
  const std::vector<owned_value>& keys() const noexcept { return keys_; }

  /// Appends a tensor whose data is in byte order `data_order`. Errors: bad_tensor_name, duplicate_tensor, bad_rank,
  /// bad_dimension, unknown_tensor_type, partial_block, wrong_shape (the data's size is another).
  result<void> add_tensor(std::string_view name, std::span<const u64> ne, u32 type, std::span<const u8> data,
                          byte_order data_order = byte_order::little);
  result<void> add_tensor(std::string_view name, std::initializer_list<u64> ne, u32 type, std::span<const u8> data) {
    return add_tensor(name, std::span<const u64>(ne.begin(), ne.size()), type, data);
  }
  /// Appends a tensor of another file.
  result<void> add_tensor(const tensor_info& t) {
    return add_tensor(t.name, std::span<const u64>(t.ne, t.n_dims), t.type, t.data, t.order);
  }
  /// Appends a tensor whose data come from `make` during write(). Errors: as above; wrong_shape from write() if it
  /// makes more or fewer bytes.
  result<void> add_tensor(std::string_view name, std::span<const u64> ne, u32 type, byte_source make);
  usize tensor_count() const noexcept { return tensors_.size(); }

  /// Writes the file piece by piece. Errors: bad_key, unsupported_version, wrong_key_type and bad_alignment (of
  /// general.alignment), and the sink's.
  result<void> write(const byte_sink& sink) const;
  /// The whole file in memory.
  result<std::vector<u8>> bytes() const;

 private:
  struct tensor {
    std::string name;
    u32 n_dims = 0, type = 0;
    u64 ne[4] = {1, 1, 1, 1};
    std::span<const u8> data;
    byte_source make = {};  // or this
    u64 bytes = 0;
    byte_order data_order = byte_order::little;
    u64 offset = 0;       // where it lies in section_, if it does
    bool placed = false;  // lies in section_
  };

  result<tensor*> add_entry(std::string_view name, std::span<const u64> ne, u32 type);
  result<u32> alignment() const;
  std::vector<u64> layout(u32 alignment, bool keep_section) const;
  bool section_fits(u32 alignment) const noexcept;
  std::vector<u8> metadata(std::span<const u64> offsets) const;
  result<void> write_padding(const byte_sink& sink, u64 metadata_bytes, u32 alignment) const;
  result<void> write_data(const byte_sink& sink, const tensor& t) const;

  std::vector<owned_value> keys_;
  std::vector<tensor> tensors_;
  std::unordered_map<std::string, usize> key_numbers_, tensor_numbers_;  // name -> place in keys_, tensors_
  // From a file: its data section and the padding before it, to be repeated as they are.
  std::span<const u8> section_, padding_;
  bool ends_in_padding_ = false;
  byte_order section_order_ = byte_order::little;
};

}  // namespace jig::gguf

#include "jig/gguf/detail/writer.hpp"
