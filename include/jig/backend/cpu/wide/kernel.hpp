#pragma once
// The inner loop of wide products: a panel of weights times a few columns of activations, sums in registers. Lanes are
// rows of weights, so that nothing is summed across a vector, and every result is the same sum in the same order
// whatever is computed beside it.
//
// An instruction set brings a class of operations:
//   f, i                           vectors of f32 and of i32, `lanes` of each
//   columns, vectors               the tile: as many sums as registers can hold
//   offset                         what is added to the weights' codes
//   codes                          a vector's weights as `dots` takes them
//   begin(bias)                    sums to begin with
//   dots(i, codes, four)           + four products for each lane; `four` activations are the same for all
// and the plain steps on vectors of f32: load, store, all, zero, numbers (of i32), times, plus (a * b + c), minus
// (c - a * b).
//
// Error of a result: below 6e-8 * (groups + 3) * sum |w * a| against real arithmetic on the same blocks.

#include "jig/backend/cpu/simd.hpp"
#include "jig/backend/cpu/wide/activations.hpp"
#include "jig/backend/cpu/wide/panel.hpp"

namespace jig::cpu {

#if defined(JIG_HAS_AVX2)
struct wide_avx2 {
  using f = __m256;
  using i = __m256i;
  static constexpr u32 lanes = 8, vectors = 1, columns = 4;
  static constexpr u8 offset = 0;
  struct codes {
    i magnitude, value;
  };
  static codes load_codes(const i8* p) noexcept {
    const i v = _mm256_load_si256(reinterpret_cast<const i*>(p));
    return {_mm256_abs_epi8(v), v};
  }
  static i begin(i32) noexcept { return _mm256_setzero_si256(); }
  static i four(const i8* p) noexcept {
    return _mm256_set1_epi32(static_cast<i32>(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  /// |w| <= 128 and |a| <= 127: two products fit into 16 bits.
  static i dots(i sums, const codes& w, i a) noexcept {
    const i pairs = _mm256_maddubs_epi16(w.magnitude, _mm256_sign_epi8(a, w.value));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static f load(const f32* p) noexcept { return _mm256_loadu_ps(p); }
  static void store(f32* p, f v) noexcept { _mm256_storeu_ps(p, v); }
  static f all(f32 v) noexcept { return _mm256_set1_ps(v); }
  static f zero() noexcept { return _mm256_setzero_ps(); }
  static f numbers(i v) noexcept { return _mm256_cvtepi32_ps(v); }
  static f times(f a, f b) noexcept { return _mm256_mul_ps(a, b); }
  static f plus(f a, f b, f c) noexcept { return _mm256_fmadd_ps(a, b, c); }
  static f minus(f a, f b, f c) noexcept { return _mm256_fnmadd_ps(a, b, c); }
};
#endif
#if defined(JIG_HAS_AVX512VNNI)
struct wide_avx512vnni {
  using f = __m512;
  using i = __m512i;
  static constexpr u32 lanes = 16, vectors = 2, columns = 6;
  static constexpr u8 offset = 128;
  using codes = i;
  static codes load_codes(const i8* p) noexcept { return _mm512_load_si512(p); }
  static i begin(i32 bias) noexcept { return _mm512_set1_epi32(bias); }
  static i four(const i8* p) noexcept {
    return _mm512_set1_epi32(static_cast<i32>(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  static i dots(i sums, i w, i a) noexcept { return _mm512_dpbusd_epi32(sums, w, a); }
  static f load(const f32* p) noexcept { return _mm512_loadu_ps(p); }
  static void store(f32* p, f v) noexcept { _mm512_storeu_ps(p, v); }
  static f all(f32 v) noexcept { return _mm512_set1_ps(v); }
  static f zero() noexcept { return _mm512_setzero_ps(); }
  static f numbers(i v) noexcept { return _mm512_cvtepi32_ps(v); }
  static f times(f a, f b) noexcept { return _mm512_mul_ps(a, b); }
  static f plus(f a, f b, f c) noexcept { return _mm512_fmadd_ps(a, b, c); }
  static f minus(f a, f b, f c) noexcept { return _mm512_fnmadd_ps(a, b, c); }
};
#endif
#if defined(JIG_HAS_NEON_DOTPROD)
struct wide_neon_dotprod {
  using f = float32x4_t;
  using i = int32x4_t;
  static constexpr u32 lanes = 4, vectors = 4, columns = 2;
  static constexpr u8 offset = 0;
  using codes = int8x16_t;
  static codes load_codes(const i8* p) noexcept { return vld1q_s8(p); }
  static i begin(i32) noexcept { return vdupq_n_s32(0); }
  static int8x16_t four(const i8* p) noexcept {
    return vreinterpretq_s8_u32(vdupq_n_u32(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  static i dots(i sums, int8x16_t w, int8x16_t a) noexcept { return vdotq_s32(sums, w, a); }
  static f load(const f32* p) noexcept { return vld1q_f32(p); }
  static void store(f32* p, f v) noexcept { vst1q_f32(p, v); }
  static f all(f32 v) noexcept { return vdupq_n_f32(v); }
  static f zero() noexcept { return vdupq_n_f32(0.0f); }
  static f numbers(i v) noexcept { return vcvtq_f32_s32(v); }
  static f times(f a, f b) noexcept { return vmulq_f32(a, b); }
  static f plus(f a, f b, f c) noexcept { return vfmaq_f32(c, a, b); }
  static f minus(f a, f b, f c) noexcept { return vfmsq_f32(c, a, b); }
};
#endif

/// The operations for a tag; void where wide products are not faster than others.
void wide_ops(isa::scalar) noexcept;
#if defined(JIG_HAS_AVX2)
wide_avx2 wide_ops(isa::avx2) noexcept;
#endif
#if defined(JIG_HAS_AVX512VNNI)
wide_avx512vnni wide_ops(isa::avx512vnni) noexcept;
#endif
#if defined(JIG_HAS_NEON_DOTPROD)
wide_neon_dotprod wide_ops(isa::neon_dotprod) noexcept;
#endif

/// Rows [row, row + vectors * lanes) of a panel of n columns times C columns of activations; a[c]: the groups that meet
/// the panel's columns; out[c]: the panel's rows of that column's results. first: results begin here; else they are
/// added to. OneScale: the activations' scale is that of the first group throughout.
template <class O, u32 C, u32 Group, bool Min, bool OneScale>
void wide_tile(const panel& p, u32 n, u32 row, const wide_group* const* a, bool first, f32* const* out) noexcept {
  using f = typename O::f;
  using i = typename O::i;
  constexpr u32 V = O::vectors, halves = 32 / Group;
  const wide_group* now[C];
  f sums[C][V];
#pragma GCC unroll 8
  for (u32 c = 0; c < C; ++c) {
    now[c] = a[c];
#pragma GCC unroll 8
    for (u32 v = 0; v < V; ++v) sums[c][v] = OneScale || first ? O::zero() : O::load(out[c] + row + v * O::lanes);
  }
  const i8* codes = p.codes[0][row];
  const f32 *scales = p.scales[0] + row, *minima = p.minima[0] + row;
  for (u32 g = 0; g < n / 32; ++g) {
#pragma GCC unroll 2
    for (u32 h = 0; h < halves; ++h) {
      i dots[C][V];
#pragma GCC unroll 8
      for (u32 c = 0; c < C; ++c)
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) dots[c][v] = O::begin(Group == 32 ? now[c]->bias : now[c]->biases[h]);
#pragma GCC unroll 8
      for (u32 k = 0; k < Group / 4; ++k) {
        typename O::codes w[V];
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) w[v] = O::load_codes(codes + 4 * (k * panel_rows + v * O::lanes));
#pragma GCC unroll 8
        for (u32 c = 0; c < C; ++c) {
          const auto four = O::four(now[c]->codes + Group * h + 4 * k);
#pragma GCC unroll 8
          for (u32 v = 0; v < V; ++v) dots[c][v] = O::dots(dots[c][v], w[v], four);
        }
      }
      f row_scales[V];
#pragma GCC unroll 8
      for (u32 v = 0; v < V; ++v) row_scales[v] = O::load(scales + v * O::lanes);
#pragma GCC unroll 8
      for (u32 c = 0; c < C; ++c) {
#pragma GCC unroll 8
        for (u32 v = 0; v < V; ++v) {
          f scale = row_scales[v];
          if constexpr (!OneScale) scale = O::times(scale, O::all(now[c]->scale));
          sums[c][v] = O::plus(O::numbers(dots[c][v]), scale, sums[c][v]);
        }
      }
      if constexpr (Min) {
#pragma GCC unroll 8
        for (u32 c = 0; c < C; ++c) {
          const f sum = O::all(Group == 32 ? now[c]->sum : now[c]->sums[h]);
#pragma GCC unroll 8
          for (u32 v = 0; v < V; ++v) sums[c][v] = O::minus(O::load(minima + v * O::lanes), sum, sums[c][v]);
        }
      }
      codes += Group * panel_rows;
      scales += panel_rows;
      minima += panel_rows;
    }
#pragma GCC unroll 8
    for (u32 c = 0; c < C; ++c) ++now[c];
  }
#pragma GCC unroll 8
  for (u32 c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (u32 v = 0; v < V; ++v) {
      f32* const to = out[c] + row + v * O::lanes;
      if constexpr (OneScale) {
        const f scale = O::all(a[c]->scale);
        sums[c][v] = first ? O::times(sums[c][v], scale) : O::plus(sums[c][v], scale, O::load(to));
      }
      O::store(to, sums[c][v]);
    }
}

/// A whole panel times `columns` columns, at most O::columns.
template <class O, u32 Group, bool Min, bool OneScale, u32 C = O::columns>
void wide_columns(const panel& p, u32 n, u32 columns, const wide_group* const* a, bool first,
                  f32* const* out) noexcept {
  if constexpr (C > 1)
    if (columns < C) return wide_columns<O, Group, Min, OneScale, C - 1>(p, n, columns, a, first, out);
  for (u32 row = 0; row < panel_rows; row += O::vectors * O::lanes)
    wide_tile<O, C, Group, Min, OneScale>(p, n, row, a, first, out);
}

}  // namespace jig::cpu
