#pragma once
// How a kernel for a block type plugs in: a small class that adds one weight block times C activation blocks to C
// running sums. The loops over rows, columns and blocks are written once, here, for every type.
//
// A fast kernel for a type is a class with
//   weight, act                        block types
//   sum                                what is accumulated: a register
//   static void add<C>(sum (&s)[C], const weight& w, const act* const (&a)[C])   a[c]: the act blocks beside w
//   static f32 total(sum)              the number in the end
// and an overload `dot_kernel(isa::some_tag, type_tag<weight>)` that returns it; the nearest base of a tag wins.
// A class may instead have `tile<R, C>(job)`, if it wants the loop over a row for itself, or `row(w, a, blocks)`, one
// result at a time.
// Each result is summed block after block in the same order, whatever rows and columns are computed together.

#include "jig/backend/cpu/isa.hpp"
#include "jig/backend/cpu/sizes.hpp"
#include "jig/core/type_list.hpp"
#include "jig/quant/dot.hpp"

namespace jig::cpu {

/// Rows of weights times rows of activations: out[c * out_stride + r] = sum over `cols` values.
/// Weights are `cols` values in blocks, `w_stride` bytes apart; activations in the partner format, `a_stride` apart.
struct dot_job {
  const u8* w = nullptr;
  u64 w_stride = 0;
  const u8* a = nullptr;
  u64 a_stride = 0;
  u32 cols = 0;
  f32* out = nullptr;
  u64 out_stride = 0;
};

/// Computes `rows` x `columns` results of a job.
using dot_fn = void (*)(const dot_job&, u32 rows, u32 columns);

/// Every type: the plain loop of quant/dot.hpp, or exact decoding where activations are f32.
template <class W>
struct plain_dot {
  static f32 row(const W* w, const u8* a, u32 blocks) noexcept {
    if constexpr (W::size == 1) return numbers(w, reinterpret_cast<const f32*>(a), blocks);
    else if constexpr (partner<W>::size == 1) return dot_f32(w, reinterpret_cast<const f32*>(a), blocks);
    else return dot(w, reinterpret_cast<const partner<W>*>(a), blocks);
  }

 private:
  /// Four sums by name: small processors keep them in registers at any optimisation level.
  static f32 numbers(const W* w, const f32* x, u32 n) noexcept {
    f32 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    u32 i = 0;
    for (; i + 4 <= n; i += 4) {
      s0 += w[i].value * x[i];
      s1 += w[i + 1].value * x[i + 1];
      s2 += w[i + 2].value * x[i + 2];
      s3 += w[i + 3].value * x[i + 3];
    }
    for (; i < n; ++i) s0 += w[i].value * x[i];
    return (s0 + s1) + (s2 + s3);
  }
};
template <class W>
plain_dot<W> dot_kernel(isa::scalar, type_tag<W>) noexcept;

namespace detail {

/// R rows x C columns at once, block after block.
template <class K, u32 R, u32 C>
void dot_blocks(const dot_job& j) noexcept {
  using W = typename K::weight;
  using A = typename K::act;
  constexpr u32 per_block = W::size / A::size;
  const W* w[R];
  const A* a[C];
  for (u32 r = 0; r < R; ++r) w[r] = reinterpret_cast<const W*>(j.w + r * j.w_stride);
  for (u32 c = 0; c < C; ++c) a[c] = reinterpret_cast<const A*>(j.a + c * j.a_stride);
  typename K::sum sums[R][C] = {};
  for (u32 i = 0; i < j.cols / W::size; ++i) {
    const A* now[C];
    for (u32 c = 0; c < C; ++c) now[c] = a[c] + i * per_block;
    for (u32 r = 0; r < R; ++r) K::template add<C>(sums[r], w[r][i], now);
  }
  for (u32 r = 0; r < R; ++r)
    for (u32 c = 0; c < C; ++c) j.out[c * j.out_stride + r] = K::total(sums[r][c]);
}

/// R rows x C columns at once.
template <class K, u32 R, u32 C>
void dot_tile(const dot_job& j) noexcept {
  if constexpr (requires { K::template tile<R, C>(j); }) K::template tile<R, C>(j);
  else dot_blocks<K, R, C>(j);
}

constexpr dot_job part(dot_job j, u32 row, u32 column) noexcept {
  j.w += row * j.w_stride;
  j.a += column * j.a_stride;
  j.out += column * j.out_stride + row;
  return j;
}

/// A job by tiles: one column meets four rows at a time, so that the loads of several rows are under way at once;
/// four columns meet each row, so that its unpacking is shared.
template <class K>
void dot_rows(const dot_job& j, u32 rows, u32 columns) noexcept {
  u32 c = 0;
  for (; c + 4 <= columns; c += 4)
    for (u32 r = 0; r < rows; ++r) dot_tile<K, 1, 4>(part(j, r, c));
  for (; c < columns; ++c) {
    u32 r = 0;
    for (; r + 4 <= rows; r += 4) dot_tile<K, 4, 1>(part(j, r, c));
    for (; r < rows; ++r) dot_tile<K, 1, 1>(part(j, r, c));
  }
}

template <class K, class W>
void plain_rows(const dot_job& j, u32 rows, u32 columns) noexcept {
  for (u32 r = 0; r < rows; ++r)
    for (u32 c = 0; c < columns; ++c)
      j.out[c * j.out_stride + r] =
          K::row(reinterpret_cast<const W*>(j.w + r * j.w_stride), j.a + c * j.a_stride, j.cols / W::size);
}

}  // namespace detail
}  // namespace jig::cpu
