#pragma once
// Files that break the rules of the container, one rule each, with the error that must be reported.

#include <string>
#include <vector>

#include "gguf/raw_model.hpp"
#include "jig/core/errc.hpp"

namespace jig::test {

/// A malformed file: its class, and the error's code and name (of the key or tensor at fault).
struct malformed {
  std::string name;
  errc expected;
  std::string fault;
  byte_vector bytes;
};

namespace container {

inline constexpr u64 two_63 = u64{1} << 63, all_ones = ~u64{0};

/// The small model with one more key before the others, or one more tensor after the others.
inline byte_vector with_key(const byte_vector& key) {
  raw_model m = small_model();
  m.keys.insert(m.keys.begin(), key);
  return m.bytes();
}
inline byte_vector with_tensor(const byte_vector& t) {
  raw_model m = small_model();
  m.tensors.push_back(t);
  return m.bytes();
}
/// A file that ends inside its only key.
inline byte_vector ends_with_key(const byte_vector& part) {
  raw_model m;
  m.keys = {part};
  return m.metadata();
}
inline byte_vector cut(byte_vector bytes, usize size) {
  bytes.resize(size);
  return bytes;
}

inline void add_header_cases(std::vector<malformed>& out) {
  const byte_vector whole = small_model().bytes();
  const auto changed = [](auto change) {
    raw_model m = small_model();
    change(m);
    return m.bytes();
  };
  out.push_back({"header-empty", errc::truncated, "the header", {}});
  out.push_back({"header-half-magic", errc::truncated, "the header", cut(whole, 3)});
  out.push_back({"header-wrong-magic", errc::bad_magic, "", changed([](raw_model& m) { m.magic = "GGML"; })});
  out.push_back({"header-cut-in-version", errc::truncated, "the header", cut(whole, 6)});
  out.push_back({"header-cut-in-tensor-count", errc::truncated, "the header", cut(whole, 12)});
  out.push_back({"header-cut-in-key-count", errc::truncated, "the header", cut(whole, 23)});
  for (const u32 v : {0u, 1u, 4u, 0x01000000u, 0xffffffffu})
    out.push_back({"header-version-" + std::to_string(v), errc::unsupported_version, "",
                   changed([&](raw_model& m) { m.version = v; })});
  for (const auto& [label, n] : {std::pair<const char*, u64>{"2-32", 0xffffffffu},
                                 {"2-63", two_63},
                                 {"2-64", all_ones - 1},
                                 {"one-million", 1000000}}) {
    out.push_back({std::string("header-keys-") + label, errc::count_too_large, "metadata keys",
                   changed([&](raw_model& m) { m.key_count = static_cast<i64>(n); })});
    out.push_back({std::string("header-tensors-") + label, errc::count_too_large, "tensors",
                   changed([&](raw_model& m) { m.tensor_count = static_cast<i64>(n); })});
  }
  raw big(gguf::byte_order::big);
  big.text("GGUF").put(u32{3}).put(u64{0}).put(two_63).zeros(64);
  out.push_back({"header-big-endian-keys-2-63", errc::count_too_large, "metadata keys", big.bytes});
}

inline void add_key_cases(std::vector<malformed>& out) {
  const auto add = [&](const char* name, errc e, const char* fault, const byte_vector& key) {
    out.push_back({name, e, fault, with_key(key)});
  };
  add("key-length-past-end", errc::string_too_long, "a metadata key", raw().put(u64{1000000}).text("general").bytes);
  add("key-length-2-64", errc::string_too_long, "a metadata key", raw().put(all_ones).text("general").bytes);
  add("key-empty", errc::bad_key, "", key_u32("", 1));
  add("key-with-newline", errc::bad_key, "a\nb", key_u32("a\nb", 1));
  add("key-with-zero-byte", errc::bad_key, "a?b", key_u32(std::string_view("a\0b", 3), 1));
  add("key-not-ascii", errc::bad_key,
      "gr\xc3\xb6\xc3\x9f"
      "e",
      key_u32("gr\xc3\xb6\xc3\x9f"
              "e",
              1));
  add("key-twice", errc::duplicate_key, "llama.block_count", key_u32("llama.block_count", 7));
  add("key-twice-other-type", errc::duplicate_key, "words", key_bool("words", 0));
  add("value-type-13", errc::bad_value_type, "k", raw().str("k").put(u32{13}).zeros(8).bytes);
  add("value-type-2-32", errc::bad_value_type, "k", raw().str("k").put(0xffffffffu).zeros(8).bytes);
  add("bool-2", errc::bad_bool, "k", key_bool("k", 2));
  add("bool-255", errc::bad_bool, "k", key_bool("k", 255));
  add("string-past-end", errc::string_too_long, "k", raw().str("k").put(t_string).put(u64{1} << 31).bytes);
  add("string-2-64", errc::string_too_long, "k", raw().str("k").put(t_string).put(all_ones).bytes);
  add("chat-template-100-mb", errc::string_too_long, "tokenizer.chat_template",
      raw().str("tokenizer.chat_template").put(t_string).put(u64{100} << 20).text("{% for m in messages %}").bytes);
  add("alignment-0", errc::bad_alignment, "", key_u32("general.alignment", 0));
  add("alignment-3", errc::bad_alignment, "", key_u32("general.alignment", 3));
  add("alignment-4", errc::bad_alignment, "", key_u32("general.alignment", 4));
  add("alignment-2-31", errc::bad_alignment, "", key_u32("general.alignment", 1u << 31));
  add("alignment-not-u32", errc::wrong_key_type, "general.alignment",
      raw().str("general.alignment").put(t_u64).put(u64{32}).bytes);
  add("alignment-a-string", errc::wrong_key_type, "general.alignment", key_str("general.alignment", "32"));
  const auto split = [](u16 no, i32 tensors) {
    raw_model m = small_model();
    m.keys.push_back(key_u16("split.no", no));
    m.keys.push_back(key_u16("split.count", 3));
    m.keys.push_back(key_i32("split.tensors.count", tensors));
    return m.bytes();
  };
  raw_model no_number = small_model();
  no_number.keys.push_back(key_u16("split.count", 3));
  no_number.keys.push_back(key_str("split.no", "one"));
  out.push_back({"split-no-a-string", errc::wrong_key_type, "split.no", no_number.bytes()});
  out.push_back({"split-no-past-count", errc::bad_split, "split.no", split(3, 6)});
  out.push_back({"split-negative-tensors", errc::bad_value, "split.tensors.count", split(0, -6)});
  out.push_back({"split-part-alone-00001-of-00003", errc::bad_split, "", split(0, 6)});
}

inline void add_array_cases(std::vector<malformed>& out) {
  const auto array = [](u32 element, u64 count) { return raw().str("k").put(t_array).put(element).put(count); };
  const auto add = [&](const char* name, errc e, const byte_vector& key) {
    out.push_back({name, e, "k", with_key(key)});
  };
  add("array-nested", errc::nested_array, array(t_array, 1).put(t_u32).put(u64{1}).put(u32{1}).bytes);
  add("array-nested-deep", errc::nested_array, [&] {
    raw r = array(t_array, 1);
    for (int i = 0; i < 64; ++i) r.put(t_array).put(u64{1});
    return r.bytes;
  }());
  add("array-type-13", errc::bad_value_type, array(13, 1).zeros(8).bytes);
  add("array-bool-2", errc::bad_bool, array(t_bool, 3).text(std::string_view("\0\1\2", 3)).bytes);
  add("array-count-2-32", errc::count_too_large, array(t_u32, 0xffffffffu).zeros(16).bytes);
  add("array-count-2-63", errc::count_too_large, array(t_u8, two_63).zeros(16).bytes);
  add("array-size-wraps-to-0", errc::count_too_large, array(t_f64, u64{1} << 61).zeros(16).bytes);
  add("array-size-wraps-to-16", errc::count_too_large, array(t_u32, (u64{1} << 62) + 4).zeros(16).bytes);
  add("array-one-too-many", errc::count_too_large, array(t_u8, 4096).zeros(16).bytes);
  add("array-strings-2-32", errc::count_too_large, array(t_string, 0xffffffffu).zeros(16).bytes);
  add("array-strings-2-63", errc::count_too_large, array(t_string, two_63).zeros(16).bytes);
  add("array-string-past-end", errc::string_too_long, array(t_string, 2).str("fine").put(u64{1} << 40).bytes);
  add("array-string-2-64", errc::string_too_long, array(t_string, 1).put(all_ones - 7).bytes);
}

inline void add_tensor_cases(std::vector<malformed>& out) {
  const auto add = [&](const char* name, errc e, const std::string& fault, const byte_vector& t) {
    out.push_back({name, e, fault, with_tensor(t)});
  };
  add("tensor-name-past-end", errc::string_too_long, "a tensor's name", raw().put(u64{1} << 20).zeros(64).bytes);
  add("tensor-name-2-64", errc::string_too_long, "a tensor's name", raw().put(all_ones).zeros(64).bytes);
  add("tensor-name-empty", errc::bad_tensor_name, "", tensor("", {8}, 0, 0));
  add("tensor-name-65-bytes", errc::bad_tensor_name, std::string(65, 'n'), tensor(std::string(65, 'n'), {8}, 0, 0));
  add("tensor-name-with-newline", errc::bad_tensor_name, "c\n", tensor("c\n", {8}, 0, 0));
  add("tensor-rank-0", errc::bad_rank, "c", tensor("c", {}, 0, 0));
  add("tensor-rank-5", errc::bad_rank, "c", tensor("c", {1, 1, 1, 1, 1}, 0, 0));
  add("tensor-rank-2-32", errc::bad_rank, "c", raw().str("c").put(0xffffffffu).zeros(64).bytes);
  add("tensor-dimension-0", errc::bad_dimension, "c", tensor("c", {8, 0}, 0, 0));
  add("tensor-dimension-2-63", errc::bad_dimension, "c", tensor("c", {two_63}, 0, 0));
  add("tensor-dimension-2-64", errc::bad_dimension, "c", tensor("c", {32, all_ones}, 0, 0));
  add("tensor-product-wraps-to-0", errc::bad_dimension, "c", tensor("c", {u64{1} << 32, u64{1} << 32}, 0, 0));
  add("tensor-product-wraps-to-32", errc::bad_dimension, "c", tensor("c", {32, (u64{1} << 59) + 1}, 0, 0));
  add("tensor-product-wraps-in-4", errc::bad_dimension, "c",
      tensor("c", {u64{1} << 16, u64{1} << 16, u64{1} << 16, u64{1} << 16}, 0, 0));
  add("tensor-bytes-wrap", errc::bad_dimension, "c", tensor("c", {u64{1} << 61}, 28, 0));
  add("tensor-type-43", errc::unknown_tensor_type, "c", tensor("c", {32}, 43, 0));
  for (const u32 id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u})
    add(("tensor-type-retired-" + std::to_string(id)).c_str(), errc::unknown_tensor_type, "c",
        tensor("c", {32}, id, 0));
  add("tensor-type-2-32", errc::unknown_tensor_type, "c", tensor("c", {32}, 0xffffffffu, 0));
  add("tensor-half-a-block", errc::partial_block, "c", tensor("c", {128, 2}, 12, 0));
  add("tensor-row-no-multiple", errc::partial_block, "c", tensor("c", {33}, 8, 0));
  add("tensor-offset-unaligned", errc::misaligned_offset, "c", tensor("c", {8}, 0, 4));
  add("tensor-offset-past-end", errc::offset_out_of_file, "c", tensor("c", {8}, 0, 4096));
  add("tensor-offset-2-63", errc::offset_out_of_file, "c", tensor("c", {8}, 0, two_63));
  add("tensor-end-wraps", errc::offset_out_of_file, "c", tensor("c", {64}, 0, all_ones - 31));
  add("tensor-larger-than-file", errc::offset_out_of_file, "c", tensor("c", {4096}, 0, 96));
  add("tensor-same-offset", errc::overlapping_tensors, "c", tensor("c", {8}, 0, 64));
  add("tensor-overlaps-from-inside", errc::overlapping_tensors, "c", tensor("c", {8}, 0, 32));

