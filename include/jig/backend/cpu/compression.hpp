#pragma once
// Compressed attention (ops/compression.hpp): the rows of groups, and attention to them.

#include "jig/backend/cpu/attention.hpp"
#include "jig/ops/compression.hpp"

namespace jig::cpu {

namespace detail {

/// The columns [from, from + n) of one group's row. n <= 32, so that they are whole blocks of every element type.
template <class V, class T>
void compress_columns(const compress_args& a, const kv_rows<T>& rows, const cell_range& cells, u32 from, u32 n,
                      f32* out) noexcept {
  f32 top[32], weight[32], sum[32], mixed[32], decoded[32];
  const auto part = [&](const u8* row) {
    return row_floats<V, T>(row + u64{from} / T::size * sizeof(T), n, decoded);
  };
  const auto scores = [&](u32 cell) { return part(rows.value(cell, a.head(cell, cells.end - 1))); };
  for (u32 i = 0; i < n; ++i) top[i] = std::numeric_limits<f32>::lowest(), sum[i] = mixed[i] = 0.0f;
  for (u32 cell = cells.begin; cell < cells.end; ++cell)
    transform<V>(top, scores(cell), n, [](V t, V s) { return larger(s, t); });
  for (u32 cell = cells.begin; cell < cells.end; ++cell) {
    std::memcpy(weight, scores(cell), n * sizeof(f32));
    transform<V>(weight, top, n, [](V s, V t) { return exp(s - t); });
    transform<V>(sum, weight, n, [](V s, V w) { return s + w; });
    transform<V>(weight, part(rows.key(cell, a.head(cell, cells.end - 1))), n, [](V w, V v) { return w * v; });
    transform<V>(mixed, weight, n, [](V m, V w) { return m + w; });
  }
  transform<V>(mixed, sum, n, [](V m, V s) { return m / s; });
  std::memcpy(out, mixed, n * sizeof(f32));
}

}  // namespace detail

/// out [tokens, dim]: the row of the group that ends with the token, else zeros.
/// Absolute error below 1e-6 * (1 + largest |score|) * the largest |v|, and 2 * group * 6e-8 of that.
template <class V, class Kv>
void compress(const parallel& p, const compress_args& a, const batch& b, const mat& out) noexcept {
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    p.for_rows(out.rows, 1, [&](u64 begin, u64 end) {
      for (u32 t = static_cast<u32>(begin); t < end; ++t) {
        const cell_range cells = a.cells(b.cell[t]);
        const kv_rows<T> rows(a.inputs(), b, b.sequence[t]);
        for (u32 from = 0; from < a.dim; from += 32) {
          const u32 n = a.dim - from < 32 ? a.dim - from : 32;
          if (cells.size() != 0) detail::compress_columns<V>(a, rows, cells, from, n, out.row(t) + from);
          else std::memset(out.row(t) + from, 0, n * sizeof(f32));
        }
      }
    });
  });
}

/// `attend` over windows and rows of groups; shapes, scratch and error as there.
template <class V, class Kv>
void attend_compressed(const parallel& p, const attend_args& a, const batch& b, const mat& q,
                       const chosen_blocks& chosen, u8* scratch, const mat& out) noexcept {
  u64 work = 0;
  for (u32 t = 0; t < b.n_tokens; ++t)
    work += u64{compressed_cells_of(a, chosen, b, t).size()} * a.n_head * (a.dim_k + a.dim_v);
  detail::attend_all<V, Kv>(p, a, b, work, q, scratch, out,
                            [&](u32 t, u32) { return compressed_cells_of(a, chosen, b, t); });
}

}  // namespace jig::cpu
