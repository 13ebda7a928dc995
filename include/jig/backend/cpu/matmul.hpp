#pragma once
// Matrix products: activations are brought to the weights' partner format once, then rows of weights are shared out
// over the threads. The loops here know no block types; they call the type's dot function (dots/).
//
// Every result is computed by one thread in a fixed order, so neither the number of threads nor the other rows of a
// batch change a bit of it.

#include "jig/backend/cpu/dots/all.hpp"
#include "jig/backend/cpu/encode.hpp"
#include "jig/backend/cpu/sizes.hpp"
#include "jig/ops/executor.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/tensor.hpp"

namespace jig::cpu {

/// Encodes x ([rows, cols], cols a whole number of blocks) to `out`, row after row. Equal to the formats' encoders.
template <class V, class Quants>
void prepare(const parallel& p, u32 type, const mat& x, u8* out) noexcept {
  const u64 bytes = encoded_row_bytes(type, x.cols);
  for_each_type(encoded_types{}, [&]<class A>(type_tag<A>) {
    if constexpr (has_partner<A>(Quants{})) {
      if (type != A::id) return;
      p.for_rows(x.rows, x.cols >= 4096 ? 1 : 4096 / (x.cols + 1) + 1, [&](u64 begin, u64 end) {
        for (u64 t = begin; t < end; ++t)
          encode_blocks<V>(x.row(static_cast<u32>(t)), x.cols / A::size, reinterpret_cast<A*>(out + t * bytes));
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

}  // namespace detail

/// out[t][r] = scale * sum_c W[r][c] x[t][c] + bias[r]: x [t, cols] as prepared for activation_type(w.w.type),
/// W [rows, cols], out [t, rows]. `row_bytes`: of a row of W. Error: of the type's dot, on activations rounded to the
/// partner format (Q8: at most 1/254 of the block's largest magnitude each); one f32 rounding each for scale and bias.
inline void matmul(const parallel& p, dot_fn f, u64 row_bytes, const linear& w, const activations& a,
                   const mat& out) noexcept {
  if (f == nullptr) return;
  dot_job j{w.w.data, row_bytes, nullptr, 0, w.w.cols, out.data, out.stride};
  detail::set_activations(j, a);
  p.for_rows(w.w.rows, detail::dot_grain(u64{w.w.cols} * a.x.rows), [&](u64 begin, u64 end) {
    detail::dot_block_rows(f, j, begin, end, a.x.rows);
    detail::finish(w, 0, begin, end, out.data, out.stride, a.x.rows);
  });
}

/// out[s] = W[ids[s]] x[s / per_row] for every slot s (row of out); stacked experts W [count][rows][cols], scale and
/// bias per expert. Slots of one expert are computed together, so that its weights are read once. Error as matmul.
inline void matmul_experts(const parallel& p, dot_fn f, u64 row_bytes, const linear& w, const activations& a,
                           const i32* ids, u32 per_row, const mat& out) noexcept {
  if (f == nullptr) return;
  constexpr u32 batch_slots = 64;
  dot_job shared{nullptr, row_bytes, nullptr, 0, w.w.cols, nullptr, out.stride};
  detail::set_activations(shared, a);
  const u8* x = shared.a;
  p.for_rows(w.w.rows, detail::dot_grain(u64{w.w.cols} * out.rows), [&](u64 begin, u64 end) {
    dot_job j = shared;  // each thread moves its own from slot to slot
    for (u32 e = 0; e < w.w.count; ++e) {
      for (u32 s = 0; s < out.rows;) {
        u32 slots[batch_slots], n = 0;
        for (; s < out.rows && n < batch_slots; ++s)
          if (ids[s] == static_cast<i32>(e)) slots[n++] = s;
        const u64 step = detail::rows_at_once(row_bytes);
        for (u64 r = begin; n != 0 && r < end; r += step)
          for (u32 i = 0; i < n; ++i) {
            j.w = w.w.data + u64{e} * w.w.rows * row_bytes;
            j.a = x + slots[i] / per_row * j.a_stride;
            j.out = out.row(slots[i]);
            f(detail::part(j, static_cast<u32>(r), 0), static_cast<u32>(end - r < step ? end - r : step), 1);
          }
        for (u32 i = 0; i < n; ++i) detail::finish(w, e, begin, end, out.row(slots[i]), out.stride, 1);
      }
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

}  // namespace jig::cpu
