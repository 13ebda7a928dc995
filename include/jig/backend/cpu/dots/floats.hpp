#pragma once
// Dot products of plain float weights (F32, F16, BF16) with f32 activations, on float vectors.
// Weights are widened exactly and nothing is rounded to fewer bits than f32; the error of a row is below
// 6e-8 * (n / lanes + 8) * sum |w * a|, n the row's length and lanes twice those of a vector.

#include "jig/backend/cpu/dots/dot.hpp"
#include "jig/backend/cpu/simd.hpp"

namespace jig::cpu {

template <class V, class T>
struct floats_dot {
  /// Two vectors of sums, so that two products are under way even for one row and one column.
  struct lanes {
    V even = V(0.0f), odd = V(0.0f);
  };

  template <u32 R, u32 C>
  static void tile(const dot_job& j) noexcept {
    lanes sums[R][C];
    u32 i = 0;
    for (; i + 2 * V::size <= j.cols; i += 2 * V::size) {
      for (u32 r = 0; r < R; ++r) {
        const T* w = reinterpret_cast<const T*>(j.w + r * j.w_stride) + i;
        const V even = load_numbers<V>(w), odd = load_numbers<V>(w + V::size);
        for (u32 c = 0; c < C; ++c) {
          const f32* a = reinterpret_cast<const f32*>(j.a + c * j.a_stride) + i;
          sums[r][c].even = madd(even, load<V>(a), sums[r][c].even);
          sums[r][c].odd = madd(odd, load<V>(a + V::size), sums[r][c].odd);
        }
      }
    }
    for (; i < j.cols; i += V::size) finish<R, C>(j, i, sums);
    for (u32 r = 0; r < R; ++r)
      for (u32 c = 0; c < C; ++c) j.out[c * j.out_stride + r] = sum(sums[r][c].even + sums[r][c].odd);
  }

 private:
  /// The last, partial vectors.
  template <u32 R, u32 C>
  static void finish(const dot_job& j, u32 i, lanes (&sums)[R][C]) noexcept {
    const u32 n = j.cols - i < V::size ? j.cols - i : static_cast<u32>(V::size);
    for (u32 r = 0; r < R; ++r) {
      const T* w = reinterpret_cast<const T*>(j.w + r * j.w_stride) + i;
      f32 values[V::size] = {};
      for (u32 k = 0; k < n; ++k) values[k] = w[k].value;
      for (u32 c = 0; c < C; ++c) {
        const f32* a = reinterpret_cast<const f32*>(j.a + c * j.a_stride) + i;
        const V y = n == V::size ? load<V>(a) : load_part<V>(a, n);
        sums[r][c].even = madd(load<V>(values), y, sums[r][c].even);
      }
    }
  }
};

#if defined(JIG_HAS_XSIMD)
template <std::derived_from<isa::scalar> Isa, class T>
  requires(floats<Isa>::size > 1 && T::size == 1)
floats_dot<floats<Isa>, T> dot_kernel(Isa, type_tag<T>) noexcept;
#endif

}  // namespace jig::cpu
