#pragma once
// Large blocks of memory on 64-byte boundaries, for activations and key/value memory.

#include <new>
#include <span>
#include <utility>

#include "jig/core/result.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace jig::host {

/// Owned bytes, aligned to 64, not initialised. Move-only.
class aligned_bytes {
 public:
  static constexpr usize alignment = 64;

  aligned_bytes() noexcept = default;
  aligned_bytes(aligned_bytes&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  aligned_bytes& operator=(aligned_bytes&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~aligned_bytes() { ::operator delete[](data_, std::align_val_t{alignment}, std::nothrow); }

  /// Errors: out_of_memory (`what` is named, got: the bytes).
  static result<aligned_bytes> make(u64 bytes, std::string_view what) noexcept {
    aligned_bytes b;
    if (bytes <= static_cast<u64>(~usize{0} >> 1))
      b.data_ =
          static_cast<u8*>(::operator new[](static_cast<usize>(bytes), std::align_val_t{alignment}, std::nothrow));
    if (b.data_ == nullptr) return fail(errc::out_of_memory, what).got(bytes);
    b.size_ = static_cast<usize>(bytes);
    return b;
  }

  /// Asks the system for large pages, which spare memory that is read from end to end many page walks.
  void prefer_huge_pages() const noexcept {
#if defined(__linux__)
    constexpr usize page = usize{1} << 21;
    const usize first = (page - reinterpret_cast<usize>(data_) % page) % page;
    if (size_ >= first + page) (void)::madvise(data_ + first, (size_ - first) / page * page, MADV_HUGEPAGE);
#endif
  }

  std::span<u8> bytes() const noexcept { return {data_, size_}; }

 private:
  u8* data_ = nullptr;
  usize size_ = 0;
};

}  // namespace jig::host
