#pragma once
// Integer dot products for AVX2 and up: Q8_0, Q4_0, Q4_K, Q6_K. Vectors of 256 bits on all tiers: one block of 32
// values is one vector, and the 8-bit dot instruction of AVX512-VNNI is as fast in two halves.
//
// Integer sums are exact. Scales and the sums over blocks are f32 in eight lanes: the error of a row is below
// 2e-7 * (blocks / 8 + 8) * sum |w * a| against real arithmetic on the same blocks.

#include "jig/backend/cpu/dots/dot.hpp"
#include "jig/quant/q4_0.hpp"
#include "jig/quant/q4_k.hpp"
#include "jig/quant/q6_k.hpp"

#if defined(JIG_HAS_AVX2)
#include <immintrin.h>

namespace jig::cpu {

namespace detail {

inline __m256i load_256(const void* p) noexcept { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m128i load_128(const void* p) noexcept { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline f32 load_f16(const le_f16& h) noexcept { return _cvtsh_ss(load_le<u16>(h.bytes)); }
/// The number in all lanes; cheaper than converting first.
inline __m256 spread_f16(const le_f16& h) noexcept {
  return _mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(load_le<u16>(h.bytes))));
}

/// Sum of the eight lanes.
inline f32 sum_lanes(__m256 v) noexcept {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/// 16 bytes of nibbles to 32 codes: the low halves, then the high halves.
inline __m256i nibble_codes(const u8* p) noexcept {
  const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4);
  const __m256i q = _mm256_broadcastsi128_si256(load_128(p));
  return _mm256_and_si256(_mm256_srlv_epi32(q, shifts), _mm256_set1_epi8(15));
}

/// Adds four neighbouring products of u8 (at most 128) and i8 to each i32 lane.
inline __m256i add_dots(isa::avx2, __m256i sums, __m256i u, __m256i i) noexcept {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(u, i), _mm256_set1_epi16(1)));
}
/// Adds two neighbouring products of i16 to each i32 lane.
inline __m256i add_pairs(isa::avx2, __m256i sums, __m256i a, __m256i b) noexcept {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
/// Dot of i8 codes, four to a lane; |a| <= 127, w may be -128.
inline __m256i signed_dots(isa::avx2 isa, __m256i w, __m256i a) noexcept {
  return add_dots(isa, _mm256_setzero_si256(), _mm256_abs_epi8(w), _mm256_sign_epi8(a, w));
}
#if defined(JIG_HAS_AVX512VNNI)
inline __m256i add_dots(isa::avx512vnni, __m256i sums, __m256i u, __m256i i) noexcept {
  return _mm256_dpbusd_epi32(sums, u, i);
}
inline __m256i add_pairs(isa::avx512vnni, __m256i sums, __m256i a, __m256i b) noexcept {
  return _mm256_dpwssd_epi32(sums, a, b);
}
inline __m256i signed_dots(isa::avx512vnni isa, __m256i w, __m256i a) noexcept {
  // sum((w + 128) * a) - 128 * sum(a); the second term is common to all rows and leaves the loop over them
  const __m256i top = _mm256_set1_epi8(-128), zero = _mm256_setzero_si256();
  const __m256i bias = _mm256_sub_epi32(zero, _mm256_dpbusd_epi32(zero, top, a));
  return add_dots(isa, bias, _mm256_xor_si256(w, top), a);
}
#endif

/// sum += d * dots
inline void add_scaled(__m256& sum, __m256 d, __m256i dots) noexcept {
  sum = _mm256_fmadd_ps(d, _mm256_cvtepi32_ps(dots), sum);
}
inline void add_scaled(__m256& sum, f32 d, __m256i dots) noexcept { add_scaled(sum, _mm256_set1_ps(d), dots); }

/// What the kernels for blocks of W and A have in common: sums over blocks in eight lanes.
template <class W, class A>
struct sums_x86 {
  using weight = W;
  using act = A;
  using sum = __m256;
  static f32 total(sum s) noexcept { return detail::sum_lanes(s); }
};

}  // namespace detail

