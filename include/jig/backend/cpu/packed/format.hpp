#pragma once
// Packed weights: how matrices lie in memory for fast products, whatever their block type was in the file. Products of
// few and of many rows of activations then share one inner loop, and one order of sums.
//
// Sixteen rows stand side by side: a tile. 32 columns of it are eight steps of four columns; a step is 64 bytes, four
// codes for each row, so that a vector holds the same columns of several rows and nothing is ever summed across lanes.
// The bits of the codes are split into planes. A plane of 4 bits keeps two steps in each byte, one of 2 bits four, one
// of 1 bit all eight; codes of 3, 5 and 6 bits have a plane for their low bits and a plane for the rest. Codes of types
// whose values are not evenly spaced are numbers of values in a table of at most 16: grids and signs are gone.
//
//   tile = planes of all columns, then the scales of all blocks, each as 16 numbers side by side
//
// Scales are those of the type, in no more bytes than they need: a half for each group, or a byte for each group beside
// one number for the block. Everything is exact: a packed matrix has the same values as the file's.

#include <array>

#include "jig/backend/cpu/sizes.hpp"
#include "jig/ops/tensor.hpp"
#include "jig/quant/all.hpp"

namespace jig::cpu {

/// Rows of a tile.
inline constexpr u32 packed_rows = 16;

/// How floats of a type's scales are kept: as f16, as bf16 or as f32.
enum class scale_format : u8 { half, brain, single };

/// The codes of a type: `bits` of each, and the numbers they stand for if `table` says so (else code - bias).
struct code_format {
  u32 bits;
  scale_format scales = scale_format::half;
  bool table = false;
  std::array<i8, 16> values = {};

