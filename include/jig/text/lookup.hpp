#pragma once
// The one look-up structure of a vocabulary: from a hash (of a text, of a pair of ids) to an entry's number.
//
// Two forms behind one call. Loaded files use open addressing in caller memory, at most 2/3 full: a slot holds the
// entry's number in its low bits and the hash's remaining bits above it, so that misses rarely touch the entry. A
// vocabulary compiled into flash may instead hold the entries' numbers in sorted order (no spare slots), searched by
// bisection. The caller's compare function serves both: < 0, 0, > 0 as the entry lies before, at or after the key.

#include <bit>
#include <span>
#include <string_view>

#include "jig/core/types.hpp"

namespace jig {

/// A running 32-bit hash (FNV-1a with a final mix); the same on every platform, so tables can be prepared elsewhere.
class text_hash {
 public:
  constexpr text_hash& add(std::string_view s) noexcept {
    for (char c : s) state_ = (state_ ^ static_cast<u8>(c)) * 0x01000193u;
    return *this;
  }
  constexpr u32 value() const noexcept { return mix(state_); }
  static constexpr u32 mix(u32 h) noexcept {
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
  }

 private:
  u32 state_ = 0x811c9dc5u;
};

/// Hash of a pair of ids.
constexpr u32 pair_hash(i32 left, i32 right) noexcept {
  return text_hash::mix(static_cast<u32>(left) * 0x9e3779b1u ^ text_hash::mix(static_cast<u32>(right)));
}

/// Finds entry numbers; a view.
struct lookup {
  static constexpr u32 none = ~u32{0};
  static constexpr u32 max_probes = 1024;  ///< a table that needs more was made to be slow, and is refused

  std::span<const u32> slots;  ///< hashed: a power of two of slots; sorted: entry numbers in order
  u32 id_bits = 0;             ///< bits of the entry's number in a slot; 0: sorted form

  /// Slots for n entries in the hashed form.
  static constexpr u64 slots_for(u64 n) noexcept { return std::bit_ceil(n + n / 2 + 1); }

  /// The entry for which compare(number) == 0, or `none`.
  template <class Compare>
  constexpr u32 find(u32 hash, Compare&& compare) const noexcept {
    if (slots.empty()) return none;
    if (id_bits == 0) return find_sorted(compare);
    const u32 mask = static_cast<u32>(slots.size() - 1), number_mask = (u32{1} << id_bits) - 1;
    for (u32 at = hash & mask;; at = (at + 1) & mask) {
      const u32 slot = slots[at];
      if (slot == none) return none;
      if (((slot ^ hash) & ~number_mask) == 0 && compare(slot & number_mask) == 0) return slot & number_mask;
    }
  }

 private:
  template <class Compare>
  constexpr u32 find_sorted(Compare&& compare) const noexcept {
    usize low = 0, high = slots.size();
    while (low < high) {
      const usize middle = low + (high - low) / 2;
      const int order = compare(slots[middle]);
      if (order == 0) return slots[middle];
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return none;
  }
};

/// Fills the hashed form.
class lookup_builder {
 public:
  /// `slots` has slots_for(n) elements; n < 2^31.
  constexpr lookup_builder(std::span<u32> slots, u32 n) noexcept
      : slots_(slots), id_bits_(static_cast<u32>(std::bit_width(n | 1u))) {
    for (u32& s : slots_) s = lookup::none;
  }
  enum class outcome { added, present, too_slow };

  /// Adds an entry unless one that compares equal is there.
  template <class Compare>
  constexpr outcome add(u32 number, u32 hash, Compare&& compare) noexcept {
    const u32 mask = static_cast<u32>(slots_.size() - 1), number_mask = (u32{1} << id_bits_) - 1;
    u32 at = hash & mask;
    for (u32 probes = 0; probes < lookup::max_probes; ++probes, at = (at + 1) & mask) {
      u32& slot = slots_[at];
      if (slot == lookup::none) {
        slot = (hash & ~number_mask) | number;
        return outcome::added;
      }
      if (((slot ^ hash) & ~number_mask) == 0 && compare(slot & number_mask) == 0) return outcome::present;
    }
    return outcome::too_slow;
  }
  constexpr lookup view() const noexcept { return {slots_, id_bits_}; }

 private:
  std::span<u32> slots_;
  u32 id_bits_;
};

}  // namespace jig
