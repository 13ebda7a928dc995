#pragma once
// Which instruction sets the running machine has, asked of the machine itself.
// Hosted: reads CPUID and XCR0 on x86, the kernel's capability words on AArch64 Linux.
//
// Each question covers all that the compiler may use under the flags of cmake/jig_add_dispatch.cmake (x86-64-v3 and
// -v4 are sets of a dozen extensions), and whether the operating system saves the wide registers.
// Sources: Intel SDM vol. 2 (CPUID) and vol. 1, section 14.3; the x86-64 psABI for the levels.

#include <initializer_list>
#include <string_view>

#include "jig/backend/cpu/isa.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace jig::cpu {

/// What the machine has, tag by tag; a tag is only true if its bases are.
struct machine_isas {
  bool avx2 = false, avx512 = false, avx512vnni = false;
  bool neon = false, neon_dotprod = false;

  /// By a tag's name. `scalar` is always there; unknown names are not.
  constexpr bool has(std::string_view name) const noexcept {
    if (name == isa::scalar::name) return true;
    if (name == isa::avx2::name) return avx2;
    if (name == isa::avx512::name) return avx512;
    if (name == isa::avx512vnni::name) return avx512vnni;
    if (name == isa::neon::name) return neon;
    if (name == isa::neon_dotprod::name) return neon_dotprod;
    return false;
  }
};

/// Whether a tag of this name exists.
constexpr bool is_isa_name(std::string_view name) noexcept {
  bool known = false;
  for_each_type(isa::all{}, [&]<class T>(type_tag<T>) { known = known || name == T::name; });
  return known;
}

namespace detail {

/// Whether all of these bits are set.
constexpr bool bits(u32 word, std::initializer_list<int> wanted) noexcept {
  for (int b : wanted)
    if (!((word >> b) & 1u)) return false;
  return true;
}

}  // namespace detail

/// Asks the machine.
inline machine_isas detect_isas() noexcept {
  machine_isas m;
#if defined(__x86_64__) || defined(__i386__)
  u32 a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return m;
  // SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C
  if (!detail::bits(c, {9, 12, 13, 19, 20, 22, 23, 27, 28, 29})) return m;
  u32 saved = 0, saved_high = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !detail::bits(c, {0, 5})) return m;  // LAHF, LZCNT
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return m;
  m.avx2 = detail::bits(b, {3, 5, 8}) && (saved & 0x06u) == 0x06u;  // BMI1, AVX2, BMI2; XMM and YMM state
  // F, DQ, CD, BW, VL; mask and ZMM state
  m.avx512 = m.avx2 && detail::bits(b, {16, 17, 28, 30, 31}) && (saved & 0xe6u) == 0xe6u;
  m.avx512vnni = m.avx512 && detail::bits(c, {11});
#elif defined(__aarch64__)
  m.neon = true;
#if defined(__linux__)
  // CRC32, LSE atomics, RDM, dot products: the Armv8.2 set that the unit's flags allow
  m.neon_dotprod = detail::bits(static_cast<u32>(getauxval(AT_HWCAP)), {7, 8, 12, 20});
#elif defined(__ARM_FEATURE_DOTPROD)
  m.neon_dotprod = true;
#endif
#endif
  return m;
}

}  // namespace jig::cpu
