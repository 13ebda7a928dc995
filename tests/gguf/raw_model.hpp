#pragma once
// Builds GGUF bytes by hand, right or wrong: every field can be given any value. For tests only.

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "jig/gguf/cursor.hpp"

namespace jig::test {

using byte_vector = std::vector<u8>;

/// Appends fields to bytes in either byte order.
class raw {
 public:
  explicit raw(gguf::byte_order order = gguf::byte_order::little) : order_(order) {}

  template <class U>
  raw& put(U v) {
    if (order_ == gguf::byte_order::big) v = byteswap(v);
    u8 piece[sizeof(U)];
    store_le(piece, v);
    bytes.insert(bytes.end(), piece, piece + sizeof(U));
    return *this;
  }
  raw& text(std::string_view s) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    return *this;
  }
  raw& str(std::string_view s) { return put(u64{s.size()}).text(s); }
  raw& zeros(usize n) {
    bytes.insert(bytes.end(), n, 0);
    return *this;
  }
  raw& append(const byte_vector& other) {
    bytes.insert(bytes.end(), other.begin(), other.end());
    return *this;
  }
  byte_vector bytes;

 private:
  gguf::byte_order order_;
};

inline constexpr u32 t_u8 = 0, t_i32 = 5, t_u16 = 2, t_u32 = 4, t_f32 = 6, t_bool = 7, t_string = 8, t_array = 9,
                     t_u64 = 10, t_f64 = 12;

/// Metadata entries.
inline byte_vector key_u32(std::string_view key, u32 v) { return raw().str(key).put(t_u32).put(v).bytes; }
inline byte_vector key_i32(std::string_view key, i32 v) {
  return raw().str(key).put(t_i32).put(static_cast<u32>(v)).bytes;
}
inline byte_vector key_u16(std::string_view key, u16 v) { return raw().str(key).put(t_u16).put(v).bytes; }
inline byte_vector key_f32(std::string_view key, f32 v) {
  return raw().str(key).put(t_f32).put(std::bit_cast<u32>(v)).bytes;
}
inline byte_vector key_bool(std::string_view key, u8 v) { return raw().str(key).put(t_bool).put(v).bytes; }
inline byte_vector key_str(std::string_view key, std::string_view v) {
  return raw().str(key).put(t_string).str(v).bytes;
}
inline byte_vector key_strs(std::string_view key, const std::vector<std::string>& v) {
  raw r;
  r.str(key).put(t_array).put(t_string).put(u64{v.size()});
  for (const std::string& s : v) r.str(s);
  return r.bytes;
}
inline byte_vector key_i32s(std::string_view key, const std::vector<i32>& v) {
  raw r;
  r.str(key).put(t_array).put(t_i32).put(u64{v.size()});
  for (const i32 n : v) r.put(static_cast<u32>(n));
  return r.bytes;
}

/// A tensor entry.
inline byte_vector tensor(std::string_view name, const std::vector<u64>& ne, u32 type, u64 offset) {
  raw r;
  r.str(name).put(static_cast<u32>(ne.size()));
  for (const u64 n : ne) r.put(n);
  return r.put(type).put(offset).bytes;
}

/// A whole file in pieces; counts follow the pieces unless they are set.
struct raw_model {
  std::string magic = "GGUF";
  u32 version = 3;
  std::vector<byte_vector> keys, tensors;
  i64 key_count = -1, tensor_count = -1;
  usize alignment = 32;
  usize data_bytes = 0;

  byte_vector metadata() const {
    raw r;
    r.text(magic).put(version);
    r.put(tensor_count == -1 ? u64{tensors.size()} : static_cast<u64>(tensor_count));
    r.put(key_count == -1 ? u64{keys.size()} : static_cast<u64>(key_count));
    for (const byte_vector& k : keys) r.append(k);
    for (const byte_vector& t : tensors) r.append(t);
    return r.bytes;
  }
  byte_vector bytes() const {
    byte_vector out = metadata();
    out.resize((out.size() + alignment - 1) / alignment * alignment + data_bytes);
    return out;
  }
};

/// A small valid file that names every kind of value: two tensors of 64 and 34 (padded to 64) bytes.
inline raw_model small_model() {
  raw_model m;
  m.keys = {key_str("general.architecture", "llama"),
            key_u32("llama.block_count", 7),
            key_f32("eps", 0.5f),
            key_bool("flag", 1),
            key_strs("words", {"alpha", "", "gamma"}),
            key_i32s("numbers", {-1, 2, 3})};
  m.tensors = {tensor("a.weight", {8, 2}, 0, 0), tensor("b.weight", {32}, 8, 64)};
  m.data_bytes = 128;
  return m;
}

}  // namespace jig::test
