#pragma once
// Hosted: the larger members of gguf::writer (writer.hpp).

#include <algorithm>

#include "jig/gguf/writer.hpp"

namespace jig::gguf {

/// A copy of a file's entry, in little-endian order.
inline owned_value copy(const value& v) {
  owned_value own{std::string(v.key()), v.is_array(), v.element_type(), v.count(), {}};
  own.payload.assign(v.payload().begin(), v.payload().end());
  if (v.order() == byte_order::big) detail::swap_payload(own.payload, own.element, own.count, byte_order::big);
  return own;
}

inline writer writer::from(const file& f) {
  writer w;
  w.version = f.version();
  w.order = f.order();
  for (const value& v : f.keys()) w.set(copy(v));
  for (const tensor_info& t : f.tensors()) {
    tensor own;
    own.name = t.name;
    own.n_dims = t.n_dims;
    own.type = t.type;
    std::copy(std::begin(t.ne), std::end(t.ne), std::begin(own.ne));
    own.data = t.data;
    own.bytes = t.data.size();
    own.data_order = t.order;
    own.offset = t.offset;
    own.placed = true;
    w.tensor_numbers_.emplace(own.name, w.tensors_.size());
    w.tensors_.push_back(std::move(own));
  }
  w.section_ = f.data();
  w.section_order_ = f.order();
  const u64 padding_end = std::min<u64>(f.data_offset(), f.bytes().size());
  w.ends_in_padding_ = padding_end < f.data_offset();
  w.padding_ =
      f.bytes().subspan(static_cast<usize>(f.metadata_end()), static_cast<usize>(padding_end - f.metadata_end()));
  return w;
}

inline void writer::set(owned_value v) {
  const auto [at, is_new] = key_numbers_.emplace(v.key, keys_.size());
  if (is_new) keys_.push_back(std::move(v));
  else keys_[at->second] = std::move(v);
}

inline bool writer::remove(std::string_view key) {
  const auto at = key_numbers_.find(std::string(key));
  if (at == key_numbers_.end()) return false;
  const usize removed = at->second;
  key_numbers_.erase(at);
  keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(removed));
  for (auto& [name, number] : key_numbers_)
    if (number > removed) --number;
  return true;
}

inline result<writer::tensor*> writer::add_entry(std::string_view name, std::span<const u64> ne, u32 type) {
  // The entry is written out and read back, so that the reader's rules are the writer's.
  detail::byte_builder entry(byte_order::little);
  entry.put_string(name);
  entry.put(static_cast<u32>(ne.size()));
  for (const u64 n : ne) entry.put(n);
  entry.put(type);
  entry.put(u64{0});
  cursor at(entry.bytes, byte_order::little);
  JIG_TRY(const tensor_info info, read_tensor_info(at, limits::min_alignment));
  if (!tensor_numbers_.emplace(name, tensors_.size()).second) return fail(errc::duplicate_tensor, name);
  tensor& own = tensors_.emplace_back();
  own.name = name;
  own.n_dims = info.n_dims;
  own.type = type;
  own.bytes = info.bytes;
  std::copy(std::begin(info.ne), std::end(info.ne), std::begin(own.ne));
  return &own;
}

inline result<void> writer::add_tensor(std::string_view name, std::span<const u64> ne, u32 type,
                                       std::span<const u8> data, byte_order data_order) {
  JIG_TRY(tensor* const own, add_entry(name, ne, type));
  own->data = data;
  own->data_order = data_order;
  if (own->bytes == data.size()) return {};
  tensor_numbers_.erase(own->name);
  tensors_.pop_back();
  return fail(errc::wrong_shape, name).got(data.size());
}

inline result<void> writer::add_tensor(std::string_view name, std::span<const u64> ne, u32 type, byte_source make) {
  JIG_TRY(tensor* const own, add_entry(name, ne, type));
  own->make = std::move(make);
  return {};
}

inline result<u32> writer::alignment() const {
  for (const owned_value& k : keys_) {
    if (k.key != "general.alignment") continue;
    if (k.array || k.element != value_type::u32) return fail(errc::wrong_key_type, k.key);
    const u32 v = load_le<u32>(k.payload.data());
    if (!std::has_single_bit(v) || v < limits::min_alignment || v > limits::max_alignment)
      return fail(errc::bad_alignment).got(v);
    return v;
  }
  return limits::default_alignment;
}

/// Whether the file's data section can be repeated as it is: same byte order, every offset still aligned.
inline bool writer::section_fits(u32 alignment) const noexcept {
  const auto aligned = [&](const tensor& t) { return !t.placed || t.offset % alignment == 0; };
  return section_order_ == order && std::all_of(tensors_.begin(), tensors_.end(), aligned);
}

/// Offsets for all tensors: their places in the kept section, the others one after the other.
inline std::vector<u64> writer::layout(u32 alignment, bool keep_section) const {
  const auto align = [&](u64 n) { return (n + alignment - 1) / alignment * alignment; };
  std::vector<u64> offsets;
  u64 end = keep_section ? section_.size() : 0;
  for (const tensor& t : tensors_) {
    if (keep_section && t.placed) {
      offsets.push_back(t.offset);
      continue;
    }
    offsets.push_back(align(end));
    end = offsets.back() + t.bytes;
  }
  return offsets;
}