template <class Isa>
struct q8_0_x86 : detail::sums_x86<q8_0, q8_0> {
  template <u32 C>
  static void add(sum (&s)[C], const q8_0& w, const q8_0* const (&a)[C]) noexcept {
    const __m256i q = detail::load_256(w.qs);
    const __m256 d = detail::spread_f16(w.d);
    for (u32 c = 0; c < C; ++c)
      detail::add_scaled(s[c], _mm256_mul_ps(d, detail::spread_f16(a[c]->d)),
                         detail::signed_dots(Isa{}, q, detail::load_256(a[c]->qs)));
  }
};

template <class Isa>
struct q4_0_x86 : detail::sums_x86<q4_0, q8_0> {
  template <u32 C>
  static void add(sum (&s)[C], const q4_0& w, const q8_0* const (&a)[C]) noexcept {
    const __m256i q = detail::nibble_codes(w.qs), zero = _mm256_setzero_si256();
    const __m256 d = detail::spread_f16(w.d);
    for (u32 c = 0; c < C; ++c) {
      // sum(q * a) - 8 * sum(a)
      const __m256i y = detail::load_256(a[c]->qs);
      const __m256i bias = _mm256_sub_epi32(zero, detail::add_dots(Isa{}, zero, _mm256_set1_epi8(8), y));
      detail::add_scaled(s[c], _mm256_mul_ps(d, detail::spread_f16(a[c]->d)), detail::add_dots(Isa{}, bias, q, y));
    }
  }
};

template <class Isa>
struct q4_k_x86 : detail::sums_x86<q4_k, q8_k> {
  /// Eight scales, then eight minima, as i16; see quant/detail/k_scales.hpp for the packing.
  static __m256i scales_and_minima(const q4_k& w) noexcept {
    const u32 a = load_le<u32>(w.scales), b = load_le<u32>(w.scales + 4), c = load_le<u32>(w.scales + 8);
    const u32 s1 = (c & 0x0f0f0f0fu) | ((a >> 2) & 0x30303030u);
    const u32 m1 = ((c >> 4) & 0x0f0f0f0fu) | ((b >> 2) & 0x30303030u);
    const __m128i bytes = _mm_setr_epi32(static_cast<int>(a & 0x3f3f3f3fu), static_cast<int>(s1),
                                         static_cast<int>(b & 0x3f3f3f3fu), static_cast<int>(m1));
    return _mm256_cvtepu8_epi16(bytes);
  }

  template <u32 C>
  static void add(sum (&s)[C], const q4_k& w, const q8_k* const (&a)[C]) noexcept {
    const __m256i both = scales_and_minima(w), low = _mm256_set1_epi8(15);
    const __m256i scales = _mm256_broadcastsi128_si256(_mm256_castsi256_si128(both));
    __m256i dots[C];
    for (u32 c = 0; c < C; ++c) dots[c] = _mm256_setzero_si256();
    for (int g = 0; g < 8; g += 2) {
      const __m256i q = detail::load_256(w.qs + 16 * g);
      const __m256i q0 = _mm256_and_si256(q, low), q1 = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
      const __m256i s0 = _mm256_shuffle_epi8(scales, _mm256_set1_epi16(static_cast<short>(0x0100 + 0x0202 * g)));
      const __m256i s1 = _mm256_shuffle_epi8(scales, _mm256_set1_epi16(static_cast<short>(0x0302 + 0x0202 * g)));
      for (u32 c = 0; c < C; ++c) {
        const i8* y = a[c]->qs + 32 * g;
        dots[c] = detail::add_pairs(Isa{}, dots[c], s0, _mm256_maddubs_epi16(q0, detail::load_256(y)));
        dots[c] = detail::add_pairs(Isa{}, dots[c], s1, _mm256_maddubs_epi16(q1, detail::load_256(y + 32)));
      }
    }
    const __m128i m = _mm256_extracti128_si256(both, 1);  // each minimum belongs to two sums of 16
    const __m256i minima = _mm256_set_m128i(_mm_unpackhi_epi16(m, m), _mm_unpacklo_epi16(m, m));
    const f32 d = detail::load_f16(w.d), dmin = detail::load_f16(w.dmin);
    for (u32 c = 0; c < C; ++c) {
      const f32 y = a[c]->d;
      detail::add_scaled(s[c], d * y, dots[c]);
      detail::add_scaled(s[c], -dmin * y, _mm256_madd_epi16(minima, detail::load_256(a[c]->bsums)));
    }
  }
};

