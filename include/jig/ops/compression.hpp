#pragma once
// Compressed attention (DeepSeek V4): a token sees the keys of its window and, of all that lies before, one row for
// each group of cells, or for some of the groups. Keys are values, too.
//
// The row of a group is a sum of vectors of its cells, and of those of the group before if groups overlap, weighed in
// every column by a softmax over scores. Vectors and scores are remembered for every cell, the row in the group's last
// one, so that a sequence may go on after any cell.

#include "jig/ops/args.hpp"
#include "jig/ops/kv_rows.hpp"
#include "jig/ops/selection.hpp"

namespace jig {

/// How rows of groups are made.
struct compress_args {
  u32 group = 0;          ///< cells of a group
  bool overlaps = false;  ///< a cell has another vector for the row of the next group, which stands in front of its own
  u32 dim = 0;            ///< of a row
  u64 page_offset = 0;    ///< bytes from a page's start to the vectors

  /// The vectors as the keys of an attention, the scores as its values, a head for each row that a cell takes part in.
  constexpr attend_args inputs() const noexcept {
    const u32 heads = overlaps ? 2 : 1;
    return {.n_head = heads, .n_head_kv = heads, .dim_k = dim, .dim_v = dim, .page_offset = page_offset};
  }
  /// The cells that a row is made of whose group ends with this one; none if no group does.
  constexpr cell_range cells(u32 last) const noexcept {
    if ((last + 1) % group != 0) return {0, 0};
    const u32 n = overlaps && last >= group ? 2 * group : group;
    return {last + 1 - n, last + 1};
  }
  /// The head of a cell among them.
  constexpr u32 head(u32 cell, u32 last) const noexcept { return overlaps && last - cell < group ? 1 : 0; }
};

/// What a token sees: the cells of its window, then the last cells of groups, for their rows.
struct compressed_cells {
  cell_range window;
  const u32* groups;  ///< the list of them, or null: the first `n`
  u32 n, group;

  constexpr u32 size() const noexcept { return window.size() + n; }
  constexpr bool is_group(u32 i) const noexcept { return i >= window.size(); }
  constexpr u32 operator[](u32 i) const noexcept {
    if (!is_group(i)) return window[i];
    const u32 j = i - window.size();
    return (groups != nullptr ? groups[j] : j) * group + group - 1;
  }
};

/// What token t sees: groups that are complete, all or those chosen.
constexpr compressed_cells compressed_cells_of(const attend_args& a, const chosen_blocks& chosen, const batch& b,
                                               u32 t) noexcept {
  const cell_range window = visible_cells(a, b, t);
  if (chosen.stride == 0) return {window, nullptr, (b.cell[t] + 1) / a.group, a.group};
  const u32* list = chosen.list(t, 0);
  return {window, list + 1, list[0], a.group};
}

/// The row that the i-th of what a token sees has as its key.
template <class Rows, class Cells>
u8* seen_key(const Rows& rows, const Cells& cells, u32 i, u32 head) noexcept {
  if constexpr (requires { cells.is_group(i); })
    if (cells.is_group(i)) return rows.group(cells[i], head);
  return rows.key(cells[i], head);
}
/// The same as its value.
template <class Rows, class Cells>
u8* seen_value(const Rows& rows, const Cells& cells, u32 i, u32 head) noexcept {
  if constexpr (requires { cells.is_group(i); }) return seen_key(rows, cells, i, head);
  else return rows.value(cells[i], head);
}

}  // namespace jig