inline std::vector<u8> writer::metadata(std::span<const u64> offsets) const {
  detail::byte_builder out(order);
  for (const char c : {'G', 'G', 'U', 'F'}) out.bytes.push_back(static_cast<u8>(c));
  out.put(version);
  out.put(u64{tensors_.size()});
  out.put(u64{keys_.size()});
  for (const owned_value& k : keys_) {
    out.put_string(k.key);
    if (k.array) out.put(static_cast<u32>(value_type::array));
    out.put(static_cast<u32>(k.element));
    if (k.array) out.put(k.count);
    const usize start = out.bytes.size();
    out.bytes.insert(out.bytes.end(), k.payload.begin(), k.payload.end());
    if (order == byte_order::big)
      detail::swap_payload(std::span(out.bytes).subspan(start), k.element, k.count, byte_order::little);
  }
  for (usize i = 0; i < tensors_.size(); ++i) {
    const tensor& t = tensors_[i];
    out.put_string(t.name);
    out.put(t.n_dims);
    for (u32 d = 0; d < t.n_dims; ++d) out.put(t.ne[d]);
    out.put(t.type);
    out.put(offsets[i]);
  }
  return std::move(out.bytes);
}

/// The padding before the data: the file's own bytes if it still has the same size, zeros otherwise. A file without
/// tensors may end before or inside its padding; then so does the copy.
inline result<void> writer::write_padding(const byte_sink& sink, u64 metadata_bytes, u32 alignment) const {
  const usize size = static_cast<usize>((alignment - metadata_bytes % alignment) % alignment);
  if (ends_in_padding_ && tensors_.empty()) return sink(padding_.first(std::min(size, padding_.size())));
  if (padding_.size() == size) return sink(padding_);
  const std::vector<u8> zeros(size);
  return sink(zeros);
}

/// Writes a tensor's data, turned if its byte order is not the file's.
inline result<void> writer::write_data(const byte_sink& sink, const tensor& t) const {
  const usize block = find_block_info(t.type)->bytes;
  std::vector<u8> turned;
  const auto write_turned = [&](std::span<const u8> piece) -> result<void> {
    turned.assign(piece.begin(), piece.end());
    JIG_CHECK(swap_byte_order(t.type, turned));
    return sink(turned);
  };
  if (t.make) {
    u64 made = 0;
    JIG_CHECK(t.make([&](std::span<const u8> piece) -> result<void> {
      made += piece.size();
      if (made > t.bytes || piece.size() % block != 0) return fail(errc::wrong_shape, t.name).got(made);
      return order == byte_order::little ? sink(piece) : write_turned(piece);
    }));
    return made == t.bytes ? result<void>() : fail(errc::wrong_shape, t.name).got(made);
  }
  if (t.data_order == order) return sink(t.data);
  const usize step = std::max<usize>(1, 65536 / block) * block;
  for (usize at = 0; at < t.data.size(); at += step)
    JIG_CHECK(write_turned(t.data.subspan(at, std::min(step, t.data.size() - at))));
  return {};
}

inline result<void> writer::write(const byte_sink& sink) const {
  if (version != 2 && version != 3) return fail(errc::unsupported_version).got(version);
  for (const owned_value& k : keys_)
    if (k.key.empty() || k.key.size() > limits::key_bytes || !is_printable(k.key)) return fail(errc::bad_key, k.key);
  JIG_TRY(const u32 align, alignment());
  const bool keep_section = section_fits(align);
  const std::vector<u64> offsets = layout(align, keep_section);
  const std::vector<u8> head = metadata(offsets);
  JIG_CHECK(sink(head));
  JIG_CHECK(write_padding(sink, head.size(), align));
  if (keep_section && !section_.empty()) { JIG_CHECK(sink(section_)); }
  const std::vector<u8> zeros(align);
  const auto pad = [&](u64 n) { return n == 0 ? result<void>{} : sink(std::span(zeros).first(static_cast<usize>(n))); };
  u64 end = keep_section ? section_.size() : 0;
  for (usize i = 0; i < tensors_.size(); ++i) {
    if (keep_section && tensors_[i].placed) continue;
    JIG_CHECK(pad(offsets[i] - end));
    JIG_CHECK(write_data(sink, tensors_[i]));
    end = offsets[i] + tensors_[i].bytes;
    const u64 after = (align - end % align) % align;  // every tensor's data is padded, the last one's too
    JIG_CHECK(pad(after));
    end += after;
  }
  return {};
}

inline result<std::vector<u8>> writer::bytes() const {
  std::vector<u8> out;
  JIG_CHECK(write([&](std::span<const u8> piece) -> result<void> {
    out.insert(out.end(), piece.begin(), piece.end());
    return {};
  }));
  return out;
}

}  // namespace jig::gguf
