// Decodes and multiplies IQ1_S rows in one large inlined function. GCC 12 at -O3 with AVX-512 once crashed here: it
// read a plain local array with an instruction that needs 32-byte alignment, but had placed it at a multiple of 16
// (jig/quant/code_array.hpp). cmake/check_miscompile.sh builds this with -O3 -march=native and runs it.

#include <cmath>
#include <random>
#include <vector>

#include "jig/quant/dot.hpp"
#include "jig/quant/iq1_s.hpp"

using namespace jig;

namespace {

using rng = std::mt19937_64;

template <class T>
T random_block(rng& r) {
  for (;;) {
    T b;
    for (usize i = 0; i < sizeof b; ++i) reinterpret_cast<u8*>(&b)[i] = static_cast<u8>(r() >> 32);
    f32 values[T::size];
    T::decode(b, values);
    bool ordinary = true;
    for (f32 v : values) ordinary = ordinary && std::fabs(v) < 1e9f;
    if (ordinary) return b;
  }
}

template <class T>
std::vector<f32> decode_all(const std::vector<T>& blocks) {
  std::vector<f32> x(blocks.size() * T::size);
  for (usize k = 0; k < blocks.size(); ++k) T::decode(blocks[k], std::span<f32, T::size>(&x[k * T::size], T::size));
  return x;
}

}  // namespace

int main() {
  rng r(26);
  std::normal_distribution<f32> normal;
  for (usize n : {1, 2, 3, 7, 16, 33}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<iq1_s> w;
      for (usize k = 0; k < n; ++k) w.push_back(random_block<iq1_s>(r));
      std::vector<f32> x(n * q8_k::size);
      for (f32& v : x) v = normal(r);
      std::vector<q8_k> a(n);
      for (usize k = 0; k < n; ++k)
        q8_k::encode(std::span<const f32, q8_k::size>(&x[k * q8_k::size], q8_k::size), a[k]);
      const auto ws = decode_all(w), as = decode_all(a);
      f64 sum = 0, unit = 0;
      for (usize i = 0; i < ws.size(); ++i) sum += f64{ws[i]} * as[i], unit += std::fabs(f64{ws[i]} * as[i]);
      if (!(std::fabs(dot(w.data(), a.data(), n) - sum) <= 5e-6 * unit + 1e-12)) return 1;
    }
  }
}
