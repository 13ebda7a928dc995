#pragma once
// Joining neighbours, best pair first: the core of SPM and BPE tokenizers.
//
// Symbols form a doubly linked list in one array. Each symbol with a joinable right neighbour stands in a binary
// heap ordered by (key, position), so equal keys join leftmost first. The heap always holds exactly the pairs that
// are neighbours now (entries are moved or removed, never left to go stale): n symbols need n places, and n of them
// are joined in O(n log n) whatever the text.

#include <span>

#include "jig/core/types.hpp"

namespace jig {

/// A symbol of the text, its place in the list and its candidate for joining with the next symbol: 32 bytes.
struct merge_symbol {
  static constexpr u32 none = ~u32{0};
  u32 begin;     ///< first byte in the text; the symbol reaches to the next one's first byte
  u32 previous;  ///< index or none
  u32 next;      ///< index or none
  i32 id;        ///< token, or -1
  u32 key;       ///< candidate: smaller joins earlier
  i32 joined;    ///< candidate: the token that comes of it
  u32 place;     ///< where in the heap, or none
  u32 heap;      ///< the heap's own array: entry k is symbols[k].heap
};

/// What joining two neighbours gives; `joined` < 0: they don't join.
struct merge_candidate {
  u32 key = 0;
  i32 joined = -1;
};

namespace detail {

/// The heap inside the symbols' array.
class merge_heap {
 public:
  explicit merge_heap(std::span<merge_symbol> symbols) noexcept : s_(symbols) {}
  bool empty() const noexcept { return size_ == 0; }
  u32 top() const noexcept { return s_[0].heap; }
  u64 steps() const noexcept { return steps_; }

  void insert(u32 symbol) noexcept {
    put(size_++, symbol);
    up(size_ - 1);
  }
  void remove(u32 symbol) noexcept {
    const u32 place = s_[symbol].place;
    s_[symbol].place = merge_symbol::none;
    const u32 last = s_[--size_].heap;
    if (last == symbol) return;
    put(place, last);
    moved(last);
  }
  /// Restores the order after the symbol's key changed.
  void moved(u32 symbol) noexcept {
    up(s_[symbol].place);
    down(s_[symbol].place);
  }

 private:
  bool before(u32 a, u32 b) const noexcept { return s_[a].key != s_[b].key ? s_[a].key < s_[b].key : a < b; }
  void put(u32 place, u32 symbol) noexcept {
    ++steps_;
    s_[place].heap = symbol;
    s_[symbol].place = place;
  }
  void up(u32 place) noexcept {
    const u32 symbol = s_[place].heap;
    for (; place > 0 && before(symbol, s_[(place - 1) / 2].heap); place = (place - 1) / 2)
      put(place, s_[(place - 1) / 2].heap);
    put(place, symbol);
  }
  void down(u32 place) noexcept {
    const u32 symbol = s_[place].heap;
    for (;;) {
      u32 child = 2 * place + 1;
      if (child >= size_) break;
      if (child + 1 < size_ && before(s_[child + 1].heap, s_[child].heap)) ++child;
      if (!before(s_[child].heap, symbol)) break;
      put(place, s_[child].heap);
      place = child;
    }
    put(place, symbol);
  }

  std::span<merge_symbol> s_;
  u32 size_ = 0;
  u64 steps_ = 0;
};

}  // namespace detail

/// Joins until no neighbours join. On entry begin and id of each symbol are set; on return the list from symbols[0]
/// along `next` holds the result. `join(l, r)` gives the merge_candidate of the neighbouring symbols l and r (r's end
/// follows from s[r].next). Returns the number of heap moves and candidates looked at, for tests.
template <class Join>
u64 merge_symbols(std::span<merge_symbol> s, Join&& join) noexcept {
  const u32 n = static_cast<u32>(s.size());
  detail::merge_heap heap(s);
  u64 looked = 0;
  const auto offer = [&](u32 l) {
    const u32 r = s[l].next;
    merge_candidate c;
    if (r != merge_symbol::none) c = join(l, r), ++looked;
    const bool queued = s[l].place != merge_symbol::none;
    s[l].key = c.key, s[l].joined = c.joined;
    if (c.joined < 0) {
      if (queued) heap.remove(l);
    } else if (queued) {
      heap.moved(l);
    } else {
      heap.insert(l);
    }
  };
  for (u32 i = 0; i < n; ++i) {
    s[i].previous = i == 0 ? merge_symbol::none : i - 1;
    s[i].next = i + 1 == n ? merge_symbol::none : i + 1;
    s[i].place = merge_symbol::none;
  }
  for (u32 i = 0; i < n; ++i) offer(i);
  while (!heap.empty()) {
    const u32 l = heap.top(), r = s[l].next;
    s[l].id = s[l].joined;
    if (s[r].place != merge_symbol::none) heap.remove(r);
    s[l].next = s[r].next;
    if (s[r].next != merge_symbol::none) s[s[r].next].previous = l;
    if (s[l].previous != merge_symbol::none) offer(s[l].previous);
    offer(l);
  }
  return heap.steps() + looked;
}

}  // namespace jig
