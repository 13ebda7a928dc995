#pragma once
// Loops that show what one core can do at most: sums of products from registers, in 8 bits, bf16 and f32, and reading
// memory. Each is compiled for its instruction set whatever the program's flags are (target attributes), so that one
// program measures every machine of a family. A loop returns something that depends on all that it did.

#include <cstddef>
#include <cstdint>

#include "jig/backend/cpu/detect.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace jig::bench {

/// A loop over registers: `run(n)` does n rounds of `ops` operations (a product and its addition are two).
struct op_loop {
  const char* name = "";  ///< of the instruction
  u64 ops = 0;
  f32 (*run)(u64 rounds) = nullptr;
  constexpr explicit operator bool() const noexcept { return run != nullptr; }
};

/// Adds up `n` bytes, a multiple of 4096.
using read_loop = u64 (*)(const u8* data, u64 n);

/// What a machine is measured by. A loop may be missing.
struct machine_loops {
  op_loop int8, bf16, f32;
  read_loop read[3] = {};  ///< the best one counts
};

namespace detail {

inline constexpr int in_flight = 12;  // independent sums: more than an instruction's latency times its throughput

#if defined(__x86_64__)

#define JIG_BENCH_TARGET(t) __attribute__((target(t), noinline))

JIG_BENCH_TARGET("avx512f,avx512vnni") inline f32 int8_vnni(u64 rounds) {
  __m512i sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = _mm512_set1_epi32(i);
  __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-1);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = _mm512_add_epi32(sum[0], sum[i]);
  i32 lanes[16];
  _mm512_storeu_si512(lanes, sum[0]);
  return static_cast<f32>(lanes[0]);
}
JIG_BENCH_TARGET("avx2") inline f32 int8_avx2(u64 rounds) {
  __m256i sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = _mm256_set1_epi32(i);
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-1);
  const __m256i ones = _mm256_set1_epi16(1);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) {
      __m256i products = _mm256_maddubs_epi16(a, b);
      asm volatile("" : "+v"(products));  // each sum has products of its own
      sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(products, ones));
    }
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = _mm256_add_epi32(sum[0], sum[i]);
  return static_cast<f32>(_mm256_extract_epi32(sum[0], 0));
}
JIG_BENCH_TARGET("avx512f,avx512bf16") inline f32 bf16_avx512(u64 rounds) {
  __m512 sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = _mm512_set1_ps(static_cast<f32>(i));
  __m512i bits_a = _mm512_set1_epi16(0x3f80), bits_b = _mm512_set1_epi16(0x3c00);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+v"(bits_a), "+v"(bits_b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i)
      sum[i] = _mm512_dpbf16_ps(sum[i], reinterpret_cast<__m512bh>(bits_a), reinterpret_cast<__m512bh>(bits_b));
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  f32 lanes[16];
  _mm512_storeu_ps(lanes, sum[0]);
  return lanes[0];
}
JIG_BENCH_TARGET("avx512f") inline f32 f32_avx512(u64 rounds) {
  __m512 sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = _mm512_set1_ps(static_cast<f32>(i));
  __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) sum[i] = _mm512_fmadd_ps(a, b, sum[i]);
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  f32 lanes[16];
  _mm512_storeu_ps(lanes, sum[0]);
  return lanes[0];
}
JIG_BENCH_TARGET("avx2,fma") inline f32 f32_avx2(u64 rounds) {
  __m256 sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = _mm256_set1_ps(static_cast<f32>(i));
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) sum[i] = _mm256_fmadd_ps(a, b, sum[i]);
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