  raw_model m = small_model();
  m.tensors.push_back(tensor("a.weight", {8}, 0, 128));
  m.data_bytes = 160;
  out.push_back({"tensor-twice", errc::duplicate_tensor, "a.weight", m.bytes()});
  m = small_model();
  m.tensors = {tensor("late", {8}, 0, 64), tensor("early", {24}, 0, 0)};
  out.push_back({"tensor-overlaps-out-of-order", errc::overlapping_tensors, "late", m.bytes()});
  m = small_model();
  m.data_bytes = 97;  // b.weight ends at 98
  out.push_back({"tensor-last-byte-missing", errc::offset_out_of_file, "b.weight", m.bytes()});
  m.data_bytes = 0;
  out.push_back({"tensor-no-data", errc::offset_out_of_file, "a.weight", m.metadata()});
}

/// Truncated inside every field of a key and of a tensor.
inline void add_truncated_cases(std::vector<malformed>& out) {
  const auto add = [&](const char* name, errc e, const char* fault, const byte_vector& b) {
    out.push_back({name, e, fault, b});
  };
  const auto header_says = [](raw_model m, u64 keys, u64 tensors) {
    m.key_count = static_cast<i64>(keys);
    m.tensor_count = static_cast<i64>(tensors);
    return m.metadata();
  };
  raw_model two;
  two.keys = {key_u32("first.key", 1), key_str("second", "text to make room")};
  add("cut-in-key-length", errc::truncated, "a metadata key", raw().append(header_says(two, 3, 0)).put(u32{5}).bytes);
  add("cut-in-key-text", errc::string_too_long, "a metadata key",
      ends_with_key(raw().put(u64{20}).text("general.arch").bytes));
  add("cut-in-value-type", errc::truncated, "k.word", ends_with_key(raw().str("k.word").put(u16{4}).bytes));
  add("cut-in-u32", errc::truncated, "k", ends_with_key(raw().str("k").put(t_u32).put(u16{4}).bytes));
  add("cut-in-u64", errc::truncated, "k", ends_with_key(raw().str("k").put(t_u64).put(u32{4}).bytes));
  add("cut-in-string-length", errc::truncated, "k", ends_with_key(raw().str("k").put(t_string).put(u32{4}).bytes));
  add("cut-in-string-text", errc::string_too_long, "k",
      ends_with_key(raw().str("k").put(t_string).put(u64{4}).text("abc").bytes));
  add("cut-in-array-type", errc::truncated, "k", ends_with_key(raw().str("k").put(t_array).put(u16{4}).bytes));
  add("cut-in-array-count", errc::truncated, "k",
      ends_with_key(raw().str("k").put(t_array).put(t_u32).put(u32{4}).bytes));
  add("cut-in-array-elements", errc::count_too_large, "k",
      ends_with_key(raw().str("k").put(t_array).put(t_u32).put(u64{4}).zeros(15).bytes));
  add("cut-in-array-string-length", errc::truncated, "k",
      ends_with_key(raw().str("k").put(t_array).put(t_string).put(u64{2}).str("long enough").put(u32{4}).bytes));
  add("cut-in-array-string-text", errc::string_too_long, "k",
      ends_with_key(raw().str("k").put(t_array).put(t_string).put(u64{2}).str("ab").put(u64{4}).text("xyz").bytes));
  add("cut-before-tensors", errc::truncated, "a tensor's name", header_says(small_model(), 6, 3));
  const byte_vector whole = tensor("some.weight", {8, 2}, 0, 0);  // 8 + 11 + 4 + 16 + 4 + 8 = 51 bytes
  const struct {
    const char* name;
    usize size;
    errc e;
    const char* fault;
  } cuts[] = {{"cut-in-tensor-name", 14, errc::string_too_long, "a tensor's name"},
              {"cut-in-tensor-rank", 21, errc::truncated, "some.weight"},
              {"cut-in-tensor-dimension", 35, errc::truncated, "some.weight"},
              {"cut-in-tensor-type", 41, errc::truncated, "some.weight"},
              {"cut-in-tensor-offset", 47, errc::truncated, "some.weight"}};
  for (const auto& c : cuts) {
    raw_model m = small_model();
    m.tensors = {tensor("a.weight", {8, 2}, 0, 0), cut(whole, c.size)};
    out.push_back({c.name, c.e, c.fault, m.metadata()});
  }
}

}  // namespace container

/// All malformed containers.
inline std::vector<malformed> malformed_containers() {
  std::vector<malformed> out;
  container::add_header_cases(out);
  container::add_key_cases(out);
  container::add_array_cases(out);
  container::add_tensor_cases(out);
  container::add_truncated_cases(out);
  return out;
}

}  // namespace jig::test
