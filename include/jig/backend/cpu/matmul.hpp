#pragma once
// Matrix products: activations are brought to the weights' partner format once, then rows of weights are shared out
// over the threads. The loops here know no block types; they call the type's dot function (dots/).
//
// Every result is computed by one thread in a fixed order, so neither the number of threads nor the other rows of a
// batch change a bit of it. There are two orders: that of rows' dots and, for batches of wide_columns_least rows and
// more, that of panels (wide/). Packed weights (packed/) have one order for all.

#include "jig/backend/cpu/dots/all.hpp"
#include "jig/backend/cpu/encode.hpp"
#include "jig/backend/cpu/packed/matmul.hpp"
#include "jig/backend/cpu/sizes.hpp"
#include "jig/backend/cpu/wide/matmul.hpp"
#include "jig/ops/executor.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/tensor.hpp"

namespace jig::cpu {

/// Encodes x ([rows, cols], cols a whole number of blocks) to `out`, row after row. Equal to the formats' encoders.
/// Wide: many rows are laid out for wide products, too.
template <class V, class Quants, bool Wide>
void prepare(const parallel& p, u32 type, const mat& x, u8* out) noexcept {
  const u64 bytes = encoded_row_bytes(type, x.cols);
  const bool wide = Wide && x.rows >= wide_columns_least;
  const u64 grain = x.cols >= 4096 ? 1 : 4096 / (x.cols + 1) + 1;
  wide_group* const groups =
      reinterpret_cast<wide_group*>(is_packed(type) ? out : out + wide_offset(type, x.rows, x.cols));
  for_each_type(encoded_types{}, [&]<class A>(type_tag<A>) {
    if constexpr (has_partner<A>(Quants{})) {
      if (unpacked_type(type) != A::id) return;
      if (Wide && is_packed(type)) {
        constexpr u32 n = static_cast<u32>(A::size);
        const u64 per_row = x.cols / n;
        return p.for_rows(x.rows * per_row, 4096 / n, [&](u64 begin, u64 end) {
          for (u64 k = begin; k < end; ++k) {
            A block;
            encode_blocks<V>(x.row(static_cast<u32>(k / per_row)) + k % per_row * n, 1, &block);
            widen(&block, n, groups + k * (n / 32));
          }
        });
      }
      p.for_rows(x.rows, grain, [&](u64 begin, u64 end) {
        for (u64 t = begin; t < end; ++t) {
          A* const blocks = reinterpret_cast<A*>(out + t * bytes);
          encode_blocks<V>(x.row(static_cast<u32>(t)), x.cols / A::size, blocks);
          if (wide) widen(blocks, x.cols, groups + t * (x.cols / 32));
        }
      });
    }
  });
}

namespace detail {

/// scale and bias of a linear layer on results [columns][rows] of matrix m, rows [begin, end).
inline void finish(const linear& w, u32 m, u64 begin, u64 end, f32* out, u64 out_stride, u32 columns) noexcept {
  if (!w.scale && !w.bias) return;
  const f32 factor = w.scale ? w.scale.floats()[w.scale.cols > 1 ? m : 0] : 1.0f;
  const f32* bias = w.bias ? w.bias.floats() + usize{m} * w.w.rows : nullptr;
  for (u32 c = 0; c < columns; ++c)
    for (u64 r = begin; r < end; ++r) {
      f32& y = out[c * out_stride + r];
      y = y * factor + (bias ? bias[r] : 0.0f);
    }
}

/// Rows per thread for results of `macs` multiply-adds each: some microseconds of work, a multiple of the row tile.
constexpr u64 dot_grain(u64 macs) noexcept { return macs >= 16384 ? 4 : (16384 / (macs + 1) + 4) / 4 * 4; }

/// Weight rows that stay in the first-level cache while all columns pass over them.
constexpr u32 rows_at_once(u64 row_bytes) noexcept { return row_bytes >= 4096 ? 4 : row_bytes >= 1024 ? 8 : 32; }

/// Rows [begin, end) of a job against all columns.
inline void dot_block_rows(dot_fn f, const dot_job& j, u64 begin, u64 end, u32 columns) noexcept {
  const u64 step = rows_at_once(j.w_stride);
  for (u64 r = begin; r < end; r += step) {
    const u32 rows = static_cast<u32>(end - r < step ? end - r : step);
    if (columns < 8) {
      f(part(j, static_cast<u32>(r), 0), rows, columns);
    } else {  // four columns at a time meet all rows of the block
      u32 c = 0;
      for (; c + 4 <= columns; c += 4) f(part(j, static_cast<u32>(r), c), rows, 4);
      if (c < columns) f(part(j, static_cast<u32>(r), c), rows, columns - c);
    }
  }
}

/// Where the activations of a product lie and how far apart their rows are.
inline void set_activations(dot_job& j, const activations& a) noexcept {
  j.a = a.prepared;
  j.a_stride = encoded_row_bytes(a.type, a.x.cols);
  if (j.a_stride == 0) {
    j.a = reinterpret_cast<const u8*>(a.x.data);
    j.a_stride = u64{a.x.stride} * sizeof(f32);
  }
}

/// The job of all columns.
inline wide_job wide_job_of(const u8* w, u64 row_bytes, const activations& a, const mat& out) noexcept {
  const u8* groups = is_packed(a.type) ? a.prepared : a.prepared + wide_offset(a.type, a.x.rows, a.x.cols);
  return {w, row_bytes, reinterpret_cast<const wide_group*>(groups), a.x.cols, a.x.rows, out.data, out.stride};
}

}  // namespace detail

/// out[t][r] = scale * sum_c W[r][c] x[t][c] + bias[r]: x [t, cols] as prepared for activation_type(w.w.type),
/// W [rows, cols], out [t, rows]. `row_bytes`: of a row of W. Error: of the type's dot, on activations rounded to the
/// partner format (Q8: at most 1/254 of the block's largest magnitude each); one f32 rounding each for scale and bias.
/// `wide`: for many rows of x, or null.
inline void matmul(const parallel& p, dot_fn f, wide_fn wide, u64 row_bytes, const linear& w, const activations& a,
                   const mat& out) noexcept {
  if (f == nullptr) return;
  if (wide != nullptr && a.x.rows >= wide_columns_least) {
    const wide_job j = detail::wide_job_of(w.w.data, row_bytes, a, out);
    p.for_rows(w.w.rows, panel_rows, [&](u64 begin, u64 end) {
      wide(j, begin, end);
      detail::finish(w, 0, begin, end, out.data, out.stride, a.x.rows);
    });
    return;
  }
  dot_job j{w.w.data, row_bytes, nullptr, 0, w.w.cols, out.data, out.stride};
  detail::set_activations(j, a);
  p.for_rows(w.w.rows, detail::dot_grain(u64{w.w.cols} * a.x.rows), [&](u64 begin, u64 end) {
    detail::dot_block_rows(f, j, begin, end, a.x.rows);
    detail::finish(w, 0, begin, end, out.data, out.stride, a.x.rows);
  });
}

namespace detail {

/// The slots of an expert, from `s` on; s moves on behind the last one that fits.
struct expert_slots {
  static constexpr u32 most = 512;
  u32 slots[most], rows[most], n = 0;  ///< rows of the activations

