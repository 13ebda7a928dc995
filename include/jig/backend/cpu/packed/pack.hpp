#pragma once
// Packing: rows of blocks as they lie in a file to tiles (format.hpp), and rows of values back. Exact both ways.

#include <cstring>

#include "jig/backend/cpu/packed/format.hpp"
#include "jig/core/float16.hpp"

namespace jig::cpu {

namespace detail {

/// The number in W's table of a code that W::codes gives.
template <class W>
inline constexpr std::array<u8, 256> number_of_value = [] {
  std::array<u8, 256> numbers{};
  for (u32 i = 16; i-- > 0;) numbers[static_cast<u8>(codes_of<W>.values[i] + W::bias)] = static_cast<u8>(i);
  return numbers;
}();

/// Writes `Bits` bits of 32 codes, from bit `from` on, to row r of a plane.
template <u32 Bits>
void put_plane(const u8* codes, u32 from, u32 r, u8* plane) noexcept {
  constexpr u32 per_byte = 8 / Bits, mask = 0x01010101u * ((1u << Bits) - 1u);
  for (u32 j = 0; j < Bits; ++j) {
    u32 word = 0;
    for (u32 s = 0; s < per_byte; ++s)
      word |= ((load_le<u32>(codes + 4 * (j * per_byte + s)) >> from) & mask) << (Bits * s);
    store_le(plane + 64 * j + 4 * r, word);
  }
}

/// The bits of step k of row r in a plane, four codes in a word.
template <u32 Bits>
u32 get_plane(const u8* plane, u32 k, u32 r) noexcept {
  constexpr u32 per_byte = 8 / Bits, mask = 0x01010101u * ((1u << Bits) - 1u);
  return (load_le<u32>(plane + 64 * (k / per_byte) + 4 * r) >> (Bits * (k % per_byte))) & mask;
}

template <class T>
void put_number(u8* at, u32 r, T v) noexcept {
  std::memcpy(at + r * sizeof(T), &v, sizeof(T));
}
template <class T>
T get_number(const u8* at, u32 r) noexcept {
  T v;
  std::memcpy(&v, at + r * sizeof(T), sizeof(T));
  return v;
}

/// Number r of 16 floats in a format.
template <scale_format F>
void put_float(u8* at, u32 r, f32 v) noexcept {
  if constexpr (F == scale_format::single) put_number(at, r, v);
  else if constexpr (F == scale_format::half) put_number(at, r, f32_to_f16(v));
  else put_number(at, r, static_cast<u16>(std::bit_cast<u32>(v) >> 16));
}
template <scale_format F>
f32 get_float(const u8* at, u32 r) noexcept {
  if constexpr (F == scale_format::single) return get_number<f32>(at, r);
  else if constexpr (F == scale_format::half) return f16_to_f32(get_number<u16>(at, r));
  else return bf16_to_f32(get_number<u16>(at, r));
}

/// Writes the scales of a block of row r.
template <class W>
void pack_scales(const W& b, u32 r, u8* out) noexcept {
  using L = packed_layout<W>;
  constexpr scale_format F = L::codes.scales;
  for (u32 g = 0; g < L::groups; ++g) {
    u8* const at = out + g * L::group_bytes;
    if constexpr (L::two_levels) {
      put_number(at, r, static_cast<i8>(group_scale(b, g)));
      if constexpr (has_min<W>) put_number(at + L::minima_at, r, static_cast<i8>(group_min(b, g)));
    } else {
      put_float<F>(at, r, W::scale(b) * static_cast<f32>(group_scale(b, g)));
      if constexpr (has_min<W>) put_float<F>(at + L::minima_at, r, W::min(b));
    }
  }
  if constexpr (L::two_levels) {
    put_float<F>(out + L::block_scales_at, r, W::scale(b));
    if constexpr (has_min<W>) put_float<F>(out + L::block_minima_at, r, W::min(b));
  }
}

/// Packs the block that is number `at` in row r of a tile.
template <class W>
void pack_block(const W& b, u32 r, u64 at, u8* codes_out, u8* scales_out) noexcept {
  using L = packed_layout<W>;
  const auto& codes = W::codes(b);
  u8 bytes[W::size];
  for (u32 i = 0; i < W::size; ++i) bytes[i] = static_cast<u8>(codes[i]);
  if constexpr (L::codes.table)
    for (u8& code : bytes) code = number_of_value<W>[code];
  for (u32 g = 0; g < W::size / 32; ++g) {
    u8* const plane = codes_out + (at * (W::size / 32) + g) * L::codes_bytes;
    constexpr u32 low = L::codes.low_bits();
    put_plane<low>(bytes + 32 * g, 0, r, plane);
    if constexpr (L::codes.high_bits() != 0) put_plane<L::codes.high_bits()>(bytes + 32 * g, low, r, plane + 64 * low);
  }
  pack_scales(b, r, scales_out + at * L::block_bytes);
}

}  // namespace detail

/// Packs `rows` rows (at most packed_rows; those that lack become 0) of `cols` columns, `stride` bytes apart, to a
/// tile.
template <class W>
void pack_tile(const u8* from, u64 stride, u32 rows, u32 cols, u8* tile) noexcept {
  using L = packed_layout<W>;
  if (rows < packed_rows) std::memset(tile, 0, L::tile_bytes(cols));
  for (u64 b = 0; b < cols / W::size; ++b)
    for (u32 r = 0; r < rows; ++r)
      detail::pack_block(reinterpret_cast<const W*>(from + r * stride)[b], r, b, tile, tile + L::scales_at(cols));
}

/// The values of row r of a tile: [cols] f32, equal to what decoding the row in the file gives.
template <class W>
void unpack_row(const u8* tile, u32 r, u32 cols, f32* out) noexcept {
  using L = packed_layout<W>;
  constexpr scale_format F = L::codes.scales;
  constexpr u32 low = L::codes.low_bits(), high = L::codes.high_bits();
  for (u32 at = 0; at < cols; at += 4) {
    const u8* const plane = tile + at / 32 * L::codes_bytes;
    const u8* const block = tile + L::scales_at(cols) + at / W::size * L::block_bytes;
    const u8* const group = block + at % W::size / W::group * L::group_bytes;
    u32 codes = detail::get_plane<low>(plane, at % 32 / 4, r);
    if constexpr (high != 0) codes |= detail::get_plane<high>(plane + 64 * low, at % 32 / 4, r) << low;
    f32 scale = 0.0f, minimum = 0.0f;
    if constexpr (L::two_levels) {
      scale = detail::get_float<F>(block + L::block_scales_at, r) * detail::get_number<i8>(group, r);
      if constexpr (has_min<W>)
        minimum = detail::get_float<F>(block + L::block_minima_at, r) * detail::get_number<i8>(group + L::minima_at, r);
    } else {
      scale = detail::get_float<F>(group, r);
      if constexpr (has_min<W>) minimum = detail::get_float<F>(group + L::minima_at, r);
    }
    for (u32 i = 0; i < 4; ++i) {
      const u8 code = static_cast<u8>(codes >> (8 * i));
      i32 value = L::codes.bits == 8 ? static_cast<i8>(code) : code;
      if constexpr (L::codes.table) value = L::codes.values[code];
      else value -= W::bias;
      out[at + i] = scale * static_cast<f32>(value);
      if constexpr (has_min<W>) out[at + i] -= minimum;
    }
  }
}

}  // namespace jig::cpu
