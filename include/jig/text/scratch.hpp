#pragma once
// What a tokenizer works with: the caller's scratch memory, and the caller's array of ids.

#include <span>

#include "jig/core/result.hpp"

namespace jig {

/// Memory that the caller lends for one call, given out from the front. `mark` and `rewind` give a word's part back.
class scratch {
 public:
  constexpr scratch(std::span<std::byte> memory) noexcept : memory_(memory) {}

  /// `count` objects of a trivial type, not initialised. Errors: buffer_too_small (got: bytes that would suffice).
  template <class T>
  result<std::span<T>> take(u64 count) noexcept {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + used_;
    const u64 padding = (alignof(T) - address % alignof(T)) % alignof(T);
    const u64 needed = used_ + padding + count * sizeof(T);
    if (count > (u64{1} << 40) || needed > memory_.size())
      return fail(errc::buffer_too_small, "scratch").got(needed + alignof(std::max_align_t));
    T* first = reinterpret_cast<T*>(memory_.data() + used_ + padding);
    for (u64 i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) T;
    used_ = static_cast<usize>(needed);
    return std::span<T>(first, static_cast<usize>(count));
  }

  constexpr usize mark() const noexcept { return used_; }
  constexpr void rewind(usize mark) noexcept { used_ = mark; }

 private:
  std::span<std::byte> memory_;
  usize used_ = 0;
};

/// Takes token ids: writes as many as fit and counts all, so that a short buffer's error can say what is needed.
class id_sink {
 public:
  constexpr explicit id_sink(std::span<i32> out) noexcept : out_(out) {}
  constexpr void put(i32 id) noexcept {
    if (count_ < out_.size()) out_[count_] = id;
    ++count_;
  }
  constexpr usize count() const noexcept { return count_; }
  /// The count, or buffer_too_small (got: ids needed).
  result<usize> finish() const noexcept {
    if (count_ > out_.size()) return fail(errc::buffer_too_small, "token ids").got(count_);
    return count_;
  }

 private:
  std::span<i32> out_;
  usize count_ = 0;
};

}  // namespace jig
