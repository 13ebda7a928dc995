#pragma once
// Matrix products with packed weights. Few columns meet the codes as they come from the planes; many meet panels, to
// which planes unpack with some instructions for each 64 codes. The sums are the same, bit for bit.

#include "jig/backend/cpu/packed/pack.hpp"
#include "jig/backend/cpu/packed/source.hpp"
#include "jig/backend/cpu/wide/matmul.hpp"

namespace jig::cpu {

/// From so many columns on a panel is worth its unpacking.
inline constexpr u32 packed_panel_columns_least = 16;

namespace detail {

/// A tile times C columns from column `at` on: results [C][packed_rows]. Columns from `columns` on are the last again.
template <class O, class W, u32 C>
void tile_columns(const wide_job& j, const u8* tile, u32 at, u32 columns, f32 (*results)[packed_rows]) noexcept {
  constexpr u32 all = packed_rows / O::lanes, most = O::narrow / C, V = all < most ? all : most;
  for (u32 row = 0; row < packed_rows; row += V * O::lanes) {
    const wide_group* a[C];
    f32* out[C];
    for (u32 c = 0; c < C; ++c) out[c] = results[c] + row;
    const u32 n = one_scale<W> ? static_cast<u32>(W::size) : j.cols;
    for (u32 from = 0; from < j.cols; from += n) {
      for (u32 c = 0; c < C; ++c) a[c] = j.groups(at + (c < columns ? c : columns - 1), from);
      wide_tile<O, C, V>(tile_source<O, W>(tile, j.cols, row, from / W::size), n, a, from == 0, out);
    }
  }
}

/// Rows [begin, end), tile after tile, each against all columns.
template <class O, class W>
void packed_narrow(const wide_job& j, u64 begin, u64 end) noexcept {
  alignas(64) f32 results[4][packed_rows];
  for (u64 r = begin; r < end; r += packed_rows) {
    const u8* const tile = j.w + r / packed_rows * j.w_stride;
    const u32 rows = static_cast<u32>(end - r < packed_rows ? end - r : packed_rows);
    for (u32 c = 0; c < j.columns; c += 4) {
      const u32 now = j.columns - c < 4 ? j.columns - c : 4;
      if (now == 1) tile_columns<O, W, 1>(j, tile, c, now, results);
      else tile_columns<O, W, 4>(j, tile, c, now, results);
      for (u32 k = 0; k < now; ++k) std::memcpy(j.results(c + k) + r, results[k], rows * sizeof(f32));
    }
  }
}

/// Fills a panel with n columns of `rows` rows, from column `at` of the tile on.
template <class O, class W>
void unpack_panel(const wide_job& j, const u8* tile, u32 rows, u32 at, u32 n, panel& p) noexcept {
  constexpr u32 halves = 32 / panel_group<W>;
  for (u32 row = 0; row < panel_rows; row += O::lanes) {
    const bool there = row < rows;
    tile_source<O, W> from(tile + row / packed_rows * j.w_stride, j.cols, row % packed_rows, at / W::size);
    for (u32 g = 0; g < n / 32; ++g) {
      each_step<0, 8>([&]<u32 K>() {
        i8* const to = p.codes[8 * g + K][row];
        if (there) O::store_bytes(to, from.template panel_bytes<K>(0));
        else std::memset(to, 0, 4 * O::lanes);
      });
      each_step<0, halves>([&]<u32 H>() {
        const u32 k = g * halves + H;
        O::store(p.scales[k] + row, there ? from.scales(H, 0) : O::zero());
        if constexpr (has_min<W>) O::store(p.minima[k] + row, there ? from.minima(H, 0) : O::zero());
      });
      if (there) from.next();
    }
  }
}

/// Columns whose results are gathered beside a panel: in the first-level cache with it. Results of a product lie far
/// apart, often at distances that few cache lines share.
inline constexpr u32 gathered_columns = 48;

/// Rows [begin, end), panel after panel, each against some columns.
template <class O, class W>
void packed_wide(const wide_job& j, u64 begin, u64 end) noexcept {
  panel p;
  alignas(64) f32 gathered[gathered_columns][panel_rows];
  for (u64 r = begin; r < end; r += panel_rows) {
    const u8* const tile = j.w + r / packed_rows * j.w_stride;
    const u32 rows = static_cast<u32>(end - r < panel_rows ? end - r : panel_rows);
    for (u32 c = 0; c < j.columns; c += gathered_columns) {
      const u32 some = j.columns - c < gathered_columns ? j.columns - c : gathered_columns;
      for (u32 at = 0; at < j.cols; at += panel_cols) {
        const u32 n = j.cols - at < panel_cols ? j.cols - at : panel_cols;
        unpack_panel<O, W>(j, tile, rows, at, n, p);
        for (u32 k = 0; k < some; k += O::columns) {
          const wide_group* a[O::columns];
          f32* out[O::columns];
          const u32 now = some - k < O::columns ? some - k : O::columns;
          for (u32 i = 0; i < now; ++i) a[i] = j.groups(c + k + i, at), out[i] = gathered[k + i];
          wide_columns<O, panel_group<W>, has_min<W>, one_scale<W>>(p, n, now, a, at == 0, out);
        }
      }
      for (u32 k = 0; k < some; ++k) std::memcpy(j.results(c + k) + r, gathered[k], rows * sizeof(f32));
    }
  }
}

}  // namespace detail

/// Rows [begin, end) of a product with packed weights of type W; begin is a multiple of packed_rows, for many columns
/// of panel_rows. j.w_stride: bytes of a tile.
template <class O, class W>
void packed_product(const wide_job& j, u64 begin, u64 end) noexcept {
  if (j.columns < packed_panel_columns_least) detail::packed_narrow<O, W>(j, begin, end);
  else detail::packed_wide<O, W>(j, begin, end);
}

/// The functions for packed weights of a type: the product and the decoding of a row; null if there are none.
struct packed_functions {
  wide_fn product = nullptr;
  void (*pack)(const u8* from, u64 stride, u32 rows, u32 cols, u8* tile) = nullptr;
  void (*unpack)(const u8* tile, u32 r, u32 cols, f32* out) = nullptr;
};
template <isa::tag Isa, class Quants>
packed_functions find_packed(u32 type) noexcept {
  using ops = decltype(wide_ops(Isa{}));
  packed_functions f;
  if constexpr (!std::is_void_v<ops>)
    visit_id(Quants{}, unpacked_type(type), [&]<class W>(type_tag<W>) {
      if constexpr (coded_block<W>) f = {packed_product<ops, W>, pack_tile<W>, unpack_row<W>};
    });
  return f;
}

}  // namespace jig::cpu
