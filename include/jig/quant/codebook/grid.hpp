#pragma once
// Reads the packed grids of the IQ types and the sign bytes that go with them.

#include <bit>

#include "jig/core/types.hpp"

namespace jig::codebook {

/// Value j (j < Grid::coordinates) of a grid entry that was loaded from Grid::entries.
template <class Grid>
constexpr i32 grid_value(u32 entry, usize j) noexcept {
  return Grid::levels[(entry >> (Grid::bits * j)) & ((1u << Grid::bits) - 1)];
}

/// The eight sign bits of a 7-bit sign index: its own bits and their parity, so that the number of negative values
/// is always even. (This rule replaces a table of 128 bytes.)
constexpr u32 sign7(u32 index) noexcept { return index | ((static_cast<u32>(std::popcount(index)) & 1u) << 7); }

/// The magnitudes of one grid entry with their signs: bit j of `signs` makes value j negative.
template <class Grid>
constexpr void signed_values(u32 index, u32 signs, i8* out) noexcept {
  const u32 entry = Grid::entries[index];
  for (usize j = 0; j < Grid::coordinates; ++j) {
    const i32 magnitude = grid_value<Grid>(entry, j);
    out[j] = static_cast<i8>((signs >> j) & 1 ? -magnitude : magnitude);
  }
}

/// The ternary digits of one grid entry, times eight, plus `shift` (1 or -1).
template <class Grid>
constexpr void shifted_digits(u32 index, i32 shift, i8* out) noexcept {
  const u32 entry = Grid::entries[index];
  for (usize j = 0; j < Grid::coordinates; ++j) out[j] = static_cast<i8>(8 * grid_value<Grid>(entry, j) + shift);
}

}  // namespace jig::codebook
