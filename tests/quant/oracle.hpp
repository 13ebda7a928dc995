#pragma once
// The naive oracle of the block formats: value i of a block, straight from the format page's formula per value, by
// byte offsets and in f64. Slow, and shares nothing with the library but the codebooks' entries.

#include "quant/support.hpp"

namespace quant_test {

struct bytes {
  const u8* p;
  int u(usize at) const { return p[at]; }
  int s(usize at) const { return p[at] < 128 ? p[at] : p[at] - 256; }
  u32 u16le(usize at) const { return p[at] + 256u * p[at + 1]; }
  u32 u32le(usize at) const { return u16le(at) + 65536u * u16le(at + 2); }
  f64 f16(usize at) const { return half(u16le(at)); }
  int lo(usize at) const { return p[at] % 16; }
  int hi(usize at) const { return p[at] / 16; }
  int bits(usize at, usize first, usize n) const { return (p[at] >> first) % (1 << n); }

  static f64 half(u32 h) {
    const int e = (h >> 10) & 31, m = h & 1023;
    const f64 v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
    return h & 0x8000 ? -v : v;
  }
};

inline int level_iq4(int q) {
  static const int levels[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  return levels[q];
}

inline f64 e2m1(int q) {
  const int e = (q >> 1) & 3, m = q & 1;
  const f64 v = e == 0 ? m / 2.0 : std::ldexp(1 + m / 2.0, e - 1);
  return q & 8 ? -v : v;
}

inline f64 ue4m3(int u) {
  u &= 127;
  if (u == 0x7f) return 0;
  return u < 8 ? std::ldexp(u, -9) : std::ldexp(8 + u % 8, u / 8 - 10);
}

template <class Grid>
int level(u32 index, usize j) {
  u32 entry = Grid::entries[index];
  for (usize k = 0; k < j; ++k) entry /= 1u << Grid::bits;
  return Grid::levels[entry % (1u << Grid::bits)];
}

inline bool negative7(u32 index, usize j) {
  if (j < 7) return (index >> j) & 1;
  int ones = 0;
  for (usize k = 0; k < 7; ++k) ones += (index >> k) & 1;
  return ones % 2;
}

/// Value i of a block of type T.
template <class T>
f64 oracle(const T& block, usize i) {
  const bytes b{reinterpret_cast<const u8*>(&block)};
  const auto nib = [&](usize at) { return i < 16 ? b.lo(at + i) : b.hi(at + i - 16); };
  const auto fifth = [&](usize at) { return 16 * b.bits(at + i / 8, i % 8, 1); };
  const usize h = i / 128, p = i % 128 / 32, l = i % 32;  // half, plane, lane of the 256-value types
  const usize sub = i / 32, g = i % 32 / 8, j = i % 8;    // sub-block, group of eight, value in it
  const auto plane = [&](usize at) { return b.bits(at + 32 * h + l, 2 * p, 2); };
  const auto sc = [&](usize at) {
    return sub < 4 ? b.bits(at + sub, 0, 6) : b.lo(at + sub + 4) + 16 * b.bits(at + sub - 4, 6, 2);
  };
  const auto mn = [&](usize at) {
    return sub < 4 ? b.bits(at + sub + 4, 0, 6) : b.hi(at + sub + 4) + 16 * b.bits(at + sub, 6, 2);
  };
  const auto nib_k = [&](usize at) {
    const usize k = at + 32 * (i / 64) + l;
    return i % 64 < 32 ? b.lo(k) : b.hi(k);
  };

  if constexpr (std::is_same_v<T, f32_block>) return std::bit_cast<f32>(b.u32le(0));
  else if constexpr (std::is_same_v<T, f16_block>) return b.f16(0);
  else if constexpr (std::is_same_v<T, bf16_block>) return std::bit_cast<f32>(b.u16le(0) << 16);
  else if constexpr (std::is_same_v<T, q4_0>) return b.f16(0) * (nib(2) - 8);
  else if constexpr (std::is_same_v<T, q4_1>) return b.f16(0) * nib(4) + b.f16(2);
  else if constexpr (std::is_same_v<T, q5_0>) return b.f16(0) * (nib(6) + fifth(2) - 16);
  else if constexpr (std::is_same_v<T, q5_1>) return b.f16(0) * (nib(8) + fifth(4)) + b.f16(2);
  else if constexpr (std::is_same_v<T, q8_0>) return b.f16(0) * b.s(2 + i);
  else if constexpr (std::is_same_v<T, q8_1>) return b.f16(0) * b.s(4 + i);
  else if constexpr (std::is_same_v<T, q8_k>) return f64{std::bit_cast<f32>(b.u32le(0))} * b.s(4 + i);
  else if constexpr (std::is_same_v<T, iq4_nl>) return b.f16(0) * level_iq4(nib(2));
  else if constexpr (std::is_same_v<T, mxfp4>) return std::ldexp(e2m1(nib(1)), b.u(0) - 127);
  else if constexpr (std::is_same_v<T, nvfp4>) {
    const usize s = i / 16, k = i % 16;
    return e2m1(k < 8 ? b.lo(4 + 8 * s + k) : b.hi(4 + 8 * s + k - 8)) * ue4m3(b.u(s));
  } else if constexpr (std::is_same_v<T, q1_0>) return b.bits(2 + i / 8, i % 8, 1) ? b.f16(0) : -b.f16(0);
  else if constexpr (std::is_same_v<T, q2_0>) return b.f16(0) * (b.bits(2 + i / 4, 2 * (i % 4), 2) - 1);
  else if constexpr (std::is_same_v<T, q2_k>) return b.f16(80) * b.lo(i / 16) * plane(16) - b.f16(82) * b.hi(i / 16);
  else if constexpr (std::is_same_v<T, q3_k>) {
    const usize s = i / 16;
    const int scale = (s < 8 ? b.lo(96 + s) : b.hi(88 + s)) + 16 * b.bits(104 + s % 4, 2 * (s / 4), 2) - 32;
    return b.f16(108) * scale * (plane(32) + 4 * b.bits(l, i / 32, 1) - 4);
  } else if constexpr (std::is_same_v<T, q4_k>) return b.f16(0) * sc(4) * nib_k(16) - b.f16(2) * mn(4);
  else if constexpr (std::is_same_v<T, q5_k>) {
    return b.f16(0) * sc(4) * (nib_k(48) + 16 * b.bits(16 + l, i / 32, 1)) - b.f16(2) * mn(4);
  } else if constexpr (std::is_same_v<T, q6_k>) {
    const usize k = 64 * h + 32 * (p % 2) + l;
    return b.f16(208) * b.s(192 + i / 16) * ((p < 2 ? b.lo(k) : b.hi(k)) + 16 * plane(128) - 32);
  } else if constexpr (std::is_same_v<T, iq2_xxs>) {
    const u32 words = b.u32le(2 + 8 * sub + 4);
    const int v = level<codebook::iq2_xxs_grid>(static_cast<u32>(b.u(2 + 8 * sub + g)), j);
    return b.f16(0) * (2 * (words >> 28) + 1) / 8 * (negative7((words >> (7 * g)) & 127, j) ? -v : v);
  } else if constexpr (std::is_same_v<T, iq2_xs>) {
    const u32 w = b.u16le(2 + 2 * (4 * sub + g));
    const int v = level<codebook::iq2_xs_grid>(w % 512, j), s = g < 2 ? b.lo(66 + sub) : b.hi(66 + sub);
    return b.f16(0) * (2 * s + 1) / 8 * (negative7(w / 512, j) ? -v : v);
  } else if constexpr (std::is_same_v<T, iq2_s>) {
    const u32 index = static_cast<u32>(b.u(2 + 4 * sub + g) + 256 * b.bits(66 + sub, 2 * g, 2));
    const int v = level<codebook::iq2_s_grid>(index, j), s = g < 2 ? b.lo(74 + sub) : b.hi(74 + sub);
    return b.f16(0) * (2 * s + 1) / 8 * (b.bits(34 + 4 * sub + g, j, 1) ? -v : v);
  } else if constexpr (std::is_same_v<T, iq3_xxs>) {
    const u32 word = b.u32le(66 + 4 * sub);
    const int v = level<codebook::iq3_xxs_grid>(static_cast<u32>(b.u(2 + 8 * sub + 2 * g + j / 4)), j % 4);
    return b.f16(0) * (2 * (word >> 28) + 1) / 4 * (negative7((word >> (7 * g)) & 127, j) ? -v : v);
  } else if constexpr (std::is_same_v<T, iq3_s>) {
    const usize k = i % 32 / 4;
    const u32 index = static_cast<u32>(b.u(2 + 8 * sub + k) + 256 * b.bits(66 + sub, k, 1));
    const int v = level<codebook::iq3_s_grid>(index, j % 4);
    const int s = sub % 2 == 0 ? b.lo(106 + sub / 2) : b.hi(106 + sub / 2);
    return b.f16(0) * (2 * s + 1) * (b.bits(74 + 4 * sub + g, j, 1) ? -v : v);
  } else if constexpr (std::is_same_v<T, iq1_s>) {
    const u32 w = b.u16le(34 + 2 * sub);
    const u32 index = static_cast<u32>(b.u(2 + 4 * sub + g)) + 256 * ((w >> (3 * g)) % 8);
    return b.f16(0) * (2 * ((w >> 12) % 8) + 1) * (level<codebook::iq1_grid>(index, j) + (w >> 15 ? -0.125 : 0.125));
  } else if constexpr (std::is_same_v<T, iq1_m>) {
    u32 d = 0;
    for (usize k = 4; k-- > 0;) d = 16 * d + (b.u16le(48 + 2 * k) >> 12);
    const int high = g % 2 == 0 ? b.lo(32 + 2 * sub + g / 2) : b.hi(32 + 2 * sub + g / 2);
    const u32 index = static_cast<u32>(b.u(4 * sub + g) + 256 * (high % 8));
    const u32 s = (b.u16le(48 + 2 * (sub / 2)) >> (6 * (sub % 2) + 3 * (g / 2))) % 8;
    return bytes::half(d) * (2 * s + 1) * (level<codebook::iq1_grid>(index, j) + (high >= 8 ? -0.125 : 0.125));
  } else if constexpr (std::is_same_v<T, iq4_xs>) {
    const int s = (sub % 2 == 0 ? b.lo(4 + sub / 2) : b.hi(4 + sub / 2)) + 16 * int((b.u16le(2) >> (2 * sub)) % 4) - 32;
    return b.f16(0) * s * level_iq4(l < 16 ? b.lo(8 + 16 * sub + l) : b.hi(8 + 16 * sub + l - 16));
  } else if constexpr (std::is_same_v<T, tq2_0>) return b.f16(64) * (plane(0) - 1);
  else {
    static_assert(std::is_same_v<T, tq1_0>, "a new type needs its formula here");
    const usize at = i < 160 ? l : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4;
    const usize n = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;
    int v = b.u(at);
    for (usize k = 0; k < n; ++k) v = v * 3 % 256;
    return b.f16(52) * (v * 3 / 256 - 1);
  }
}

}  // namespace quant_test
