#pragma once
// What kernels see: activations as row-major f32 matrices, weights as typed rows of blocks.
//
// Plain data without ownership, so that it crosses function-pointer tables, languages and devices.

#include <type_traits>

#include "jig/core/types.hpp"

namespace jig {

/// A view of activations: [rows, cols] f32, row-major, rows `stride` floats apart.
struct mat {
  f32* data = nullptr;
  u32 rows = 0, cols = 0, stride = 0;

  constexpr f32* row(u32 r) const noexcept { return data + usize{r} * stride; }
  /// The columns [from, from + n) of the same rows.
  constexpr mat columns(u32 from, u32 n) const noexcept { return {data ? data + from : nullptr, rows, n, stride}; }
  /// Row r alone.
  constexpr mat only(u32 r) const noexcept { return {data ? row(r) : nullptr, 1, cols, stride}; }
  /// The same columns of each of n_head heads as rows of their own: [rows * n_head, n]. Rows lie without gaps between.
  constexpr mat heads(u32 n_head, u32 from, u32 n) const noexcept {
    return {data ? data + from : nullptr, rows * n_head, n, cols / n_head};
  }
};

/// A weight tensor in its file's block type: `count` matrices of `rows` rows of `cols` values.
/// A vector has rows = count = 1. Absent tensors have no data.
struct weight {
  const u8* data = nullptr;
  u32 type = 0;  ///< GGUF tensor type id
  u32 cols = 0, rows = 0, count = 0;

  constexpr explicit operator bool() const noexcept { return cols != 0; }
  /// The values of an f32 vector in host byte order.
  const f32* floats() const noexcept { return reinterpret_cast<const f32*>(data); }
};

/// The f32 values of w as a row that stands in `rows` rows at once, for operations that read a second matrix.
constexpr mat row_of(const weight& w, u32 rows) noexcept {
  const u32 cols = w.cols * w.rows * w.count;
  if (std::is_constant_evaluated()) return {nullptr, rows, cols, 0};
  return {const_cast<f32*>(w.floats()), rows, cols, 0};
}

/// A matrix with what a file may hang on it: y = scale * (W x) + bias.
/// bias: [rows] f32, or [rows, count] for stacked experts; scale: one f32, or one per expert.
struct linear {
  weight w, bias, scale;
  constexpr explicit operator bool() const noexcept { return static_cast<bool>(w); }
};

}  // namespace jig
