#pragma once
// Integer dot products for AArch64: Q8_0, Q4_0, Q4_K, Q6_K; with the 8-bit dot instruction or, on plain Armv8.0, with
// widening products.
//
// Integer sums are exact. Scales and the sums over blocks are f32 in four lanes: the error of a row is below
// 2e-7 * (blocks / 4 + 8) * sum |w * a| against real arithmetic on the same blocks.

#include "jig/backend/cpu/dots/dot.hpp"
#include "jig/quant/q4_0.hpp"
#include "jig/quant/q4_k.hpp"
#include "jig/quant/q6_k.hpp"

#if defined(JIG_HAS_NEON)
#include <arm_neon.h>

namespace jig::cpu {

namespace detail {

/// Adds four products of i8 to each lane; |a| <= 127, w may be -128.
inline int32x4_t add_dots(isa::neon, int32x4_t sums, int8x16_t w, int8x16_t a) noexcept {
  int16x8_t products = vmull_s8(vget_low_s8(w), vget_low_s8(a));  // two of at most 128 * 127 fit in 16 bits
  products = vmlal_s8(products, vget_high_s8(w), vget_high_s8(a));
  return vpadalq_s16(sums, products);
}
#if defined(JIG_HAS_NEON_DOTPROD)
inline int32x4_t add_dots(isa::neon_dotprod, int32x4_t sums, int8x16_t w, int8x16_t a) noexcept {
  return vdotq_s32(sums, w, a);
}
#endif

inline int8x16_t low_nibbles(uint8x16_t q) noexcept { return vreinterpretq_s8_u8(vandq_u8(q, vdupq_n_u8(15))); }
inline int8x16_t high_nibbles(uint8x16_t q) noexcept { return vreinterpretq_s8_u8(vshrq_n_u8(q, 4)); }
inline f32 load_f16(const le_f16& h) noexcept {
  __fp16 v;
  std::memcpy(&v, h.bytes, sizeof v);
  return v;
}

/// The products of 32 codes, w0 the first 16, with 32 activations at y.
template <class Isa>
int32x4_t dots_of_32(Isa isa, int8x16_t w0, int8x16_t w1, const i8* y) noexcept {
  return add_dots(isa, add_dots(isa, vdupq_n_s32(0), w0, vld1q_s8(y)), w1, vld1q_s8(y + 16));
}

/// sum += d * dots
inline void add_scaled(float32x4_t& sum, f32 d, int32x4_t dots) noexcept {
  sum = vfmaq_n_f32(sum, vcvtq_f32_s32(dots), d);
}

/// What the kernels for blocks of W and A have in common: sums over blocks in four lanes.
template <class W, class A>
struct sums_neon {
  using weight = W;
  using act = A;
  using sum = float32x4_t;
  static f32 total(sum s) noexcept { return vaddvq_f32(s); }
};

}  // namespace detail

template <class Isa>
struct q8_0_neon : detail::sums_neon<q8_0, q8_0> {
  template <u32 C>
  static void add(sum (&s)[C], const q8_0& w, const q8_0* const (&a)[C]) noexcept {
    const int8x16_t q0 = vld1q_s8(w.qs), q1 = vld1q_s8(w.qs + 16);
    const f32 d = detail::load_f16(w.d);
    for (u32 c = 0; c < C; ++c)
      detail::add_scaled(s[c], d * detail::load_f16(a[c]->d), detail::dots_of_32(Isa{}, q0, q1, a[c]->qs));
  }
};

template <class Isa>
struct q4_0_neon : detail::sums_neon<q4_0, q8_0> {
  template <u32 C>
  static void add(sum (&s)[C], const q4_0& w, const q8_0* const (&a)[C]) noexcept {
    const uint8x16_t q = vld1q_u8(w.qs);
    const int8x16_t eight = vdupq_n_s8(8);
    const int8x16_t q0 = vsubq_s8(detail::low_nibbles(q), eight), q1 = vsubq_s8(detail::high_nibbles(q), eight);
    const f32 d = detail::load_f16(w.d);
    for (u32 c = 0; c < C; ++c)
      detail::add_scaled(s[c], d * detail::load_f16(a[c]->d), detail::dots_of_32(Isa{}, q0, q1, a[c]->qs));
  }
};

template <class Isa>
struct q4_k_neon : detail::sums_neon<q4_k, q8_k> {
  template <u32 C>
  static void add(sum (&s)[C], const q4_k& w, const q8_k* const (&a)[C]) noexcept {
    int32x4_t dots[C];
    i32 minima[C] = {};
    for (u32 c = 0; c < C; ++c) dots[c] = vdupq_n_s32(0);
    for (u32 g = 0; g < 8; ++g) {
      const u8* bytes = w.qs + 32 * (g / 2);
      const uint8x16_t b0 = vld1q_u8(bytes), b1 = vld1q_u8(bytes + 16);
      const int8x16_t q0 = g % 2 ? detail::high_nibbles(b0) : detail::low_nibbles(b0);
      const int8x16_t q1 = g % 2 ? detail::high_nibbles(b1) : detail::low_nibbles(b1);
      const i32 scale = q4_k::group_scale(w, g), minimum = q4_k::group_min(w, g);
      for (u32 c = 0; c < C; ++c) {
        dots[c] = vmlaq_n_s32(dots[c], detail::dots_of_32(Isa{}, q0, q1, a[c]->qs + 32 * g), scale);
        minima[c] += minimum * (q8_k::sum(*a[c], 2 * g) + q8_k::sum(*a[c], 2 * g + 1));
      }
    }
    const f32 d = detail::load_f16(w.d), dmin = detail::load_f16(w.dmin);
    for (u32 c = 0; c < C; ++c) {
      const f32 y = a[c]->d;
      detail::add_scaled(s[c], d * y, dots[c]);
      detail::add_scaled(s[c], -dmin * y, vsetq_lane_s32(minima[c], vdupq_n_s32(0), 0));
    }
  }
};

template <class Isa>
struct q6_k_neon : detail::sums_neon<q6_k, q8_k> {
  template <u32 C>
  static void add(sum (&s)[C], const q6_k& w, const q8_k* const (&a)[C]) noexcept {
    int32x4_t dots[C];
    for (u32 c = 0; c < C; ++c) dots[c] = vdupq_n_s32(0);
    for (u32 g = 0; g < 16; ++g) {  // groups of 16: half, plane and place inside of 32 values
      const u32 h = g / 8, p = g % 8 / 2, l = g % 2 * 16;
      const uint8x16_t low = vld1q_u8(w.ql + 64 * h + 32 * (p % 2) + l);
      const int8x16_t shift = vdupq_n_s8(static_cast<i8>(4 - 2 * static_cast<int>(p)));
      const uint8x16_t high = vshlq_u8(vld1q_u8(w.qh + 32 * h + l), shift);
      const int8x16_t q = vorrq_s8(p < 2 ? detail::low_nibbles(low) : detail::high_nibbles(low),
                                   vreinterpretq_s8_u8(vandq_u8(high, vdupq_n_u8(0x30))));
      const int8x16_t centred = vsubq_s8(q, vdupq_n_s8(32));
      for (u32 c = 0; c < C; ++c) {
        const int32x4_t dot = detail::add_dots(Isa{}, vdupq_n_s32(0), centred, vld1q_s8(a[c]->qs + 16 * g));
        dots[c] = vmlaq_n_s32(dots[c], dot, w.scales[g]);
      }
    }
    const f32 d = detail::load_f16(w.d);
    for (u32 c = 0; c < C; ++c) detail::add_scaled(s[c], d * a[c]->d, dots[c]);
  }
};

q8_0_neon<isa::neon> dot_kernel(isa::neon, type_tag<q8_0>) noexcept;
q4_0_neon<isa::neon> dot_kernel(isa::neon, type_tag<q4_0>) noexcept;
q4_k_neon<isa::neon> dot_kernel(isa::neon, type_tag<q4_k>) noexcept;
q6_k_neon<isa::neon> dot_kernel(isa::neon, type_tag<q6_k>) noexcept;
#if defined(JIG_HAS_NEON_DOTPROD)
q8_0_neon<isa::neon_dotprod> dot_kernel(isa::neon_dotprod, type_tag<q8_0>) noexcept;
q4_0_neon<isa::neon_dotprod> dot_kernel(isa::neon_dotprod, type_tag<q4_0>) noexcept;
q4_k_neon<isa::neon_dotprod> dot_kernel(isa::neon_dotprod, type_tag<q4_k>) noexcept;
q6_k_neon<isa::neon_dotprod> dot_kernel(isa::neon_dotprod, type_tag<q6_k>) noexcept;
#endif

}  // namespace jig::cpu
#endif