/// Reads `Streams` parts at once, fetching `Ahead` bytes ahead.
template <int Streams, int Ahead>
JIG_BENCH_TARGET("avx512f") u64 read_avx512(const u8* data, u64 n) {
  const u64 part = n / Streams;
  __m512i sum[8] = {};
  for (u64 at = 0; at < part; at += 512 / Streams)
    for (int s = 0; s < Streams; ++s)
#pragma GCC unroll 8
      for (int i = 0; i < 8 / Streams; ++i) {
        const u8* p = data + static_cast<u64>(s) * part + at + 64 * i;
        if constexpr (Ahead != 0) _mm_prefetch(reinterpret_cast<const char*>(p + Ahead), _MM_HINT_T0);
        sum[s * (8 / Streams) + i] = _mm512_add_epi64(sum[s * (8 / Streams) + i], _mm512_loadu_si512(p));
      }
  for (int i = 1; i < 8; ++i) sum[0] = _mm512_add_epi64(sum[0], sum[i]);
  u64 lanes[8];
  _mm512_storeu_si512(lanes, sum[0]);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3] + lanes[4] + lanes[5] + lanes[6] + lanes[7];
}
template <int Streams, int Ahead>
JIG_BENCH_TARGET("avx2") u64 read_avx2(const u8* data, u64 n) {
  const u64 part = n / Streams;
  __m256i sum[8] = {};
  for (u64 at = 0; at < part; at += 256 / Streams)
    for (int s = 0; s < Streams; ++s)
#pragma GCC unroll 8
      for (int i = 0; i < 8 / Streams; ++i) {
        const u8* p = data + static_cast<u64>(s) * part + at + 32 * i;
        if constexpr (Ahead != 0) _mm_prefetch(reinterpret_cast<const char*>(p + Ahead), _MM_HINT_T0);
        sum[s * (8 / Streams) + i] = _mm256_add_epi64(sum[s * (8 / Streams) + i],
                                                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
      }
  for (int i = 1; i < 8; ++i) sum[0] = _mm256_add_epi64(sum[0], sum[i]);
  u64 lanes[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), sum[0]);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#undef JIG_BENCH_TARGET

#elif defined(__aarch64__)

#if defined(__ARM_FEATURE_DOTPROD)
#define JIG_BENCH_DOTPROD
#elif defined(__clang__)
#define JIG_BENCH_DOTPROD __attribute__((target("dotprod"), noinline))
#else
#define JIG_BENCH_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod"), noinline))
#endif
JIG_BENCH_DOTPROD inline f32 int8_dotprod(u64 rounds) {
  int32x4_t sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = vdupq_n_s32(i);
  int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(-1);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+w"(a), "+w"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) sum[i] = vdotq_s32(sum[i], a, b);
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = vaddq_s32(sum[0], sum[i]);
  return static_cast<f32>(vaddvq_s32(sum[0]));
}
#undef JIG_BENCH_DOTPROD
inline f32 f32_neon(u64 rounds) {
  float32x4_t sum[in_flight];
  for (int i = 0; i < in_flight; ++i) sum[i] = vdupq_n_f32(static_cast<f32>(i));
  float32x4_t a = vdupq_n_f32(0.5f), b = vdupq_n_f32(0.25f);
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : "+w"(a), "+w"(b));
#pragma GCC unroll 12
    for (int i = 0; i < in_flight; ++i) sum[i] = vfmaq_f32(sum[i], a, b);
  }
  for (int i = 1; i < in_flight; ++i) sum[0] = vaddq_f32(sum[0], sum[i]);
  return vaddvq_f32(sum[0]);
}

#endif

/// For any machine: what the compiler makes of it.
inline f32 f32_plain(u64 rounds) {
  f32 sum[16] = {};
  f32 a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = 0.5f, b[i] = 0.25f;
  for (u64 r = 0; r < rounds; ++r) {
    asm volatile("" : : "r"(a), "r"(b) : "memory");
    for (int i = 0; i < 16; ++i) sum[i] += a[i] * b[i];
  }
  f32 all = 0.0f;
  for (const f32 s : sum) all += s;
  return all;
}
inline u64 read_plain(const u8* data, u64 n) {
  u64 sum[8] = {};
  const u64* p = reinterpret_cast<const u64*>(data);
  for (u64 i = 0; i < n / 8; i += 8)
    for (int k = 0; k < 8; ++k) sum[k] += p[i + static_cast<u64>(k)];
  u64 all = 0;
  for (const u64 s : sum) all += s;
  return all;
}

}  // namespace detail

/// The loops for the running machine.
inline machine_loops loops_of_machine() noexcept {
  using namespace detail;
  machine_loops l;
  l.f32 = {"plain f32", 32, f32_plain};
  l.read[0] = read_plain;
#if defined(__x86_64__)
  const cpu::machine_isas m = cpu::detect_isas();
  if (m.avx2) {
    l.int8 = {"vpmaddubsw", in_flight * 64, int8_avx2};
    l.f32 = {"vfmadd, 256 bits", in_flight * 16, f32_avx2};
    l.read[0] = read_avx2<1, 0>, l.read[1] = read_avx2<1, 2048>, l.read[2] = read_avx2<4, 1024>;
  }
  if (m.avx512) {
    l.f32 = {"vfmadd, 512 bits", in_flight * 32, f32_avx512};
    l.read[0] = read_avx512<1, 0>, l.read[1] = read_avx512<1, 2048>, l.read[2] = read_avx512<4, 1024>;
  }
  if (m.avx512vnni) l.int8 = {"vpdpbusd, 512 bits", in_flight * 128, int8_vnni};
  if (m.avx512 && __builtin_cpu_supports("avx512bf16"))
    l.bf16 = {"vdpbf16ps, 512 bits", in_flight * 64, bf16_avx512};
#elif defined(__aarch64__)
  l.f32 = {"fmla", in_flight * 8, f32_neon};
  if (cpu::detect_isas().neon_dotprod) l.int8 = {"sdot", in_flight * 32, int8_dotprod};
#endif
  return l;
}

}  // namespace jig::bench
