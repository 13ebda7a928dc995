#pragma once
// A validated GGUF file over bytes in memory (mapped, in flash, read): keys and tensors as ranges and by name.
//
//   auto f = gguf::open(bytes);                                   // result<file>
//   u32 layers = *f->get<u32>("llama.block_count");               // result<u32>: missing_key, wrong_key_type, ...
//   for (const gguf::tensor_info& t : f->tensors()) ...
//
// open() needs no memory and checks everything but what concerns pairs of entries: duplicate names and overlapping
// tensors. build_index() checks those too, in O(n log n) with one u32 per entry of the caller's memory, and makes
// look-ups by name logarithmic instead of linear. Loaders of foreign files call both.

#include "jig/gguf/entry_range.hpp"
#include "jig/gguf/sorted_positions.hpp"
#include "jig/gguf/typed_lookup.hpp"

namespace jig::gguf {

/// A GGUF file that passed open(). A view: the bytes, and the index's memory if there is one, must outlive it.
/// get<T>(key), get_or, has and has_tensor: typed_lookup.hpp.
class file : public typed_lookup<file> {
 public:
  file() = default;

  u32 version() const noexcept { return header_.version; }
  byte_order order() const noexcept { return header_.order; }
  u64 key_count() const noexcept { return header_.key_count; }
  u64 tensor_count() const noexcept { return header_.tensor_count; }
  u32 alignment() const noexcept { return alignment_; }
  /// Where the tensor entries start, and where they end (data_offset() is that, rounded up to the alignment).
  u64 tensors_position() const noexcept { return tensors_at_; }
  u64 metadata_end() const noexcept { return metadata_end_; }
  u64 data_offset() const noexcept { return data_at_; }
  std::span<const u8> bytes() const noexcept { return bytes_; }
  /// Everything from data_offset() on; empty if the file ends before.
  std::span<const u8> data() const noexcept {
    return data_at_ < bytes_.size() ? bytes_.subspan(static_cast<usize>(data_at_)) : std::span<const u8>{};
  }

  /// The entries in file order; the ranges stay valid as long as the bytes do.
  key_range keys() const noexcept { return {{cursor_at(header::size)}, header_.key_count}; }
  tensor_range tensors() const noexcept { return {tensors_from(tensors_at_), header_.tensor_count}; }

  /// The metadata entry with this key. Errors: missing_key.
  result<value> find(std::string_view key) const noexcept;
  /// The tensor with this name. Errors: missing_tensor.
  result<tensor_info> find_tensor(std::string_view name) const noexcept;

  /// Words of memory that build_index needs: one per key and tensor.
  usize index_words() const noexcept { return static_cast<usize>(header_.key_count + header_.tensor_count); }

  /// Checks that no name occurs twice and no two tensors overlap, and keeps the sorted positions in `memory` for fast
  /// look-ups. Errors: buffer_too_small (got: words needed), duplicate_key, duplicate_tensor, overlapping_tensors.
  result<void> build_index(std::span<u32> memory) noexcept;

 private:
  friend result<file> open(std::span<const u8> bytes) noexcept;
  result<void> read_keys() noexcept;
  result<void> read_tensors() noexcept;
  result<void> check_overlaps(std::span<u32> positions) const noexcept;
  std::string_view name_at(u32 position) const noexcept;
  cursor cursor_at(u64 position) const noexcept { return {bytes_, header_.order, position}; }
  tensor_reader tensors_from(u64 position) const noexcept { return {cursor_at(position), alignment_, data()}; }