  expert_slots(const i32* ids, u32 expert, u32 per_row, u32 count, u32& s) noexcept {
    for (; s < count && n < most; ++s) {
      if (ids[s] != static_cast<i32>(expert)) continue;
      rows[n] = s / per_row;
      slots[n++] = s;
    }
  }
};

/// From so many slots on an expert's weights are worth unpacking.
inline constexpr u32 wide_slots_least = 12;

}  // namespace detail

/// out[s] = W[ids[s]] x[s / per_row] for every slot s (row of out); stacked experts W [count][rows][cols], scale and
/// bias per expert. Slots of one expert are computed together, so that its weights are read once. `wide`: see matmul.
/// Error as matmul.
inline void matmul_experts(const parallel& p, dot_fn f, wide_fn wide, u64 row_bytes, const linear& w,
                           const activations& a, const i32* ids, u32 per_row, const mat& out) noexcept {
  if (f == nullptr) return;
  const bool wide_rows = wide != nullptr && a.x.rows >= wide_columns_least;
  dot_job shared{nullptr, row_bytes, nullptr, 0, w.w.cols, nullptr, out.stride};
  detail::set_activations(shared, a);
  const u8* x = shared.a;
  const u64 grain = wide_rows ? panel_rows : detail::dot_grain(u64{w.w.cols} * out.rows);
  p.for_rows(w.w.rows, grain, [&](u64 begin, u64 end) {
    dot_job j = shared;  // each thread moves its own from slot to slot
    for (u32 e = 0; e < w.w.count; ++e) {
      for (u32 s = 0; s < out.rows;) {
        const detail::expert_slots found(ids, e, per_row, out.rows, s);
        const u8* const weights = w.w.data + u64{e} * w.w.rows * row_bytes;
        if (wide_rows && found.n >= detail::wide_slots_least) {
          wide_job all = detail::wide_job_of(weights, row_bytes, a, out);
          all.columns = found.n, all.a_rows = found.rows, all.out_rows = found.slots;
          wide(all, begin, end);
        } else {
          const u64 step = detail::rows_at_once(row_bytes);
          for (u64 r = begin; found.n != 0 && r < end; r += step)
            for (u32 i = 0; i < found.n; ++i) {
              j.w = weights;
              j.a = x + found.rows[i] * j.a_stride;
              j.out = out.row(found.slots[i]);
              f(detail::part(j, static_cast<u32>(r), 0), static_cast<u32>(end - r < step ? end - r : step), 1);
            }
        }
        for (u32 i = 0; i < found.n; ++i) detail::finish(w, e, begin, end, out.row(found.slots[i]), out.stride, 1);
      }
    }
  });
}

namespace detail {

/// Rows per thread of a product with packed weights: whole panels where there are many columns.
constexpr u64 packed_grain(u32 cols, u32 columns) noexcept {
  return columns >= packed_panel_columns_least ? panel_rows : round_up(dot_grain(u64{cols} * columns), packed_rows);
}

}  // namespace detail

/// matmul with packed weights, whose tiles have `tile_bytes` bytes. Errors of results: see wide/kernel.hpp. No result
/// depends on the other rows of x.
inline void packed_matmul(const parallel& p, wide_fn product, u64 tile_bytes, const linear& w, const activations& a,
                          const mat& out) noexcept {
  const wide_job j = detail::wide_job_of(w.w.data, tile_bytes, a, out);
  p.for_rows(w.w.rows, detail::packed_grain(w.w.cols, a.x.rows), [&](u64 begin, u64 end) {
    product(j, begin, end);
    detail::finish(w, 0, begin, end, out.data, out.stride, a.x.rows);
  });
}

/// matmul_experts with packed weights.
inline void packed_experts(const parallel& p, wide_fn product, u64 tile_bytes, const linear& w, const activations& a,
                           const i32* ids, u32 per_row, const mat& out) noexcept {
  const u64 grain = detail::packed_grain(w.w.cols, out.rows);
  p.for_rows(w.w.rows, grain, [&](u64 begin, u64 end) {
    for (u32 e = 0; e < w.w.count; ++e)
      for (u32 s = 0; s < out.rows;) {
        const detail::expert_slots found(ids, e, per_row, out.rows, s);
        if (found.n == 0) continue;
        wide_job j = detail::wide_job_of(w.w.data + e * tiles_of(w.w.rows) * tile_bytes, tile_bytes, a, out);
        j.columns = found.n, j.a_rows = found.rows, j.out_rows = found.slots;
        product(j, begin, end);
        for (u32 i = 0; i < found.n; ++i) detail::finish(w, e, begin, end, out.row(found.slots[i]), out.stride, 1);
      }
  });
}

/// Packs a whole tensor, the tiles shared out over the threads.
inline void pack(const parallel& p, const packed_functions& f, u64 row_bytes, u64 tile_bytes, const weight& w,
                 u8* out) noexcept {
  const u64 tiles = tiles_of(w.rows);
  p.for_rows(w.count * tiles, 1, [&](u64 begin, u64 end) {
    for (u64 t = begin; t < end; ++t) {
      const u64 row = t % tiles * packed_rows, left = w.rows - row;
      const u8* const from = w.data + (t / tiles * w.rows + row) * row_bytes;
      f.pack(from, row_bytes, static_cast<u32>(left < packed_rows ? left : packed_rows), w.cols, out + t * tile_bytes);
    }
  });
}

namespace detail {

/// Decodes `n` blocks of type T.
template <class T>
void decode_blocks(const u8* blocks, u32 n, f32* out) noexcept {
  decode_row(reinterpret_cast<const T*>(blocks), n, out);
}

}  // namespace detail

/// out[t] = row tokens[t] of the table, decoded exactly: [tokens, cols].
template <class Quants>
void embed(const parallel& p, const weight& w, const i32* tokens, const mat& out) noexcept {
  void (*decode)(const u8*, u32, f32*) = nullptr;
  u32 blocks = 0;
  u64 bytes = 0;
  visit_id(Quants{}, w.type, [&]<class T>(type_tag<T>) {
    decode = &detail::decode_blocks<T>;
    blocks = static_cast<u32>(w.cols / T::size);
    bytes = u64{blocks} * sizeof(T);
  });
  if (decode == nullptr) return;
  p.for_rows(out.rows, 16, [&](u64 begin, u64 end) {
    for (u64 t = begin; t < end; ++t)
      decode(w.data + static_cast<u64>(tokens[t]) * bytes, blocks, out.row(static_cast<u32>(t)));
  });
}

/// embed from packed weights.
inline void packed_embed(const parallel& p, const packed_functions& f, u64 tile_bytes, const weight& w,
                         const i32* tokens, const mat& out) noexcept {
  p.for_rows(out.rows, 16, [&](u64 begin, u64 end) {
    for (u64 t = begin; t < end; ++t) {
      const u32 row = static_cast<u32>(tokens[t]);
      f.unpack(w.data + row / packed_rows * tile_bytes, row % packed_rows, w.cols, out.row(static_cast<u32>(t)));
    }
  });
}

}  // namespace jig::cpu
