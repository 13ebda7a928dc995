#pragma once
// Shared by the tests of quant: typed loops over the registry, random blocks, files.

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "jig/core/endian.hpp"
#include "jig/quant/all.hpp"

namespace quant_test {

using namespace jig;

template <class A, class B>
struct concat;
template <class... As, class... Bs>
struct concat<type_list<As...>, type_list<Bs...>> {
  using type = type_list<As..., Bs...>;
};

/// Weight types and activation types.
using all_blocks = concat<all_quants::list, activation_quants>::type;

/// Calls f(type_tag<T>{}) for every type of a list, as a doctest subcase named after it.
template <class List, class F>
void each(F f) {
  for_each_type(List{}, [&]<class T>(type_tag<T> tag) {
    INFO("type ", std::string(T::name));
    f(tag);
  });
}

using rng = std::mt19937_64;

template <class T>
T random_bytes(rng& r) {
  T b;
  auto* bytes = reinterpret_cast<u8*>(&b);
  for (usize i = 0; i < sizeof b; ++i) bytes[i] = static_cast<u8>(r() >> 32);
  return b;
}

/// A block of random bytes whose values are finite and not beyond 1e9 (random f32 fields would be).
template <class T>
T random_block(rng& r) {
  for (;;) {
    T b = random_bytes<T>(r);
    f32 values[T::size];
    T::decode(b, values);
    bool ordinary = true;
    for (f32 v : values) ordinary = ordinary && std::fabs(v) < 1e9f;
    if (ordinary) return b;
  }
}

/// Normally distributed values times `scale`.
inline std::vector<f32> random_values(rng& r, usize n, f32 scale = 1) {
  std::normal_distribution<f32> normal;
  std::vector<f32> x(n);
  for (f32& v : x) v = scale * normal(r);
  return x;
}

template <encodable T>
std::vector<T> encode_all(const std::vector<f32>& x) {
  std::vector<T> blocks(x.size() / T::size);
  for (usize k = 0; k < blocks.size(); ++k) {
    T::encode(std::span<const f32, T::size>(x.data() + k * T::size, T::size), blocks[k]);
  }
  return blocks;
}

template <quant_block T>
std::vector<f32> decode_all(const std::vector<T>& blocks) {
  std::vector<f32> x(blocks.size() * T::size);
  for (usize k = 0; k < blocks.size(); ++k) {
    T::decode(blocks[k], std::span<f32, T::size>(x.data() + k * T::size, T::size));
  }
  return x;
}

/// FNV-1a, 64 bits.
inline u64 fnv(const u8* data, usize n) {
  u64 h = 0xcbf29ce484222325u;
  for (usize i = 0; i < n; ++i) h = (h ^ data[i]) * 0x100000001b3u;
  return h;
}

/// The values as they would lie in a file.
inline std::vector<u8> f32_bytes(const std::vector<f32>& x) {
  std::vector<u8> bytes(4 * x.size());
  for (usize i = 0; i < x.size(); ++i) store_le(bytes.data() + 4 * i, std::bit_cast<u32>(x[i]));
  return bytes;
}

inline std::vector<u8> read_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

inline std::vector<f32> read_f32(const std::string& path) {
  const auto bytes = read_file(path);
  std::vector<f32> x(bytes.size() / 4);
  for (usize i = 0; i < x.size(); ++i) x[i] = std::bit_cast<f32>(load_le<u32>(bytes.data() + 4 * i));
  return x;
}

template <class T>
std::vector<T> read_blocks(const std::string& path) {
  const auto bytes = read_file(path);
  std::vector<T> blocks(bytes.size() / sizeof(T));
  if (!blocks.empty()) std::memcpy(blocks.data(), bytes.data(), blocks.size() * sizeof(T));
  return blocks;
}

inline const std::string data = std::string(JIG_TEST_DATA) + "/quant/";
inline const std::string kit = std::string(JIG_SHARED) + "/golden/quant/";

}  // namespace quant_test
