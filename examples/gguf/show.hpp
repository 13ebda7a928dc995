#pragma once
// What jig-gguf's `show` prints: header, keys and tensors as a table for people or as JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "jig/host/model_file.hpp"

namespace jig::gguf_tool {

using json = nlohmann::ordered_json;

/// What to show, and how much of it.
struct show_options {
  bool keys = true, tensors = true;
  bool full = false;  ///< long strings and arrays to the end
};

inline constexpr usize short_text = 60, short_array = 6;

/// A string in quotes, control characters escaped, cut unless `full`.
inline std::string quoted(std::string_view s, bool full) {
  const bool cut = !full && s.size() > short_text;
  if (cut) {
    s = s.substr(0, short_text);
    while (!s.empty() && (static_cast<u8>(s.back()) & 0xc0) == 0x80) s.remove_suffix(1);  // not inside a character
    if (!s.empty() && static_cast<u8>(s.back()) >= 0xc0) s.remove_suffix(1);
  }
  std::string out = "\"";
  for (const char c : s) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '"' || c == '\\') out += {'\\', c};
    else if (static_cast<u8>(c) < 0x20 || c == 0x7f) out += fmt::format("\\x{:02x}", static_cast<u8>(c));
    else out += c;
  }
  return out + (cut ? "\"..." : "\"");
}

/// Calls f with element i of an array, or with the scalar (i unused), as a number or bool of the file's type.
template <class F>
void visit_number(const gguf::value& v, u64 i, F f) {
  const auto get = [&]<class T>(T) {
    const auto r = v.is_array() ? v.element<T>(i) : v.as<T>();
    if (r) f(*r);
  };
  const gguf::value_type t = v.element_type();
  if (t == gguf::value_type::boolean) get(false);
  else if (t == gguf::value_type::f32) get(f32{});
  else if (gguf::is_float(t)) get(f64{});
  else if (gguf::is_signed(t)) get(i64{});
  else get(u64{});
}

/// Calls f with each of the first `most` elements (one for a scalar): string_view, bool or a number.
template <class F>
void visit_elements(const gguf::value& v, u64 most, F f) {
  if (v.element_type() != gguf::value_type::string) {
    for (u64 i = 0; i < v.count() && i < most; ++i) visit_number(v, i, f);
  } else if (const auto strings = v.strings()) {
    for (const std::string_view s : *strings) {
      if (most-- == 0) return;
      f(s);
    }
  } else if (const auto s = v.as<std::string_view>()) {
    f(*s);
  }
}

inline std::string type_text(const gguf::value& v) {
  const std::string_view element = name(v.element_type());
  return v.is_array() ? fmt::format("{}[{}]", element, v.count()) : std::string(element);
}

inline std::string value_text(const gguf::value& v, bool full) {
  const u64 most = full ? v.count() : short_array;
  std::string out;
  visit_elements(v, most, [&](auto x) {
    if (!out.empty()) out += ", ";
    if constexpr (std::is_same_v<decltype(x), std::string_view>) out += quoted(x, full);
    else out += fmt::format("{}", x);
  });
  if (v.count() > most) out += ", ...";
  return v.is_array() ? "[" + out + "]" : out;
}

inline std::string shape_text(const gguf::tensor_info& t) {
  std::string out;
  for (u32 d = 0; d < t.n_dims; ++d) out += fmt::format("{}{}", d == 0 ? "" : " x ", t.ne[d]);
  return out;
}

inline std::string show_text(const host::model_file& m, const show_options& o) {
  std::string out;
  const auto print = [&](fmt::string_view format, const auto&... args) {
    out += fmt::vformat(format, fmt::make_format_args(args...));
  };
  for (usize i = 0; i < m.files().size(); ++i) {
    const gguf::file& f = m.files()[i];
    print("file        {}\n", m.paths()[i]);
    print("format      GGUF v{}, {}-endian, alignment {}\n", f.version(),
          f.order() == gguf::byte_order::little ? "little" : "big", f.alignment());
    print("contents    {} keys, {} tensors, data from byte {} of {}\n", f.key_count(), f.tensor_count(),
          f.data_offset(), f.bytes().size());
  }
  const gguf::file_set set = m.set();
  if (o.keys) {
    usize width = 0;
    for (const gguf::value& v : set.keys()) width = std::max(width, std::min<usize>(v.key().size(), 48));
    out += "\n";
    for (const gguf::value& v : set.keys())
      print("{:{}}  {:12}  {}\n", v.key(), width, type_text(v), value_text(v, o.full));
  }
  if (o.tensors) {
    u64 elements = 0, bytes = 0;
    out += "\n";
    for (const gguf::tensor_info& t : set.tensors()) {
      print("{:32}  {:8}  {:24}  {:>14} bytes at {}\n", t.name, find_block_info(t.type)->name, shape_text(t), t.bytes,
            t.offset);
      elements += t.elements();
      bytes += t.bytes;
    }
    print("\n{} tensors, {} weights, {} bytes", set.tensors().size(), elements, bytes);
    if (elements != 0) print(", {:.3f} bits per weight", 8.0 * static_cast<f64>(bytes) / static_cast<f64>(elements));
    out += "\n";
  }
  return out;
}

inline json value_json(const gguf::value& v, bool full) {
  json entry = {{"key", v.key()}, {"type", name(v.type())}};
  const u64 most = full ? v.count() : short_array;
  if (!v.is_array()) {
    visit_elements(v, 1, [&](auto x) { entry["value"] = x; });
    return entry;
  }
  entry["element_type"] = name(v.element_type());
  entry["count"] = v.count();
  json values = json::array();
  visit_elements(v, most, [&](auto x) { values.push_back(x); });
  entry["value"] = std::move(values);
  if (v.count() > most) entry["abbreviated"] = true;
  return entry;
}

/// JSON has no NaN, infinities or broken UTF-8: they become null and U+FFFD.
inline std::string to_text(const json& j) { return j.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

inline std::string show_json(const host::model_file& m, const show_options& o) {
  json out;
  for (usize i = 0; i < m.files().size(); ++i) {
    const gguf::file& f = m.files()[i];
    out["files"].push_back({{"path", m.paths()[i]},
                            {"version", f.version()},
                            {"byte_order", f.order() == gguf::byte_order::little ? "little" : "big"},
                            {"alignment", f.alignment()},
                            {"keys", f.key_count()},
                            {"tensors", f.tensor_count()},
                            {"data_offset", f.data_offset()},
                            {"bytes", f.bytes().size()}});
  }
  const gguf::file_set set = m.set();
  if (o.keys) {
    out["keys"] = json::array();
    for (const gguf::value& v : set.keys()) out["keys"].push_back(value_json(v, o.full));
  }
  if (!o.tensors) return to_text(out);
  out["tensors"] = json::array();
  for (usize i = 0; i < m.files().size(); ++i)
    for (const gguf::tensor_info& t : m.files()[i].tensors())
      out["tensors"].push_back({{"name", t.name},
                                {"type", find_block_info(t.type)->name},
                                {"shape", std::vector<u64>(t.ne, t.ne + t.n_dims)},
                                {"bytes", t.bytes},
                                {"offset", t.offset},
                                {"file", i}});
  return to_text(out);
}

}  // namespace jig::gguf_tool
