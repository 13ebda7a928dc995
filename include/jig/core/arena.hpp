#pragma once
// The bookkeeping of activation memory: byte ranges taken first-fit from one block, without the block itself.
//
// A forward pass takes and gives ranges in a fixed order, so running it once over this map alone (see
// ops/planner.hpp) tells exactly how many bytes the real run needs. Everything is constexpr: firmware sizes
// its static buffer with it at compile time.

#include "jig/core/types.hpp"

namespace jig {

/// Rounds n up to a multiple of `unit`, a power of two.
constexpr u64 round_up(u64 n, u64 unit) noexcept { return (n + unit - 1) & ~(unit - 1); }

/// First-fit allocator of byte ranges. Holds at most `max_live` ranges at a time, sorted by offset.
class arena_map {
 public:
  static constexpr u32 max_live = 64;
  static constexpr u64 alignment = 64;
  static constexpr u64 none = ~u64{0};

  constexpr explicit arena_map(u64 capacity) noexcept : capacity_(capacity) {}

  /// Takes `bytes` (rounded up to the alignment); the offset, or `none` if there is no room.
  constexpr u64 take(u64 bytes) noexcept {
    if (bytes > capacity_ || bytes > none - alignment) return none;
    bytes = round_up(bytes ? bytes : 1, alignment);
    u64 offset = 0;
    u32 at = 0;
    while (at < live_ && ranges_[at].offset - offset < bytes) offset = ranges_[at].offset + ranges_[at].bytes, ++at;
    if (live_ == max_live || offset > capacity_ || bytes > capacity_ - offset) return none;
    for (u32 i = live_; i > at; --i) ranges_[i] = ranges_[i - 1];
    ranges_[at] = {offset, bytes};
    ++live_;
    if (offset + bytes > peak_) peak_ = offset + bytes;
    return offset;
  }

  /// Gives back the range that was taken at `offset`.
  constexpr void give(u64 offset) noexcept {
    u32 at = 0;
    while (at < live_ && ranges_[at].offset != offset) ++at;
    if (at == live_) return;
    for (--live_; at < live_; ++at) ranges_[at] = ranges_[at + 1];
  }

  constexpr u64 peak() const noexcept { return peak_; }    ///< highest byte ever in use
  constexpr u64 capacity() const noexcept { return capacity_; }
  constexpr u32 live() const noexcept { return live_; }    ///< ranges in use now

 private:
  struct range {
    u64 offset = 0, bytes = 0;
  };
  range ranges_[max_live] = {};
  u32 live_ = 0;
  u64 capacity_;
  u64 peak_ = 0;
};

}  // namespace jig
