#pragma once
// The operations of products whose lanes are rows of weights (kernel.hpp), one class for each instruction set:
//
//   f, i, bytes                    vectors of f32, of i32 (`lanes` of each) and of u8 (4 * lanes)
//   columns, vectors               a panel's tile: as many sums as registers can hold
//   narrow                         as many sums for a few columns
//   offset                         what is added to signed codes
//   load_bytes, both, either, shift<n>   codes from planes: a & mask, a | b, n bits up or, below 0, down (bits of
//                                  neighbouring bytes come in)
//   look_up, shifted               16 values by number; code + n
//   begin(bias)                    sums to begin with
//   four(p)                        four activations, the same for all lanes
//   dots(i, signed_codes, four), dots_small(i, bytes, four)   + four products for each lane; small codes are below 128
//                                  and have no sign
//   load, store, all, zero, numbers (of i32), times, plus (a * b + c), minus (c - a * b)   plain steps on f32
//   halves, brains, singles, small_numbers   f32 from lanes of f16, bf16, f32, i8

#include "jig/backend/cpu/simd.hpp"

namespace jig::cpu {

#if defined(JIG_HAS_AVX2)
struct wide_avx2 {
  using f = __m256;
  using i = __m256i;
  using bytes = __m256i;
  static constexpr u32 lanes = 8, vectors = 1, columns = 4, narrow = 4;
  static constexpr u8 offset = 0;
  struct signed_codes {
    i magnitude, value;
  };
  static bytes load_bytes(const void* p) noexcept { return _mm256_loadu_si256(static_cast<const i*>(p)); }
  static void store_bytes(i8* p, bytes v) noexcept { _mm256_storeu_si256(reinterpret_cast<i*>(p), v); }
  static bytes both(bytes v, u8 mask) noexcept { return _mm256_and_si256(v, _mm256_set1_epi8(static_cast<i8>(mask))); }
  static bytes either(bytes a, bytes b) noexcept { return _mm256_or_si256(a, b); }
  template <int N>
  static bytes shift(bytes v) noexcept {
    if constexpr (N == 0) return v;
    else if constexpr (N > 0) return _mm256_slli_epi16(v, N);
    else return _mm256_srli_epi16(v, -N);
  }
  static bytes look_up(const i8* values, bytes numbers) noexcept {
    const __m128i table = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), numbers);
  }
  static bytes shifted(bytes v, i32 n) noexcept { return _mm256_add_epi8(v, _mm256_set1_epi8(static_cast<i8>(n))); }
  static signed_codes as_signed(bytes v) noexcept { return {_mm256_abs_epi8(v), v}; }
  static i begin(i32 bias) noexcept { return _mm256_set1_epi32(bias); }
  static i four(const i8* p) noexcept {
    return _mm256_set1_epi32(static_cast<i32>(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  /// |w| <= 128 and |a| <= 127: two products fit into 16 bits.
  static i dots(i sums, const signed_codes& w, i a) noexcept {
    return dots_small(sums, w.magnitude, _mm256_sign_epi8(a, w.value));
  }
  static i dots_small(i sums, bytes w, i a) noexcept {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(w, a), _mm256_set1_epi16(1)));
  }
  static f load(const f32* p) noexcept { return _mm256_loadu_ps(p); }
  static void store(f32* p, f v) noexcept { _mm256_storeu_ps(p, v); }
  static f all(f32 v) noexcept { return _mm256_set1_ps(v); }
  static f zero() noexcept { return _mm256_setzero_ps(); }
  static f numbers(i v) noexcept { return _mm256_cvtepi32_ps(v); }
  static f times(f a, f b) noexcept { return _mm256_mul_ps(a, b); }
  static f plus(f a, f b, f c) noexcept { return _mm256_fmadd_ps(a, b, c); }
  static f minus(f a, f b, f c) noexcept { return _mm256_fnmadd_ps(a, b, c); }
  static f halves(const u8* p) noexcept {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static f brains(const u8* p) noexcept {
    const i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static f singles(const u8* p) noexcept { return _mm256_castsi256_ps(load_bytes(p)); }
  static f small_numbers(const u8* p) noexcept {
    return numbers(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
};
#endif
#if defined(JIG_HAS_AVX512VNNI)
struct wide_avx512vnni {
  using f = __m512;
  using i = __m512i;
  using bytes = __m512i;
  using signed_codes = i;
  static constexpr u32 lanes = 16, vectors = 2, columns = 6, narrow = 8;
  static constexpr u8 offset = 128;
  static bytes load_bytes(const void* p) noexcept { return _mm512_loadu_si512(p); }
  static void store_bytes(i8* p, bytes v) noexcept { _mm512_storeu_si512(p, v); }
  static bytes both(bytes v, u8 mask) noexcept { return _mm512_and_si512(v, _mm512_set1_epi8(static_cast<i8>(mask))); }
  static bytes either(bytes a, bytes b) noexcept { return _mm512_or_si512(a, b); }
  template <int N>
  static bytes shift(bytes v) noexcept {
    if constexpr (N == 0) return v;
    else if constexpr (N > 0) return _mm512_slli_epi16(v, N);
    else return _mm512_srli_epi16(v, -N);
  }
  static bytes look_up(const i8* values, bytes numbers) noexcept {
    const __m128i table = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), numbers);
  }
  static bytes shifted(bytes v, i32 n) noexcept { return _mm512_add_epi8(v, _mm512_set1_epi8(static_cast<i8>(n))); }
  static signed_codes as_signed(bytes v) noexcept { return v; }
  static i begin(i32 bias) noexcept { return _mm512_set1_epi32(bias); }
  static i four(const i8* p) noexcept {
    return _mm512_set1_epi32(static_cast<i32>(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  static i dots(i sums, i w, i a) noexcept { return _mm512_dpbusd_epi32(sums, w, a); }
  static i dots_small(i sums, bytes w, i a) noexcept { return _mm512_dpbusd_epi32(sums, w, a); }
  static f load(const f32* p) noexcept { return _mm512_loadu_ps(p); }
  static void store(f32* p, f v) noexcept { _mm512_storeu_ps(p, v); }
  static f all(f32 v) noexcept { return _mm512_set1_ps(v); }
  static f zero() noexcept { return _mm512_setzero_ps(); }
  static f numbers(i v) noexcept { return _mm512_cvtepi32_ps(v); }
  static f times(f a, f b) noexcept { return _mm512_mul_ps(a, b); }
  static f plus(f a, f b, f c) noexcept { return _mm512_fmadd_ps(a, b, c); }
  static f minus(f a, f b, f c) noexcept { return _mm512_fnmadd_ps(a, b, c); }
  static f halves(const u8* p) noexcept {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static f brains(const u8* p) noexcept {
    const i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static f singles(const u8* p) noexcept { return _mm512_loadu_ps(p); }
  static f small_numbers(const u8* p) noexcept {
    return numbers(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
};
#endif
#if defined(JIG_HAS_NEON_DOTPROD)
struct wide_neon_dotprod {
  using f = float32x4_t;
  using i = int32x4_t;
  using bytes = uint8x16_t;
  using signed_codes = int8x16_t;
  static constexpr u32 lanes = 4, vectors = 4, columns = 2, narrow = 8;
  static constexpr u8 offset = 0;
  static bytes load_bytes(const void* p) noexcept { return vld1q_u8(static_cast<const u8*>(p)); }
  static void store_bytes(i8* p, bytes v) noexcept { vst1q_u8(reinterpret_cast<u8*>(p), v); }
  static bytes both(bytes v, u8 mask) noexcept { return vandq_u8(v, vdupq_n_u8(mask)); }
  static bytes either(bytes a, bytes b) noexcept { return vorrq_u8(a, b); }
  template <int N>
  static bytes shift(bytes v) noexcept {
    if constexpr (N == 0) return v;
    else if constexpr (N > 0) return vshlq_n_u8(v, N);
    else return vshrq_n_u8(v, -N);
  }
  static bytes look_up(const i8* values, bytes numbers) noexcept {
    return vreinterpretq_u8_s8(vqtbl1q_s8(vld1q_s8(values), numbers));
  }
  static bytes shifted(bytes v, i32 n) noexcept { return vaddq_u8(v, vdupq_n_u8(static_cast<u8>(n))); }
  static signed_codes as_signed(bytes v) noexcept { return vreinterpretq_s8_u8(v); }
  static i begin(i32 bias) noexcept { return vdupq_n_s32(bias); }
  static int8x16_t four(const i8* p) noexcept {
    return vreinterpretq_s8_u32(vdupq_n_u32(load_le<u32>(reinterpret_cast<const u8*>(p))));
  }
  static i dots(i sums, int8x16_t w, int8x16_t a) noexcept { return vdotq_s32(sums, w, a); }
  static i dots_small(i sums, bytes w, int8x16_t a) noexcept { return vdotq_s32(sums, vreinterpretq_s8_u8(w), a); }
  static f load(const f32* p) noexcept { return vld1q_f32(p); }
  static void store(f32* p, f v) noexcept { vst1q_f32(p, v); }
  static f all(f32 v) noexcept { return vdupq_n_f32(v); }
  static f zero() noexcept { return vdupq_n_f32(0.0f); }
  static f numbers(i v) noexcept { return vcvtq_f32_s32(v); }
  static f times(f a, f b) noexcept { return vmulq_f32(a, b); }
  static f plus(f a, f b, f c) noexcept { return vfmaq_f32(c, a, b); }
  static f minus(f a, f b, f c) noexcept { return vfmsq_f32(c, a, b); }
  static f halves(const u8* p) noexcept { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))); }
  static f brains(const u8* p) noexcept {
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(p))), 16));
  }
  static f singles(const u8* p) noexcept { return vreinterpretq_f32_u8(vld1q_u8(p)); }
  static f small_numbers(const u8* p) noexcept {
    const int8x8_t v = vreinterpret_s8_u32(vdup_n_u32(load_le<u32>(p)));
    return numbers(vmovl_s16(vget_low_s16(vmovl_s8(v))));
  }
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

}  // namespace jig::cpu
