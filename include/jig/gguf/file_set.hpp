#pragma once
// One or several GGUF files seen as one: the parts of a split model, or a single file.
//
// Keys come from the first file; tensors from all, in order. What reads models takes a `const file_set&`; a `file`
// converts to one. The part files carry split.no, split.count and split.tensors.count; split.hpp checks them.

#include "jig/gguf/file.hpp"

namespace jig::gguf {

/// The tensors of several files, one file after the other.
class all_tensors_range {
 public:
  class iterator {
   public:
    using value_type = tensor_info;
    using difference_type = std::ptrdiff_t;
    explicit iterator(std::span<const file> files) noexcept : files_(files), in_file_(first_of(files)) { skip_empty(); }
    const tensor_info& operator*() const noexcept { return *in_file_; }
    const tensor_info* operator->() const noexcept { return &*in_file_; }
    iterator& operator++() noexcept {
      ++in_file_;
      skip_empty();
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.files_.size() == b.files_.size() && a.in_file_ == b.in_file_;
    }

   private:
    static tensor_range range_of(std::span<const file> files) noexcept {
      return files.empty() ? file{}.tensors() : files.front().tensors();
    }
    static tensor_range::iterator first_of(std::span<const file> files) noexcept { return range_of(files).begin(); }
    void skip_empty() noexcept {
      while (!files_.empty() && in_file_ == range_of(files_).end()) {
        files_ = files_.subspan(1);
        in_file_ = first_of(files_);
      }
    }
    std::span<const file> files_;
    tensor_range::iterator in_file_;
  };

  explicit all_tensors_range(std::span<const file> files) noexcept : files_(files) {}
  iterator begin() const noexcept { return iterator(files_); }
  iterator end() const noexcept { return iterator({}); }
  u64 size() const noexcept {
    u64 n = 0;
    for (const file& f : files_) n += f.tensor_count();
    return n;
  }

 private:
  std::span<const file> files_;
};

/// A view of one or several validated files. The files must outlive it.
class file_set : public typed_lookup<file_set> {
 public:
  file_set() = default;
  file_set(const file& single) noexcept : files_(&single, 1) {}
  explicit file_set(std::span<const file> parts) noexcept : files_(parts) {}

  std::span<const file> files() const noexcept { return files_; }
  /// The byte order of the numbers in the tensors' data; the parts of a split file share it.
  byte_order order() const noexcept { return files_.empty() ? byte_order::little : files_.front().order(); }

  all_tensors_range tensors() const noexcept { return all_tensors_range(files_); }
  /// The keys of the first file. Precondition: not empty.
  key_range keys() const noexcept { return files_.front().keys(); }

  /// The metadata entry with this key. Errors: missing_key.
  result<value> find(std::string_view key) const noexcept {
    return files_.empty() ? result<value>(fail(errc::missing_key, key)) : files_.front().find(key);
  }
  /// The tensor with this name. Errors: missing_tensor.
  result<tensor_info> find_tensor(std::string_view name) const noexcept {
    for (const file& f : files_)
      if (auto t = f.find_tensor(name)) return t;
    return fail(errc::missing_tensor, name);
  }

 private:
  std::span<const file> files_;
};

}  // namespace jig::gguf
