#pragma once
// The recurrent states of all sequences, and earlier ones kept to return to: a state cannot be taken back token by
// token as keys and values can. No heap; works in the caller's memory.

#include <cstring>
#include <span>

#include "jig/ops/batch.hpp"

namespace jig {

/// Per sequence: the state that batches work on, then `kept` earlier ones with the lengths that they belong to.
class state_store {
 public:
  static constexpr u32 none = ~u32{0};

  constexpr state_store() noexcept = default;
  /// Floats of memory that the states take, for sequences of `floats` each.
  static constexpr u64 floats(u64 floats, u32 n_sequences, u32 kept) noexcept {
    return floats * (u64{kept} + 1) * n_sequences;
  }
  static constexpr u64 words(u32 n_sequences, u32 kept) noexcept { return u64{kept} * n_sequences; }

  constexpr state_store(f32* data, u64 floats, u32* lengths, u32 n_sequences, u32 kept) noexcept
      : data_(data), floats_(floats), lengths_(lengths), kept_(kept) {
    for (u64 i = 0; i < words(n_sequences, kept); ++i) lengths[i] = none;
  }

  constexpr bool empty() const noexcept { return floats_ == 0; }
  /// Of one state.
  constexpr u64 floats() const noexcept { return floats_; }
  constexpr u64 bytes() const noexcept { return floats_ * sizeof(f32); }
  constexpr state_memory view() const noexcept { return {data_, floats_ * (u64{kept_} + 1)}; }
  f32* current(u32 sequence) const noexcept { return view().of(sequence); }

  /// The state before the first token.
  void clear(u32 sequence) noexcept {
    if (!empty()) std::memset(current(sequence), 0, static_cast<usize>(bytes()));
  }

  /// Keeps the state of a sequence of this length, in place of the shortest one kept if there is no room. False if
  /// the store keeps none.
  bool keep(u32 sequence, u32 length) noexcept {
    if (kept_ == 0 || empty()) return false;
    u32* lengths = lengths_of(sequence);
    u32 slot = 0;
    for (u32 i = 0; i < kept_; ++i) {
      if (lengths[i] == length) return true;
      if (lengths[i] == none || (lengths[slot] != none && lengths[i] < lengths[slot])) slot = i;
    }
    copy(kept(sequence, slot), current(sequence));
    lengths[slot] = length;
    return true;
  }

  /// The longest length up to `length` whose state was kept; 0 if there is none.
  u32 nearest(u32 sequence, u32 length) const noexcept {
    u32 best = 0;
    for (u32 i = 0; i < kept_; ++i)
      if (const u32 l = lengths_of(sequence)[i]; l != none && l <= length && l > best) best = l;
    return best;
  }

  /// Makes the kept state of this length (0: the empty one) the current one and forgets those of longer lengths.
  /// Precondition: nearest(sequence, length) == length.
  void restore(u32 sequence, u32 length) noexcept {
    if (empty()) return;
    if (length == 0) clear(sequence);
    for (u32 i = 0; i < kept_; ++i) {
      u32& l = lengths_of(sequence)[i];
      if (l == length) copy(current(sequence), kept(sequence, i));
      if (l != none && l > length) l = none;
    }
  }

  /// Makes `to` a copy of `from`, kept states included.
  void fork(u32 from, u32 to) noexcept {
    if (empty()) return;
    std::memcpy(current(to), current(from), static_cast<usize>(bytes() * (u64{kept_} + 1)));
    for (u32 i = 0; i < kept_; ++i) lengths_of(to)[i] = lengths_of(from)[i];
  }

 private:
  u32* lengths_of(u32 sequence) const noexcept { return lengths_ + u64{sequence} * kept_; }
  f32* kept(u32 sequence, u32 slot) const noexcept { return current(sequence) + (u64{slot} + 1) * floats_; }
  void copy(f32* to, const f32* from) const noexcept { std::memcpy(to, from, static_cast<usize>(bytes())); }

  f32* data_ = nullptr;
  u64 floats_ = 0;
  u32* lengths_ = nullptr;
  u32 kept_ = 0;
};

}  // namespace jig