  std::span<const u8> bytes_;
  header header_;
  u32 alignment_ = limits::default_alignment;
  u64 tensors_at_ = 0, metadata_end_ = 0, data_at_ = 0;
  std::span<const u32> keys_by_name_, tensors_by_name_;  // empty without an index
};

/// Validates the whole file but for pairs of entries (see build_index). Time: linear in the metadata; the tensors'
/// data is not touched. Errors: those of read_header, read_value and read_tensor_info; bad_alignment,
/// unsupported_feature (4 GiB of metadata), offset_out_of_file.
inline result<file> open(std::span<const u8> bytes) noexcept {
  file f;
  f.bytes_ = bytes;
  JIG_TRY(f.header_, read_header(bytes));
  JIG_CHECK(f.read_keys());
  JIG_CHECK(f.read_tensors());
  return f;
}

inline result<void> file::read_keys() noexcept {
  cursor at = cursor_at(header::size);
  for (u64 i = 0; i < header_.key_count; ++i) {
    JIG_TRY(const value v, read_value(at));
    if (v.key() != "general.alignment") continue;
    if (v.type() != value_type::u32) return fail(errc::wrong_key_type, v.key()).at(v.position());
    alignment_ = *v.as<u32>();
    if (!std::has_single_bit(alignment_) || alignment_ < limits::min_alignment || alignment_ > limits::max_alignment)
      return fail(errc::bad_alignment).got(alignment_).at(v.position());
  }
  tensors_at_ = at.position();
  return {};
}

inline result<void> file::read_tensors() noexcept {
  cursor at = cursor_at(tensors_at_);
  for (u64 i = 0; i < header_.tensor_count; ++i) { JIG_CHECK(read_tensor_info(at, alignment_)); }
  metadata_end_ = at.position();
  if (metadata_end_ > limits::metadata_bytes) return fail(errc::unsupported_feature, "4 GiB of metadata");
  data_at_ = (metadata_end_ + alignment_ - 1) / alignment_ * alignment_;
  tensor_reader second_pass = tensors_from(tensors_at_);
  for (u64 i = 0; i < header_.tensor_count; ++i) { JIG_CHECK(second_pass.read()); }
  return {};
}

/// Keys and tensors both start with their name.
inline std::string_view file::name_at(u32 position) const noexcept {
  const u8* p = bytes_.data() + position;
  return as_text(p + 8, static_cast<usize>(load<u64>(p, header_.order)));
}

inline result<value> file::find(std::string_view key) const noexcept {
  if (!keys_by_name_.empty()) {
    const usize i = detail::lower_bound(keys_by_name_, [&](u32 p) { return name_at(p) < key; });
    if (i == keys_by_name_.size() || name_at(keys_by_name_[i]) != key) return fail(errc::missing_key, key);
    cursor at = cursor_at(keys_by_name_[i]);
    return read_value(at);
  }
  for (const value& v : keys())
    if (v.key() == key) return v;
  return fail(errc::missing_key, key);
}

inline result<tensor_info> file::find_tensor(std::string_view name) const noexcept {
  if (!tensors_by_name_.empty()) {
    const usize i = detail::lower_bound(tensors_by_name_, [&](u32 p) { return name_at(p) < name; });
    if (i == tensors_by_name_.size() || name_at(tensors_by_name_[i]) != name) return fail(errc::missing_tensor, name);
    return tensors_from(tensors_by_name_[i]).read();
  }
  for (const tensor_info& t : tensors())
    if (t.name == name) return t;
  return fail(errc::missing_tensor, name);
}

inline result<void> file::build_index(std::span<u32> memory) noexcept {
  if (memory.size() < index_words()) return fail(errc::buffer_too_small, "GGUF index").got(index_words());
  const std::span<u32> by_key = memory.first(static_cast<usize>(header_.key_count));
  const std::span<u32> by_tensor = memory.subspan(by_key.size(), static_cast<usize>(header_.tensor_count));
  const auto by_name = [&](u32 a, u32 b) { return name_at(a) < name_at(b); };
  const auto check = [&](std::span<const u32> sorted, errc code) -> result<void> {
    for (usize i = 1; i < sorted.size(); ++i)
      if (name_at(sorted[i - 1]) == name_at(sorted[i]))
        return fail(code, name_at(sorted[i])).at(sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1]);
    return {};
  };

  cursor at = cursor_at(header::size);
  for (u32& p : by_key) {
    p = static_cast<u32>(at.position());
    JIG_CHECK(read_value(at));
  }
  detail::heap_sort(by_key, by_name);
  JIG_CHECK(check(by_key, errc::duplicate_key));

  for (u32& p : by_tensor) {
    p = static_cast<u32>(at.position());
    JIG_CHECK(read_tensor_info(at, alignment_));
  }
  JIG_CHECK(check_overlaps(by_tensor));
  detail::heap_sort(by_tensor, by_name);
  JIG_CHECK(check(by_tensor, errc::duplicate_tensor));
  keys_by_name_ = by_key;
  tensors_by_name_ = by_tensor;
  return {};
}

/// Sorts the entries by their data's offset and compares neighbours.
inline result<void> file::check_overlaps(std::span<u32> positions) const noexcept {
  // The offset is the entry's last field and follows from the name's length and the rank.
  const auto offset_at = [&](u32 p) {
    const u8* rank = bytes_.data() + p + 8 + name_at(p).size();
    return load<u64>(rank + 8 + usize{8} * load<u32>(rank, header_.order), header_.order);
  };
  detail::heap_sort(positions, [&](u32 a, u32 b) {
    const u64 x = offset_at(a), y = offset_at(b);
    return x != y ? x < y : a < b;  // so that the later entry is the one at fault
  });
  u64 end = 0;
  for (u32 p : positions) {
    JIG_TRY(const tensor_info t, tensors_from(p).read());
    if (t.offset < end) return fail(errc::overlapping_tensors, t.name).got(t.offset).at(t.position);
    end = t.offset + t.bytes;
  }
  return {};
}

}  // namespace jig::gguf
