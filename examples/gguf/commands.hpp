#pragma once
// What jig-gguf's other commands do. Each returns what is to be printed, or the error.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "jig/gguf/data_check.hpp"
#include "jig/gguf/parse_value.hpp"
#include "jig/gguf/sha256.hpp"
#include "jig/gguf/split_writer.hpp"
#include "jig/host/model_file.hpp"
#include "jig/host/output_file.hpp"

namespace jig::gguf_tool {

/// Writes a file that appears only when it is complete.
inline result<void> save(const gguf::writer& w, const std::string& path) {
  JIG_TRY(host::output_file out, host::output_file::create(path));
  JIG_CHECK(w.write([&](std::span<const u8> piece) { return out.write(piece); }));
  return out.commit();
}

/// Container, split parts and all tensor data.
inline result<std::string> verify(const std::string& path) {
  JIG_TRY(const host::model_file m, host::open_model_file(path));
  u64 bytes = 0;
  for (const gguf::file& f : m.files())
    for (const gguf::tensor_info& t : f.tensors()) {
      JIG_CHECK(gguf::check_data(t, f.bytes()));
      m.release(t.data);
      bytes += t.bytes;
    }
  return fmt::format("{}: ok, {} keys, {} tensors, {} bytes of data\n", path, m.files().front().key_count(),
                     m.set().tensors().size(), bytes);
}

/// "hash  name" per tensor, as sha256sum prints files.
inline result<std::string> hashes(const std::string& path) {
  JIG_TRY(const host::model_file m, host::open_model_file(path));
  std::string out;
  for (const gguf::tensor_info& t : m.set().tensors()) {
    for (const u8 byte : sha256{}.update(t.data).digest()) out += fmt::format("{:02x}", byte);
    out += fmt::format("  {}\n", t.name);
    m.release(t.data);
  }
  return out;
}

inline result<std::string> split(const std::string& path, const std::string& prefix, const gguf::split_limits& most) {
  JIG_TRY(const host::model_file m, host::open_model_file(path));
  JIG_TRY(const std::vector<u64> plan, gguf::plan_split(m.set(), most));
  JIG_TRY(const std::vector<gguf::writer> parts, gguf::split_model(m.set(), plan));
  std::string out, buffer(prefix.size() + 32, '\0');
  for (usize i = 0; i < parts.size(); ++i) {
    JIG_TRY(const std::string_view name,
            gguf::split_path(prefix, static_cast<u32>(i), static_cast<u32>(parts.size()), buffer));
    JIG_CHECK(save(parts[i], std::string(name)));
    out += fmt::format("{}: {} tensors\n", name, parts[i].tensor_count());
  }
  return out;
}

inline result<std::string> merge(const std::string& path, const std::string& output) {
  JIG_TRY(const host::model_file m, host::open_model_file(path));
  JIG_TRY(const gguf::writer w, gguf::join_model(m.set()));
  JIG_CHECK(save(w, output));
  return output == "-" ? std::string()
                       : fmt::format("{}: {} tensors from {} files\n", output, w.tensor_count(), m.files().size());
}

/// Edits one file (of a split model: only that part); `change(writer)` returns a result<void>.
template <class Change>
result<std::string> edit(const std::string& path, const std::string& output, Change change) {
  host::model_file m;
  JIG_CHECK(m.add(path, host::map_mode::automatic));
  gguf::writer w = gguf::writer::from(m.files().front());
  JIG_CHECK(change(w));
  JIG_CHECK(save(w, output));
  return std::string();
}

inline result<std::string> set_key(const std::string& path, const std::string& output, const std::string& key,
                                   const std::string& type, const std::vector<std::string>& words) {
  JIG_TRY(gguf::owned_value v, gguf::parse_value(key, type, words));
  return edit(path, output, [&](gguf::writer& w) -> result<void> {
    w.set(std::move(v));
    return {};
  });
}

inline result<std::string> remove_key(const std::string& path, const std::string& output, const std::string& key) {
  return edit(path, output, [&](gguf::writer& w) {
    return w.remove(key) ? result<void>{} : result<void>{fail(errc::missing_key, key)};
  });
}

}  // namespace jig::gguf_tool
