#pragma once
// Float vectors for the kernels: `floats<Isa>` is an xsimd batch for the tags that have vectors, and one plain float
// for the others, so that every kernel is written once. The functions here are all that kernels use of either.
//
// `madd` is a fused multiply-add on vectors. On plain floats it is a product and a sum, which the compiler may fuse.

#include <bit>
#include <cmath>
#include <cstring>

#include "jig/backend/cpu/isa.hpp"
#include "jig/core/endian.hpp"
#include "jig/quant/bf16.hpp"
#include "jig/quant/f16.hpp"
#include "jig/quant/f32.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 warns of lines in its own AVX-512 header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined(JIG_HAS_AVX2)
#include <immintrin.h>
#elif defined(JIG_HAS_NEON)
#include <arm_neon.h>
#endif
#if (defined(JIG_HAS_AVX2) || defined(JIG_HAS_NEON)) && __has_include(<xsimd/xsimd.hpp>)
#define JIG_HAS_XSIMD 1
#include <xsimd/xsimd.hpp>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace jig::cpu {

/// The scalar stand-in for a vector: one lane.
struct one_float {
  static constexpr usize size = 1;
  f32 v = 0;
  constexpr one_float() noexcept = default;
  constexpr one_float(f32 x) noexcept : v(x) {}
  friend constexpr one_float operator+(one_float a, one_float b) noexcept { return a.v + b.v; }
  friend constexpr one_float operator-(one_float a, one_float b) noexcept { return a.v - b.v; }
  friend constexpr one_float operator*(one_float a, one_float b) noexcept { return a.v * b.v; }
  friend constexpr one_float operator/(one_float a, one_float b) noexcept { return a.v / b.v; }
  friend constexpr bool operator>(one_float a, one_float b) noexcept { return a.v > b.v; }
  friend constexpr bool operator>=(one_float a, one_float b) noexcept { return a.v >= b.v; }
};

template <class V>
V load(const f32* p) noexcept;
template <>
inline one_float load<one_float>(const f32* p) noexcept { return *p; }
inline void store(f32* p, one_float a) noexcept { *p = a.v; }
inline one_float madd(one_float a, one_float b, one_float c) noexcept { return a.v * b.v + c.v; }
inline one_float choose(bool c, one_float a, one_float b) noexcept { return c ? a : b; }
inline f32 sum(one_float a) noexcept { return a.v; }
/// To the nearest integer, halves to even. |a| < 2^22.
inline one_float round_even(one_float a) noexcept { return (a.v + 0x1.8p23f) - 0x1.8p23f; }
/// Towards zero. |a| < 2^31.
inline one_float whole(one_float a) noexcept { return static_cast<f32>(static_cast<i32>(a.v)); }
/// 2^a for whole numbers a in -126..127.
inline one_float power_of_two(one_float a) noexcept {
  return std::bit_cast<f32>(static_cast<u32>(static_cast<i32>(a.v) + 127) << 23);
}
inline void store_codes(i32* p, one_float a) noexcept { *p = static_cast<i32>(a.v); }

#if defined(JIG_HAS_XSIMD)
namespace detail {
#if defined(JIG_HAS_AVX2)
inline xsimd::fma3<xsimd::avx2> arch_of(isa::avx2);
#endif
#if defined(JIG_HAS_AVX512)
inline xsimd::avx512bw arch_of(isa::avx512);
#endif
#if defined(JIG_HAS_NEON)
inline xsimd::neon64 arch_of(isa::neon);
#endif
template <class Isa>
struct floats_of {
  using type = one_float;
};
template <class Isa>
  requires requires { arch_of(Isa{}); }
struct floats_of<Isa> {
  using type = xsimd::batch<f32, decltype(arch_of(Isa{}))>;
};
}  // namespace detail

template <class Isa>
using floats = typename detail::floats_of<Isa>::type;

