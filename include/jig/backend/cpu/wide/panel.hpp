#pragma once
// Panels: some rows of weights of any type as 8-bit codes, so laid out that a vector holds four codes of each of many
// rows. One product loop then serves all types; unpacking is paid once for all columns of a wide batch.
//
//   value = scale[group] * code - minimum[group]
//
// in groups of 16 or 32 values, codes signed, or with 128 added where the instruction set multiplies unsigned codes.

#include <cstring>

#include "jig/backend/cpu/sizes.hpp"
#include "jig/quant/coded.hpp"

namespace jig::cpu {

/// Rows in a panel, and the most columns of weights that it covers: it stays in the first-level cache.
inline constexpr u32 panel_rows = 64, panel_cols = 256;

/// How a block type becomes a panel's groups: types with larger groups repeat their scales.
template <class W>
inline constexpr u32 panel_group = W::group < 32 ? 16 : 32;

/// Whether the activations beside a panel's columns have one scale, which is then applied once.
template <class W>
inline constexpr bool one_scale = partner<W>::size == panel_cols;

/// The panel of panel_rows rows. Of n columns, codes holds n / 4 times four codes of every row.
struct panel {
  alignas(64) i8 codes[panel_cols / 4][panel_rows][4];
  alignas(64) f32 scales[panel_cols / 16][panel_rows];
  alignas(64) f32 minima[panel_cols / 16][panel_rows];  ///< of types that have such
};

namespace detail {

/// Unpacks one row of n columns into row r of the panel.
template <class W>
void pack_row(const W* blocks, u32 r, u32 n, u8 offset, panel& p) noexcept {
  constexpr u32 group = panel_group<W>;
  for (u32 b = 0; b < n / W::size; ++b) {
    const W& block = blocks[b];
    const auto& codes = W::codes(block);
    code_array<u8, W::size> bytes;
    for (u32 i = 0; i < W::size; ++i) bytes[i] = static_cast<u8>(codes[i] - W::bias + offset);
    const u32 at = b * static_cast<u32>(W::size);
    for (u32 i = 0; i < W::size; i += 4) std::memcpy(p.codes[(at + i) / 4][r], bytes.data() + i, 4);
    const f32 scale = W::scale(block);
    f32 minimum = 0.0f;
    if constexpr (has_min<W>) minimum = W::min(block);
    for (u32 g = 0; g < W::size / group; ++g) {
      const u32 from = g * group / static_cast<u32>(W::group);
      p.scales[at / group + g][r] = scale * static_cast<f32>(group_scale(block, from));
      if constexpr (has_min<W>) p.minima[at / group + g][r] = minimum * static_cast<f32>(group_min(block, from));
    }
  }
}

}  // namespace detail

/// Unpacks `n` columns (a multiple of W::size, at most panel_cols) of `rows` rows, `stride` bytes apart, from w on.
/// Rows that are not there become 0. `offset` is added to the codes, modulo 256.
template <class W>
void pack_panel(const u8* w, u64 stride, u32 rows, u32 n, u8 offset, panel& p) noexcept {
  for (u32 r = 0; r < rows; ++r) detail::pack_row(reinterpret_cast<const W*>(w + r * stride), r, n, offset, p);
  for (u32 r = rows; r < panel_rows; ++r) {
    for (u32 k = 0; k < n / 4; ++k) std::memset(p.codes[k][r], 0, 4);
    for (u32 g = 0; g < n / 16; ++g) p.scales[g][r] = p.minima[g][r] = 0.0f;
  }
}

}  // namespace jig::cpu