template <class Isa>
struct q6_k_x86 : detail::sums_x86<q6_k, q8_k> {
  template <u32 C>
  static void add(sum (&s)[C], const q6_k& w, const q8_k* const (&a)[C]) noexcept {
    const __m128i scales = detail::load_128(w.scales);
    const __m256i low = _mm256_set1_epi8(15), top = _mm256_set1_epi8(0x30);
    __m256i dots[C];
    for (u32 c = 0; c < C; ++c) dots[c] = _mm256_setzero_si256();
    for (int h = 0; h < 2; ++h) {
      const __m256i high = detail::load_256(w.qh + 32 * h);
      const __m256i l0 = detail::load_256(w.ql + 64 * h), l1 = detail::load_256(w.ql + 64 * h + 32);
      auto upper = [&](__m256i shifted) { return _mm256_and_si256(shifted, top); };
      const __m256i q[4] = {
          _mm256_or_si256(_mm256_and_si256(l0, low), upper(_mm256_slli_epi16(high, 4))),
          _mm256_or_si256(_mm256_and_si256(l1, low), upper(_mm256_slli_epi16(high, 2))),
          _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(l0, 4), low), upper(high)),
          _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(l1, 4), low), upper(_mm256_srli_epi16(high, 2)))};
      for (int p = 0; p < 4; ++p) {
        const long long ones = 0x0101010101010101, first = 8 * h + 2 * p;  // scales of the two groups of 16
        const __m128i pick = _mm_set_epi64x(ones * (first + 1), ones * first);
        const __m256i scale = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, pick));
        for (u32 c = 0; c < C; ++c) {
          const __m256i y = detail::load_256(a[c]->qs + 128 * h + 32 * p);
          dots[c] = detail::add_pairs(Isa{}, dots[c], scale, _mm256_maddubs_epi16(q[p], y));
        }
      }
    }
    const f32 d = detail::load_f16(w.d);
    const __m256i wide = _mm256_cvtepi8_epi16(scales);
    for (u32 c = 0; c < C; ++c) {
      // the codes are 32 too high
      const __m256i bias = _mm256_slli_epi32(_mm256_madd_epi16(wide, detail::load_256(a[c]->bsums)), 5);
      detail::add_scaled(s[c], d * a[c]->d, _mm256_sub_epi32(dots[c], bias));
    }
  }
};

q8_0_x86<isa::avx2> dot_kernel(isa::avx2, type_tag<q8_0>) noexcept;
q4_0_x86<isa::avx2> dot_kernel(isa::avx2, type_tag<q4_0>) noexcept;
q4_k_x86<isa::avx2> dot_kernel(isa::avx2, type_tag<q4_k>) noexcept;
q6_k_x86<isa::avx2> dot_kernel(isa::avx2, type_tag<q6_k>) noexcept;
#if defined(JIG_HAS_AVX512VNNI)
q8_0_x86<isa::avx512vnni> dot_kernel(isa::avx512vnni, type_tag<q8_0>) noexcept;
q4_0_x86<isa::avx512vnni> dot_kernel(isa::avx512vnni, type_tag<q4_0>) noexcept;
q4_k_x86<isa::avx512vnni> dot_kernel(isa::avx512vnni, type_tag<q4_k>) noexcept;
q6_k_x86<isa::avx512vnni> dot_kernel(isa::avx512vnni, type_tag<q6_k>) noexcept;
#endif

}  // namespace jig::cpu
#endif
