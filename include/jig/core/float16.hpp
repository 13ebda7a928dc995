#pragma once
// The small floating-point formats of GGUF files and their exact conversions, all constexpr.
//
// f16  = IEEE binary16: subnormals count, they occur as block scales.
// bf16 = the upper half of a binary32.
// E8M0 = a power of two in one byte (scale of MXFP4); UE4M3 = unsigned 8-bit float (scale of NVFP4).
// Rounding towards f16 and bf16 is to nearest, ties to even.

#include <bit>
#include <type_traits>

#include "jig/core/types.hpp"

namespace jig {

namespace detail {

constexpr f32 f16_to_f32_portable(u16 h) noexcept {
  const u32 sign = u32(h & 0x8000u) << 16;
  const u32 exponent = (h >> 10) & 31u;
  const u32 mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<f32>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<f32>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const f32 magnitude = static_cast<f32>(mantissa) * 0x1p-24f;  // subnormal or zero: exact in f32
  return std::bit_cast<f32>(sign | std::bit_cast<u32>(magnitude));
}

constexpr u16 f32_to_f16_portable(f32 v) noexcept {
  const u32 bits = std::bit_cast<u32>(v);
  const u16 sign = static_cast<u16>((bits >> 16) & 0x8000u);
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<u16>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<u16>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 lines the mantissa up with units of 2^-24
    const f32 shifted = std::bit_cast<f32>(magnitude) + 0.5f;
    return static_cast<u16>(sign | (std::bit_cast<u32>(shifted) - 0x3f000000u));
  }
  const u32 odd = (magnitude >> 13) & 1u;
  return static_cast<u16>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

}  // namespace detail

// 32-bit Arm cores with a floating-point unit convert in one instruction (Cortex-M4 and larger), which GCC and clang
// only emit for vendors' types.
#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 2)
#define JIG_ARM_F16 1
namespace detail {
inline f32 f16_to_f32_arm(u16 h) noexcept {
  f32 v;
  asm("vcvtb.f32.f16 %0, %1" : "=t"(v) : "t"(std::bit_cast<f32>(u32{h})));
  return v;
}
inline u16 f32_to_f16_arm(f32 v) noexcept {
  f32 bits = 0.0f;  // the instruction writes the lower half
  asm("vcvtb.f16.f32 %0, %1" : "+t"(bits) : "t"(v));
  return static_cast<u16>(std::bit_cast<u32>(bits));
}
}  // namespace detail
#elif defined(__F16C__) && defined(__GNUC__)
#define JIG_X86_F16 1
namespace detail {
inline f32 f16_to_f32_x86(u16 h) noexcept {
  using halves = short __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(halves{static_cast<short>(h)})[0];
}
}  // namespace detail
#endif

/// binary16 bits to f32; exact, infinities and NaNs included (a signalling NaN may become quiet).
constexpr f32 f16_to_f32(u16 h) noexcept {
#if defined(JIG_ARM_F16)
  if (!std::is_constant_evaluated()) return detail::f16_to_f32_arm(h);
#elif defined(JIG_X86_F16)
  if (!std::is_constant_evaluated()) return detail::f16_to_f32_x86(h);
#endif
  return detail::f16_to_f32_portable(h);
}

/// f32 to binary16 bits, to nearest even; above 65519.99 it becomes infinity, NaN stays NaN.
constexpr u16 f32_to_f16(f32 v) noexcept {
#if defined(JIG_ARM_F16)
  if (!std::is_constant_evaluated()) return detail::f32_to_f16_arm(v);
#endif
  return detail::f32_to_f16_portable(v);
}

/// bf16 bits to f32; exact.
constexpr f32 bf16_to_f32(u16 h) noexcept { return std::bit_cast<f32>(u32(h) << 16); }

/// f32 to bf16 bits, to nearest even; a NaN keeps its payload's upper part and becomes quiet.
constexpr u16 f32_to_bf16(f32 v) noexcept {
  const u32 bits = std::bit_cast<u32>(v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<u16>((bits >> 16) | 0x40u);
  return static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// E8M0: 2^(e - 127); e = 0 gives the subnormal 2^-127, 255 (invalid) gives infinity.
constexpr f32 e8m0_to_f32(u8 e) noexcept { return std::bit_cast<f32>(e == 0 ? 0x00400000u : u32(e) << 23); }

/// Half of an E8M0 scale, 2^(e - 128), without underflow: the factor of MXFP4's doubled values.
constexpr f32 e8m0_half_to_f32(u8 e) noexcept {
  return std::bit_cast<f32>(e < 2 ? 0x00200000u << e : u32(e - 1) << 23);
}

/// UE4M3 (bit 7 ignored): exponent x = u >> 3, mantissa m = u & 7; 0x00 and 0x7F are zero.
constexpr f32 ue4m3_to_f32(u8 u) noexcept {
  u &= 0x7f;
  if (u == 0x7f) return 0.0f;
  const u32 exponent = u >> 3, mantissa = u & 7;
  if (exponent == 0) return static_cast<f32>(mantissa) * 0x1p-9f;
  return std::bit_cast<f32>(((exponent + 120) << 23) | (mantissa << 20));
}

}  // namespace jig