template <class V>
V load(const f32* p) noexcept { return V::load_unaligned(p); }
template <class A>
void store(f32* p, const xsimd::batch<f32, A>& a) noexcept { a.store_unaligned(p); }
template <class A>
xsimd::batch<f32, A> madd(const xsimd::batch<f32, A>& a, const xsimd::batch<f32, A>& b,
                          const xsimd::batch<f32, A>& c) noexcept {
#if defined(JIG_HAS_AVX512)  // xsimd 8.1 leaves the fusing to the compiler here
  if constexpr (xsimd::batch<f32, A>::size == 16) return _mm512_fmadd_ps(a, b, c);
  else
#endif
    return xsimd::fma(a, b, c);
}
template <class A>
xsimd::batch<f32, A> choose(const xsimd::batch_bool<f32, A>& c, const xsimd::batch<f32, A>& a,
                            const xsimd::batch<f32, A>& b) noexcept { return xsimd::select(c, a, b); }
template <class A>
f32 sum(const xsimd::batch<f32, A>& a) noexcept { return xsimd::hadd(a); }
template <class A>
xsimd::batch<f32, A> round_even(const xsimd::batch<f32, A>& a) noexcept {
  const xsimd::batch<f32, A> shift(0x1.8p23f);
  return (a + shift) - shift;
}
template <class A>
xsimd::batch<f32, A> whole(const xsimd::batch<f32, A>& a) noexcept { return xsimd::to_float(xsimd::to_int(a)); }
template <class A>
xsimd::batch<f32, A> power_of_two(const xsimd::batch<f32, A>& a) noexcept {
  const xsimd::batch<i32, A> bits = (xsimd::to_int(a) + xsimd::batch<i32, A>(127)) << 23;
  return xsimd::bitwise_cast<xsimd::batch<f32, A>>(bits);
}
template <class A>
void store_codes(i32* p, const xsimd::batch<f32, A>& a) noexcept { xsimd::to_int(a).store_unaligned(p); }
#else
template <class Isa>
using floats = one_float;
#endif

/// The larger of each pair; b where a is not a number.
template <class V>
V larger(const V& a, const V& b) noexcept { return choose(a > b, a, b); }
/// v within [-limit, limit]; -limit where it is not a number.
template <class V>
V bounded(const V& v, f32 limit) noexcept {
  const V top(limit), bottom(-limit);
  return choose(v > top, top, choose(v >= bottom, v, bottom));
}

/// Loads n < V::size floats, zeros after them.
template <class V>
V load_part(const f32* p, usize n) noexcept {
  f32 lanes[V::size] = {};
  std::memcpy(lanes, p, n * sizeof(f32));
  return load<V>(lanes);
}
/// Stores the first n < V::size lanes.
template <class V>
void store_part(f32* p, const V& a, usize n) noexcept {
  f32 lanes[V::size];
  store(lanes, a);
  std::memcpy(p, lanes, n * sizeof(f32));
}
/// The largest lane.
template <class V>
f32 largest(const V& a) noexcept {
  f32 lanes[V::size];
  store(lanes, a);
  f32 best = lanes[0];
  for (usize i = 1; i < V::size; ++i) best = lanes[i] > best ? lanes[i] : best;
  return best;
}

