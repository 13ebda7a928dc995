#pragma once
// Shared by the tests of the CPU kernels: the tables to test, random data, threads without threads, comparisons.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "jig/backend/cpu/dispatch.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/quant/all.hpp"

namespace cpu_test {

using namespace jig;

/// The tables that this machine can run; says which it cannot.
inline std::vector<const cpu::kernel_table*> tables() {
  static bool told = false;
  std::vector<const cpu::kernel_table*> list;
  const cpu::machine_isas machine = cpu::detect_isas();
  for (const cpu::kernel_table* const* t = jig_dispatch_tables; *t != nullptr; ++t) {
    if (machine.has((*t)->isa)) list.push_back(*t);
    else if (!told) MESSAGE("skipped: this machine cannot run the kernels for ", std::string((*t)->isa));
  }
  told = true;
  return list;
}

/// A small generator (Marsaglia's xorshift), the same everywhere.
struct random_source {
  u64 state = 0x9e3779b97f4a7c15u;
  u64 bits() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  /// Uniform in [-1, 1), times scale.
  f32 value(f32 scale = 1.0f) {
    return static_cast<f32>(static_cast<i32>(bits() >> 40) - (1 << 23)) * 0x1p-23f * scale;
  }
};

inline std::vector<f32> random_floats(usize n, u64 seed, f32 scale = 1.0f) {
  random_source r{seed * 0x2545f4914f6cdd1du + 1};
  for (int i = 0; i < 8; ++i) r.bits();
  std::vector<f32> v(n);
  for (f32& x : v) x = r.value(scale);
  return v;
}

/// Random bytes as blocks of type T, redrawn where a value would be infinite, NaN or huge.
template <class T>
std::vector<u8> random_blocks(usize n, u64 seed) {
  random_source r{seed * 0x2545f4914f6cdd1du + T::id * 977 + 1};
  std::vector<u8> bytes(n * sizeof(T));
  for (usize k = 0; k < n; ++k) {
    T& block = reinterpret_cast<T*>(bytes.data())[k];
    for (bool good = false; !good;) {
      u8 raw[sizeof(T)];
      for (u8& b : raw) b = static_cast<u8>(r.bits() >> 32);
      std::memcpy(&block, raw, sizeof(T));
      f32 values[T::size];
      T::decode(block, std::span<f32, T::size>(values));
      good = true;
      for (f32 v : values) good = good && std::fabs(v) < 100.0f;
    }
  }
  return bytes;
}

/// Runs tasks for `count` workers one after the other, the last first: the split of the work without its races.
struct fake_threads {
  u32 count;
  operator parallel() {
    return {[](void* self, parallel::task f, void* context) {
              const u32 n = static_cast<fake_threads*>(self)->count;
              for (u32 i = n; i-- > 0;) f(context, i, n);
            },
            this, count};
  }
};

/// The view of a vector as a matrix.
inline mat view(std::vector<f32>& v, u32 rows, u32 cols) { return {v.data(), rows, cols, cols}; }

inline bool same_bits(const std::vector<f32>& a, const std::vector<f32>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(f32)) == 0;
}

/// The largest |got - want| / max(|want|, floor); infinite if anything is NaN.
inline f64 worst_relative(const std::vector<f32>& got, const std::vector<f32>& want, f64 floor) {
  f64 worst = got.size() == want.size() ? 0.0 : INFINITY;
  for (usize i = 0; i < got.size() && i < want.size(); ++i) {
    const f64 scale = std::fabs(f64(want[i])) > floor ? std::fabs(f64(want[i])) : floor;
    const f64 e = std::fabs(f64(got[i]) - f64(want[i])) / scale;
    if (!(e <= worst)) worst = std::isnan(e) ? INFINITY : e;
  }
  return worst;
}

}  // namespace cpu_test
