#pragma once
// Matrix products for wide batches: each part of the weights is unpacked once, into a panel, and meets all columns.

#include "jig/backend/cpu/wide/kernel.hpp"
#include "jig/ops/parallel.hpp"

namespace jig::cpu {

/// Rows of W [rows, cols] times columns of activations; column c's results are a row of `out`.
struct wide_job {
  const u8* w;
  u64 w_stride;         ///< bytes between rows of weights
  const wide_group* a;  ///< [.][cols / 32]
  u32 cols, columns;
  f32* out;                                          ///< [.][rows]
  u64 out_stride;                                    ///< floats
  const u32 *a_rows = nullptr, *out_rows = nullptr;  ///< by column; null: the first ones

  const wide_group* groups(u32 column, u32 at) const noexcept {
    return a + (u64{a_rows ? a_rows[column] : column} * cols + at) / 32;
  }
  f32* results(u32 column) const noexcept { return out + (out_rows ? out_rows[column] : column) * out_stride; }
};
using wide_fn = void (*)(const wide_job&, u64 begin, u64 end);

namespace detail {

/// A panel of n columns times all columns of activations; `rows` of its rows are results, from row r on.
template <class O, class W>
void wide_panel(const wide_job& j, const panel& p, u64 r, u32 rows, u32 at, u32 n) noexcept {
  constexpr u32 step = O::columns;
  for (u32 c = 0; c < j.columns; c += step) {
    const u32 columns = j.columns - c < step ? j.columns - c : step;
    alignas(64) f32 beside[step][panel_rows];  // for the last rows of a product
    const wide_group* a[step];
    f32* out[step];
    for (u32 k = 0; k < columns; ++k) {
      a[k] = j.groups(c + k, at);
      out[k] = j.results(c + k) + r;
      if (rows == panel_rows) continue;
      for (u32 i = 0; i < panel_rows; ++i) beside[k][i] = i < rows && at != 0 ? out[k][i] : 0.0f;
      out[k] = beside[k];
    }
    wide_columns<O, panel_group<W>, has_min<W>, one_scale<W>>(p, n, columns, a, at == 0, out);
    for (u32 k = 0; k < columns && rows < panel_rows; ++k)
      for (u32 i = 0; i < rows; ++i) j.results(c + k)[r + i] = beside[k][i];
  }
}

}  // namespace detail

/// Rows [begin, end) of a product with weights of type W.
template <class O, class W>
void wide_rows(const wide_job& j, u64 begin, u64 end) noexcept {
  panel p;
  for (u64 r = begin; r < end; r += panel_rows) {
    const u32 rows = static_cast<u32>(end - r < panel_rows ? end - r : panel_rows);
    for (u32 at = 0; at < j.cols; at += panel_cols) {
      const u32 n = j.cols - at < panel_cols ? j.cols - at : panel_cols;
      pack_panel<W>(j.w + r * j.w_stride + at / W::size * sizeof(W), j.w_stride, rows, n, O::offset, p);
      detail::wide_panel<O, W>(j, p, r, rows, at, n);
    }
  }
}

/// The wide product for weights with this type number; null if there is none on this instruction set.
template <isa::tag Isa, class Quants>
wide_fn find_wide(u32 type) noexcept {
  using ops = decltype(wide_ops(Isa{}));
  wide_fn f = nullptr;
  if constexpr (!std::is_void_v<ops>)
    visit_id(Quants{}, type, [&]<class W>(type_tag<W>) {
      if constexpr (coded_block<W>) f = wide_rows<ops, W>;
    });
  return f;
}

}  // namespace jig::cpu
