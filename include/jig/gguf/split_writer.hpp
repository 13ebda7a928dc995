#pragma once
// Hosted: splitting a model into several files and joining them again.
//
// The first part carries all keys, the others only the three split keys, as gguf-split writes them. Joining removes
// the split keys, so that a file that is split and joined comes back byte for byte (if its tensors lay in order and
// without gaps).

#include <algorithm>
#include <vector>

#include "jig/gguf/file_set.hpp"
#include "jig/gguf/split.hpp"
#include "jig/gguf/writer.hpp"

namespace jig::gguf {

/// How large a part may become. A part holds at least one tensor, whatever its size.
struct split_limits {
  u64 tensors = ~u64{0};     ///< most tensors of a part
  u64 data_bytes = ~u64{0};  ///< most bytes of tensor data of a part, padding included
};

/// Divides the tensors of a model, in file order, into parts: element i is the number of tensors in part i.
/// Always at least one part. Errors: bad_argument (a limit of 0), bad_split (more than 65535 parts).
inline result<std::vector<u64>> plan_split(const file_set& model, const split_limits& most) {
  if (most.tensors == 0 || most.data_bytes == 0) return fail(errc::bad_argument, "split limit").got(0);
  const u64 align = model.files().empty() ? limits::default_alignment : model.files().front().alignment();
  std::vector<u64> parts{0};
  u64 bytes = 0;
  for (const tensor_info& t : model.tensors()) {
    const u64 padded = (t.bytes + align - 1) / align * align;
    if (parts.back() != 0 &&
        (parts.back() >= most.tensors || padded > most.data_bytes - std::min(bytes, most.data_bytes))) {
      parts.push_back(0);
      bytes = 0;
    }
    ++parts.back();
    bytes += padded;
  }
  if (parts.size() > max_split_parts) return fail(errc::bad_split, "parts").got(parts.size());
  return parts;
}

/// A writer for each part of a plan. The model's bytes must outlive them. Errors: those of writer::add_tensor.
inline result<std::vector<writer>> split_model(const file_set& model, std::span<const u64> plan) {
  if (model.files().empty()) return fail(errc::bad_argument, "an empty model");
  const file& first = model.files().front();
  std::vector<writer> parts;
  auto t = model.tensors().begin();
  for (usize i = 0; i < plan.size(); ++i) {
    writer w;
    w.version = first.version();
    w.order = first.order();
    if (i == 0) {
      for (const value& v : first.keys()) w.set(copy(v));
    } else if (const auto alignment = first.find("general.alignment")) {
      w.set(copy(*alignment));
    }
    w.set(key_split_no, static_cast<u16>(i));
    w.set(key_split_count, static_cast<u16>(plan.size()));
    w.set(key_split_tensors, static_cast<i32>(model.tensors().size()));
    for (u64 n = 0; n < plan[i]; ++n, ++t) { JIG_CHECK(w.add_tensor(*t)); }
    parts.push_back(std::move(w));
  }
  return parts;
}

/// A writer for the model as one file, without split keys. The model's bytes must outlive it.
/// Errors: those of writer::add_tensor.
inline result<writer> join_model(const file_set& model) {
  if (model.files().empty()) return fail(errc::bad_argument, "an empty model");
  const file& first = model.files().front();
  writer w;
  w.version = first.version();
  w.order = first.order();
  for (const value& v : first.keys()) w.set(copy(v));
  for (const std::string_view key : {key_split_no, key_split_count, key_split_tensors}) w.remove(key);
  for (const tensor_info& t : model.tensors()) { JIG_CHECK(w.add_tensor(t)); }
  return w;
}

}  // namespace jig::gguf
