#pragma once
// Reads the packed grids of the IQ types and the sign bytes that go with them, eight values at a time in the bytes of a
// 64-bit word.

#include <bit>
#include <cstring>
#include <type_traits>

#include "jig/core/endian.hpp"

namespace jig::codebook {

/// Value j (j < Grid::coordinates) of a grid entry that was loaded from Grid::entries.
template <class Grid>
constexpr i32 grid_value(u32 entry, usize j) noexcept {
  return Grid::levels[(entry >> (Grid::bits * j)) & ((1u << Grid::bits) - 1)];
}

/// The eight sign bits of a 7-bit sign index: its own bits and their parity, so that the number of negative values
/// is always even. (This rule replaces a table of 128 bytes.)
constexpr u32 sign7(u32 index) noexcept { return index | ((static_cast<u32>(std::popcount(index)) & 1u) << 7); }

namespace detail {

inline constexpr u64 ones = 0x0101010101010101;

/// Bytewise a + b, modulo 256.
constexpr u64 add_bytes(u64 a, u64 b) noexcept {
  constexpr u64 top = 0x80 * ones;
  return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
}

/// Byte j: bit j of `bits`.
constexpr u64 spread_bits(u32 bits) noexcept {
  const u64 own = ((bits & 0xff) * ones) & 0x8040201008040201;
  return ((own + 0x7f * ones) >> 7) & ones;
}

/// Byte j: the level number j of an entry.
template <class Grid>
constexpr u64 spread_entry(u64 e) noexcept {
  if constexpr (Grid::bits == 2) {
    e = (e | (e << 24)) & 0x000000ff000000ff;
    e = (e | (e << 12)) & 0x000f000f000f000f;
    return (e | (e << 6)) & (3 * ones);
  } else {
    static_assert(Grid::bits == 3 && Grid::coordinates == 4);
    e = (e | (e << 10)) & 0x003f003f;
    return (e | (e << 5)) & 0x07070707;
  }
}

/// What the product of the level number's bits in `set` adds to a level, so that all sums are Grid::levels. A level of
/// 0 is one that no entry has.
template <class Grid>
constexpr i32 term_of(u32 set) noexcept {
  if (Grid::levels[set] == 0) return 0;
  i32 sum = 0;
  for (u32 k = 0; k <= set; ++k)
    if ((k & set) == k) sum += (std::popcount(set ^ k) & 1) != 0 ? -Grid::levels[k] : Grid::levels[k];
  return sum;
}

/// The levels of an entry, a byte each.
template <class Grid, u32 Set = 0>
constexpr u64 levels_of(u64 numbers) noexcept {
  constexpr i32 term = term_of<Grid>(Set);
  static_assert(term >= 0, "bytes of sums must not borrow from each other");
  u64 sum = 0;
  if constexpr (term != 0) {
    u64 product = ones;
    for (u32 bit = 0; bit < Grid::bits; ++bit)
      if ((Set >> bit) & 1) product &= numbers >> bit;
    sum = product * term;
  }
  if constexpr (Set + 1 < (1u << Grid::bits)) sum += levels_of<Grid, Set + 1>(numbers);
  return sum;
}

template <class Grid>
constexpr void store_values(u64 values, i8* out) noexcept {
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    std::memcpy(out, &values, Grid::coordinates);
    return;
  }
  for (usize j = 0; j < Grid::coordinates; ++j) out[j] = static_cast<i8>(static_cast<u8>(values >> (8 * j)));
}

}  // namespace detail

/// The magnitudes of one grid entry with their signs: bit j of `signs` makes value j negative.
template <class Grid>
constexpr void signed_values(u32 index, u32 signs, i8* out) noexcept {
  const u64 levels = detail::levels_of<Grid>(detail::spread_entry<Grid>(Grid::entries[index]));
  const u64 negative = detail::spread_bits(signs);
  detail::store_values<Grid>((levels ^ (negative * 0xff)) + negative, out);  // no level is 0: no byte carries
}

/// The ternary digits of one grid entry, times eight, plus `shift` (1 or -1).
template <class Grid>
constexpr void shifted_digits(u32 index, i32 shift, i8* out) noexcept {
  static_assert(Grid::levels[0] == -1 && Grid::levels[1] == 0 && Grid::levels[2] == 1);
  const u64 eightfold = detail::spread_entry<Grid>(Grid::entries[index]) << 3;
  detail::store_values<Grid>(detail::add_bytes(eightfold, detail::ones * static_cast<u8>(shift - 8)), out);
}

}  // namespace jig::codebook
