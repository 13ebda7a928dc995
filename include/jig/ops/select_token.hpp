#pragma once
// How the best cells of one token are found, and which cells a list of blocks means: shared by every kernel set, which
// only brings the scores.

#include <limits>

#include "jig/ops/kv_rows.hpp"
#include "jig/ops/selection.hpp"

namespace jig {

/// The cells that a list of blocks means for a token, in ascending order: cells[0] to cells[size() - 1].
struct listed_cells {
  const u32* blocks;
  u32 block, n;

  constexpr u32 size() const noexcept { return n; }
  constexpr u32 operator[](u32 i) const noexcept {
    return block == 1 ? blocks[i] : blocks[i / block] * block + i % block;
  }
};

/// The cells of list [number, blocks...] that lie before `end`, where the last block may be cut off.
constexpr listed_cells cells_of(const u32* list, u32 block, u32 end) noexcept {
  const u32 blocks = list[0], last = (list[blocks] + 1) * block;
  return {list + 1, block, blocks * block - (last > end ? last - end : 0)};
}

/// The cells that token t and a key/value head see of what was chosen. Windows and chunks are not for such attention.
constexpr listed_cells chosen_cells(const chosen_blocks& chosen, const batch& b, u32 t, u32 head_kv) noexcept {
  return cells_of(chosen.list_of_head(t, head_kv), chosen.block, visible_cells({}, b, t).end);
}

/// A list that keeps the `width` best of the blocks that it is offered, with their scores: the larger score, the lower
/// block of equals. A full list is a heap whose first entry is the worst.
struct best_blocks {
  u32* list;    ///< [1 + width]: the number of entries, entries
  f32* scores;  ///< [width]
  u32 width;

  constexpr void offer(u32 block, f32 score) const noexcept {
    const auto worse = [this](u32 i, u32 j) {
      return scores[i] < scores[j] || (scores[i] == scores[j] && list[1 + i] > list[1 + j]);
    };
    u32& n = list[0];
    if (n < width) {
      list[++n] = block;
      scores[n - 1] = score;
      if (n == width) arrange(worse);
    } else if (score > scores[0] || (score == scores[0] && block < list[1])) {
      list[1] = block;
      scores[0] = score;
      sink(0, n, worse);
    }
  }

  /// Sorts the entries by block.
  constexpr void sort() const noexcept {
    const auto later = [this](u32 i, u32 j) { return list[1 + i] > list[1 + j]; };
    arrange(later);
    for (u32 n = list[0]; n > 1; --n) {
      swap(0, n - 1);
      sink(0, n - 1, later);
    }
  }

 private:
  template <class First>
  constexpr void arrange(First first) const noexcept {
    for (u32 i = list[0] / 2; i-- > 0;) sink(i, list[0], first);
  }
  /// Moves entry i of the first n down to where none of its children comes first.
  template <class First>
  constexpr void sink(u32 i, u32 n, First first) const noexcept {
    for (u32 child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
      if (child + 1 < n && first(child + 1, child)) ++child;
      if (!first(child, i)) return;
      swap(i, child);
    }
  }
  constexpr void swap(u32 i, u32 j) const noexcept {
    const u32 block = list[1 + i];
    list[1 + i] = list[1 + j];
    list[1 + j] = block;
    const f32 score = scores[i];
    scores[i] = scores[j];
    scores[j] = score;
  }
};

/// The lists of one token while they are made: list l begins at word l * (1 + width).
struct best_lists {
  u32* lists;
  f32* scores;  ///< [lists][width]
  u32 n, width;

  constexpr best_blocks operator[](u32 l) const noexcept {
    return {lists + u64{l} * (1 + u64{width}), scores + u64{l} * width, width};
  }
  constexpr void clear() const noexcept {
    for (u32 l = 0; l < n; ++l) (*this)[l].list[0] = 0;
  }
  constexpr void sort() const noexcept {
    for (u32 l = 0; l < n; ++l) (*this)[l].sort();
  }
};

/// Blocks that token t sees, the last one perhaps in part.
constexpr u32 seen_blocks(const select_args& a, const batch& b, u32 t) noexcept {
  if (a.one_key) return (b.cell[t] + 1) / a.block;
  return (visible_cells({}, b, t).end - 1) / a.block + 1;
}

/// offer_blocks where neighbouring cells share a key.
template <class Score>
constexpr void offer_sharing(const select_args& a, const batch& b, u32 t, u32 first, u32 last, const best_lists& to,
                             f32* scratch, Score&& score) noexcept {
  const u32 end = visible_cells({}, b, t).end, complete = end - end % a.shared;
  constexpr f32 lowest = std::numeric_limits<f32>::lowest();
  for (u32 cell = first; cell < last; ++cell) {
    const u32 at = cell % a.shared;
    if (cell < complete && (cell == first || at == 0)) score(cell - at + a.shared - 1, scratch);
    for (u32 l = 0; l < to.n; ++l) {
      const f32 s = cell < complete ? scratch[l] : std::numeric_limits<f32>::infinity();
      to[l].offer(cell, s > lowest ? s : lowest);
    }
  }
}

/// Offers the blocks [first, last) that token t sees to its lists. score(cell, out) gives what a cell scores for each
/// list; a score that is no number counts as the lowest. scratch: 2 * lists floats.
template <class Score>
constexpr void offer_blocks(const select_args& a, const batch& b, u32 t, u32 first, u32 last, const best_lists& to,
                            f32* scratch, Score&& score) noexcept {
  if (a.shared > 1) return offer_sharing(a, b, t, first, last, to, scratch, score);
  const u32 end = visible_cells({}, b, t).end, own = b.cell[t] / a.block, keys = a.one_key ? 1 : a.block;
  f32 *best = scratch, *now = scratch + to.n;
  for (u32 block = first; block < last; ++block) {
    const bool local = block <= own && own - block < a.n_local;
    const u32 from = (block + 1) * a.block - keys;
    for (u32 l = 0; l < to.n; ++l)
      best[l] = local ? std::numeric_limits<f32>::infinity() : std::numeric_limits<f32>::lowest();
    for (u32 cell = from; cell < end && cell - from < keys && !local; ++cell) {
      score(cell, now);
      for (u32 l = 0; l < to.n; ++l) best[l] = now[l] > best[l] ? now[l] : best[l];
    }
    for (u32 l = 0; l < to.n; ++l) to[l].offer(block, best[l]);
  }
}

/// Writes token t's lists, see offer_blocks. scratch: lists * (2 + top_k) floats.
template <class Score>
constexpr void select_token(const select_args& a, const batch& b, u32 t, const chosen_blocks& chosen, f32* scratch,
                            Score&& score) noexcept {
  const u32 lists = a.lists();
  const best_lists to{chosen.list(t, 0), scratch + 2 * u64{lists}, lists, a.top_k};
  to.clear();
  offer_blocks(a, b, t, 0, seen_blocks(a, b, t), to, scratch, score);
  to.sort();
}

}  // namespace jig