/// out[i] = f(x[i]) for n values in steps of a vector; the last, partial step computes on zeros besides.
/// x and out are the same or do not overlap.
template <class V, class F>
void transform_to(const f32* x, f32* out, u32 n, F&& f) noexcept {
  u32 i = 0;
  for (; i + V::size <= n; i += V::size) store(out + i, f(load<V>(x + i)));
  if constexpr (V::size > 1)
    if (i < n) store_part(out + i, f(load_part<V>(x + i, n - i)), n - i);
}
template <class V, class F>
void transform(f32* x, u32 n, F&& f) noexcept { transform_to<V>(x, x, n, f); }
/// x[i] = f(x[i], y[i]).
template <class V, class F>
void transform(f32* x, const f32* y, u32 n, F&& f) noexcept {
  u32 i = 0;
  for (; i + V::size <= n; i += V::size) store(x + i, f(load<V>(x + i), load<V>(y + i)));
  if constexpr (V::size > 1)
    if (i < n) store_part(x + i, f(load_part<V>(x + i, n - i), load_part<V>(y + i, n - i)), n - i);
}
/// Sum of f(x[i]) over n values, in lanes; f(0) must be 0.
template <class V, class F>
f32 sum_of(const f32* x, u32 n, F&& f) noexcept {
  // Four sums, so that plain floats do not add up n roundings and vectors do not wait for each other.
  V s[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
  u32 i = 0;
  for (; i + 4 * V::size <= n; i += 4 * V::size)
    for (u32 j = 0; j < 4; ++j) s[j] = s[j] + f(load<V>(x + i + j * V::size));
  for (u32 j = 0; i + V::size <= n; i += V::size, ++j) s[j] = s[j] + f(load<V>(x + i));
  if constexpr (V::size > 1)
    if (i < n) s[3] = s[3] + f(load_part<V>(x + i, n - i));
  return sum((s[0] + s[1]) + (s[2] + s[3]));
}

/// Sum of x[i] * y[i] over n values, in lanes.
template <class V>
f32 dot_of(const f32* x, const f32* y, u32 n) noexcept {
  V s[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
  u32 i = 0;
  for (; i + 4 * V::size <= n; i += 4 * V::size)
    for (u32 j = 0; j < 4; ++j) s[j] = madd(load<V>(x + i + j * V::size), load<V>(y + i + j * V::size), s[j]);
  for (u32 j = 0; i + V::size <= n; i += V::size, ++j) s[j] = madd(load<V>(x + i), load<V>(y + i), s[j]);
  if constexpr (V::size > 1)
    if (i < n) s[3] = madd(load_part<V>(x + i, n - i), load_part<V>(y + i, n - i), s[3]);
  return sum((s[0] + s[1]) + (s[2] + s[3]));
}

/// Loads V::size plain numbers of type T (f32, f16 or bf16) as they lie in files.
template <class V, class T>
V load_numbers(const T* p) noexcept {
  if constexpr (std::is_same_v<T, f32_block> && std::endian::native == std::endian::little) {
    return load<V>(reinterpret_cast<const f32*>(p));
  } else {
    f32 lanes[V::size];
    for (usize i = 0; i < V::size; ++i) lanes[i] = p[i].value;
    return load<V>(lanes);
  }
}

#if defined(JIG_HAS_XSIMD) && defined(JIG_HAS_AVX2)
using floats_avx2 = floats<isa::avx2>;
template <>
inline floats_avx2 load_numbers<floats_avx2, f16_block>(const f16_block* p) noexcept {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
template <>
inline floats_avx2 load_numbers<floats_avx2, bf16_block>(const bf16_block* p) noexcept {
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
#endif
#if defined(JIG_HAS_XSIMD) && defined(JIG_HAS_AVX512)
using floats_avx512 = floats<isa::avx512>;
template <>
inline floats_avx512 load_numbers<floats_avx512, f16_block>(const f16_block* p) noexcept {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
template <>
inline floats_avx512 load_numbers<floats_avx512, bf16_block>(const bf16_block* p) noexcept {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
#endif
#if defined(JIG_HAS_XSIMD) && defined(JIG_HAS_NEON)
using floats_neon = floats<isa::neon>;
template <>
inline floats_neon load_numbers<floats_neon, f16_block>(const f16_block* p) noexcept {
  return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(reinterpret_cast<const u8*>(p))));
}
template <>
inline floats_neon load_numbers<floats_neon, bf16_block>(const bf16_block* p) noexcept {
  return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(reinterpret_cast<const u8*>(p))), 16));
}
#endif

}  // namespace jig::cpu
