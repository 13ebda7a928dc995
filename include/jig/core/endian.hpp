#pragma once
// Little-endian numbers as they lie in files and quantised blocks: byte arrays with alignment 1.
//
// A block struct made of these may be laid over any address of a mapped file on any host.

#include <bit>
#include <cstring>
#include <type_traits>

#include "jig/core/float16.hpp"
#include "jig/core/types.hpp"

namespace jig {

/// Reverses the bytes of an unsigned integer.
template <class U>
constexpr U byteswap(U v) noexcept {
  static_assert(std::is_unsigned_v<U>);
  U out = 0;
  for (usize i = 0; i < sizeof(U); ++i) out = static_cast<U>((out << (i ? 8 : 0)) | ((v >> (8 * i)) & 0xff));
  return out;
}

/// Reads an unsigned little-endian integer from any address.
template <class U>
constexpr U load_le(const u8* p) noexcept {
  static_assert(std::is_unsigned_v<U>);
  if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
    U v = 0;
    for (usize i = 0; i < sizeof(U); ++i) v = static_cast<U>(v | (static_cast<U>(p[i]) << (8 * i)));
    return v;
  }
  U v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Writes an unsigned integer little-endian to any address.
template <class U>
constexpr void store_le(u8* p, U v) noexcept {
  static_assert(std::is_unsigned_v<U>);
  for (usize i = 0; i < sizeof(U); ++i) p[i] = static_cast<u8>(v >> (8 * i));
}

/// An unsigned integer stored little-endian, alignment 1.
template <class U>
struct le {
  u8 bytes[sizeof(U)];
  constexpr operator U() const noexcept { return load_le<U>(bytes); }
  constexpr le& operator=(U v) noexcept { store_le(bytes, v); return *this; }
};
using le_u16 = le<u16>;
using le_u32 = le<u32>;

/// A binary16 number stored little-endian, alignment 1; reads as f32, rounds when assigned.
struct le_f16 {
  u8 bytes[2];
  constexpr operator f32() const noexcept { return f16_to_f32(load_le<u16>(bytes)); }
  constexpr le_f16& operator=(f32 v) noexcept { store_le(bytes, f32_to_f16(v)); return *this; }
};

/// A bfloat16 number stored little-endian, alignment 1; reads as f32, rounds when assigned.
struct le_bf16 {
  u8 bytes[2];
  constexpr operator f32() const noexcept { return bf16_to_f32(load_le<u16>(bytes)); }
  constexpr le_bf16& operator=(f32 v) noexcept { store_le(bytes, f32_to_bf16(v)); return *this; }
};

/// A binary32 number stored little-endian, alignment 1.
struct le_f32 {
  u8 bytes[4];
  constexpr operator f32() const noexcept { return std::bit_cast<f32>(load_le<u32>(bytes)); }
  constexpr le_f32& operator=(f32 v) noexcept { store_le(bytes, std::bit_cast<u32>(v)); return *this; }
};

}  // namespace jig