  constexpr u32 low_bits() const noexcept { return bits >= 8 ? 8 : bits >= 4 ? 4 : bits >= 2 ? 2 : 1; }
  constexpr u32 high_bits() const noexcept { return bits - low_bits(); }
};

namespace detail {

/// Codes that number the entries of `values`.
template <usize N>
constexpr code_format numbered(u32 bits, const i8 (&values)[N], scale_format scales = scale_format::half) noexcept {
  code_format f{bits, scales, true};
  for (usize i = 0; i < N; ++i) f.values[i] = values[i];
  return f;
}

/// Codes that number a grid's levels and their negatives.
template <class Grid>
constexpr code_format numbered_levels(scale_format scales) noexcept {
  constexpr u32 n = 1u << Grid::bits;
  code_format f{Grid::bits + 1, scales, true};
  for (u32 i = 0; i < n; ++i) {
    f.values[i] = Grid::levels[i];
    f.values[n + i] = static_cast<i8>(-Grid::levels[i]);
  }
  return f;
}

inline constexpr i8 two_signs[2] = {-1, 1};
inline constexpr i8 shifted_digits[6] = {-9, -7, -1, 1, 7, 9};  // 8 * digit + 1 and - 1

}  // namespace detail

/// The codes of type W; a new block type states its own here. Scales that are a half times a power of two are single.
template <class W>
inline constexpr code_format codes_of = {8};
template <>
inline constexpr code_format codes_of<q4_0> = {4};
template <>
inline constexpr code_format codes_of<q4_1> = {4};
template <>
inline constexpr code_format codes_of<q5_0> = {5};
template <>
inline constexpr code_format codes_of<q5_1> = {5};
template <>
inline constexpr code_format codes_of<q2_k> = {2};
template <>
inline constexpr code_format codes_of<q3_k> = {3};
template <>
inline constexpr code_format codes_of<q4_k> = {4};
template <>
inline constexpr code_format codes_of<q5_k> = {5};
template <>
inline constexpr code_format codes_of<q6_k> = {6};
template <>
inline constexpr code_format codes_of<tq1_0> = {2};
template <>
inline constexpr code_format codes_of<tq2_0> = {2};
template <>
inline constexpr code_format codes_of<q2_0> = {2};
template <>
inline constexpr code_format codes_of<q1_0> = detail::numbered(1, detail::two_signs);
template <>
inline constexpr code_format codes_of<iq4_nl> = detail::numbered(4, codebook::iq4_nl);
template <>
inline constexpr code_format codes_of<iq4_xs> = detail::numbered(4, codebook::iq4_nl);
template <>
inline constexpr code_format codes_of<mxfp4> = detail::numbered(4, codebook::e2m1_doubled, scale_format::brain);
template <>
inline constexpr code_format codes_of<nvfp4> = detail::numbered(4, codebook::e2m1_doubled);
template <>
inline constexpr code_format codes_of<iq1_s> = detail::numbered(3, detail::shifted_digits, scale_format::single);
template <>
inline constexpr code_format codes_of<iq1_m> = detail::numbered(3, detail::shifted_digits, scale_format::single);
template <>
inline constexpr code_format codes_of<iq2_xxs> = detail::numbered_levels<codebook::iq2_xxs_grid>(scale_format::single);
template <>
inline constexpr code_format codes_of<iq2_xs> = detail::numbered_levels<codebook::iq2_xs_grid>(scale_format::single);
template <>
inline constexpr code_format codes_of<iq2_s> = detail::numbered_levels<codebook::iq2_s_grid>(scale_format::single);
template <>
inline constexpr code_format codes_of<iq3_xxs> = detail::numbered_levels<codebook::iq3_xxs_grid>(scale_format::single);
template <>
inline constexpr code_format codes_of<iq3_s> = detail::numbered_levels<codebook::iq3_s_grid>(scale_format::half);

/// Where a tile of type W has what.
template <class W>
struct packed_layout {
  static constexpr code_format codes = codes_of<W>;
  /// Whether groups have whole numbers as scales, beside a float for the block.
  static constexpr bool two_levels = requires(const W& b) {
    { W::group_scale(b, 0) } -> std::same_as<i32>;
  };
  static constexpr u32 groups = W::size / W::group;
  static constexpr u32 float_bytes = codes.scales == scale_format::single ? 4 : 2;
  /// Bytes of 32 columns' codes; of one group's scales or minima; of all of a block's.
  static constexpr u32 codes_bytes = 64 * codes.bits;
  static constexpr u32 group_bytes = packed_rows * (two_levels ? 1 : float_bytes);
  static constexpr u32 parts = has_min<W> ? 2 : 1;
  static constexpr u32 block_bytes = parts * (groups * group_bytes + (two_levels ? packed_rows * float_bytes : 0));
  /// In a block's scales: the groups' minima, the block's scales, the block's minima.
  static constexpr u32 minima_at = groups * group_bytes;
  static constexpr u32 block_scales_at = parts * minima_at;
  static constexpr u32 block_minima_at = block_scales_at + packed_rows * float_bytes;

  /// In a tile of rows of `cols` columns: the scales of all blocks.
  static constexpr u64 scales_at(u64 cols) noexcept { return cols / 32 * codes_bytes; }
  static constexpr u64 tile_bytes(u64 cols) noexcept {
    return round_up(scales_at(cols) + cols / W::size * block_bytes, 64);
  }
};

/// Tiles that `rows` rows take.
constexpr u64 tiles_of(u64 rows) noexcept { return (rows + packed_rows - 1) / packed_rows; }

/// Bytes of a tile of `cols` columns of weights with this type number; 0 if they cannot be packed.
template <class Quants>
constexpr u64 packed_tile_bytes(u32 type, u64 cols) noexcept {
  u64 bytes = 0;
  visit_id(Quants{}, unpacked_type(type), [&]<class W>(type_tag<W>) {
    if constexpr (coded_block<W>) bytes = packed_layout<W>::tile_bytes(cols);
  });
  return bytes;
}

/// Bytes of a packed tensor: `count` matrices, each in whole tiles; 0 if it cannot be packed.
template <class Quants>
constexpr u64 packed_bytes(const weight& w) noexcept {
  return w.count * tiles_of(w.rows) * packed_tile_bytes<Quants>(w.type, w.cols);
}

}  // namespace jig::cpu
