#pragma once
// The entries of a file as forward ranges that read as they go: `for (const value& v : file.keys())`.

#include "jig/gguf/reader.hpp"

namespace jig::gguf {

/// Pulls metadata entries.
struct key_reader {
  using entry = value;
  cursor at;
  result<value> read() noexcept { return read_value(at); }
};

/// Pulls tensor entries and finds their data.
struct tensor_reader {
  using entry = tensor_info;
  cursor at;
  u32 alignment;
  std::span<const u8> data;  ///< the file's data section

  /// The next tensor. Errors: those of read_tensor_info, offset_out_of_file.
  result<tensor_info> read() noexcept {
    JIG_TRY(tensor_info t, read_tensor_info(at, alignment));
    if (t.offset > data.size()) return fail(errc::offset_out_of_file, t.name).got(t.offset).at(t.position);
    if (t.bytes > data.size() - t.offset) return fail(errc::offset_out_of_file, t.name).got(t.bytes).at(t.position);
    t.data = data.subspan(static_cast<usize>(t.offset), static_cast<usize>(t.bytes));
    return t;
  }
};

/// `count` entries from a reader's position on; valid as long as the file's bytes are.
template <class Reader>
class entry_range {
 public:
  class iterator {
   public:
    using value_type = typename Reader::entry;
    using difference_type = std::ptrdiff_t;
    iterator(const Reader& reader, u64 left) noexcept : reader_(reader), left_(left) { read(); }
    const value_type& operator*() const noexcept { return entry_; }
    const value_type* operator->() const noexcept { return &entry_; }
    iterator& operator++() noexcept {
      --left_;
      read();
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.left_ == b.left_; }

   private:
    /// open() has seen every entry, so this fails only if the bytes changed since; then the range ends.
    void read() noexcept {
      if (left_ == 0) return;
      if (auto entry = reader_.read()) entry_ = *entry;
      else left_ = 0;
    }
    Reader reader_;
    u64 left_;
    value_type entry_;
  };

  entry_range(const Reader& first, u64 count) noexcept : first_(first), count_(count) {}
  iterator begin() const noexcept { return {first_, count_}; }
  iterator end() const noexcept { return {first_, 0}; }
  u64 size() const noexcept { return count_; }

 private:
  Reader first_;
  u64 count_;
};

using key_range = entry_range<key_reader>;
using tensor_range = entry_range<tensor_reader>;

}  // namespace jig::gguf
