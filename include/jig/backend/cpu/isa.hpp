#pragma once
// Instruction sets as types. A tag inherits from the set that it extends, so an overload for `isa::avx2` also serves
// `isa::avx512vnni` until a better one is written: overload resolution picks the nearest base.
//
// Code for a tag compiles only where the compiler's flags allow it (`isa::enabled<Tag>`). Which sets the running
// machine has is another question: detect.hpp.

#include <concepts>

#include "jig/core/type_list.hpp"
#include "jig/core/types.hpp"

namespace jig::isa {

/// Plain C++, for every target.
struct scalar {
  static constexpr char name[] = "scalar";
};

/// x86-64-v3: AVX2, FMA, F16C, BMI.
struct avx2 : scalar {
  static constexpr char name[] = "avx2";
};
/// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
struct avx512 : avx2 {
  static constexpr char name[] = "avx512";
};
/// x86-64-v4 and the 8-bit dot instructions.
struct avx512vnni : avx512 {
  static constexpr char name[] = "avx512vnni";
};

/// AArch64 with Advanced SIMD, which all have.
struct neon : scalar {
  static constexpr char name[] = "neon";
};
/// ... and the 8-bit dot instructions of Armv8.2.
struct neon_dotprod : neon {
  static constexpr char name[] = "neon_dotprod";
};

/// Armv8.1-M vector extension with integers (Cortex-M55): 8-bit dots; float work as scalar.
struct helium : scalar {
  static constexpr char name[] = "helium";
};

/// All tags, the plainest first.
using all = type_list<scalar, avx2, avx512, avx512vnni, neon, neon_dotprod, helium>;

/// Whether the flags with which this unit is compiled allow code for the tag.
template <class Isa>
inline constexpr bool enabled = false;
template <>
inline constexpr bool enabled<scalar> = true;

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define JIG_HAS_AVX2 1
template <>
inline constexpr bool enabled<avx2> = true;
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
#define JIG_HAS_AVX512 1
template <>
inline constexpr bool enabled<avx512> = true;
#if defined(__AVX512VNNI__)
#define JIG_HAS_AVX512VNNI 1
template <>
inline constexpr bool enabled<avx512vnni> = true;
#endif
#endif
#endif

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define JIG_HAS_NEON 1
template <>
inline constexpr bool enabled<neon> = true;
#if defined(__ARM_FEATURE_DOTPROD)
#define JIG_HAS_NEON_DOTPROD 1
template <>
inline constexpr bool enabled<neon_dotprod> = true;
#endif
#endif

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define JIG_HAS_HELIUM 1
template <>
inline constexpr bool enabled<helium> = true;
#endif

/// The best tag that the compiler's flags allow.
#if defined(JIG_HAS_AVX512VNNI)
using native = avx512vnni;
#elif defined(JIG_HAS_AVX512)
using native = avx512;
#elif defined(JIG_HAS_AVX2)
using native = avx2;
#elif defined(JIG_HAS_NEON_DOTPROD)
using native = neon_dotprod;
#elif defined(JIG_HAS_NEON)
using native = neon;
#elif defined(JIG_HAS_HELIUM)
using native = helium;
#else
using native = scalar;
#endif

/// An instruction set tag.
template <class T>
concept tag = std::derived_from<T, scalar>;

}  // namespace jig::isa
