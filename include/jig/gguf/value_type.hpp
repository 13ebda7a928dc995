#pragma once
// The value types of GGUF metadata, their numbers in the file and their sizes.
// Source: the GGUF specification (ggml repository, docs/gguf.md), gguf_metadata_value_type.

#include <bit>
#include <string_view>

#include "jig/core/types.hpp"

namespace jig::gguf {

/// Metadata value types; the enumerators are the numbers that stand in the file.
enum class value_type : u32 {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// True if the file's number names a known value type.
constexpr bool is_value_type(u32 id) noexcept { return id <= 12; }

/// Bytes of one value in the file; 0 for strings and arrays, whose size varies.
constexpr u32 size_of(value_type t) noexcept {
  constexpr u32 sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return is_value_type(static_cast<u32>(t)) ? sizes[static_cast<u32>(t)] : 0;
}

/// The short name: "u32", "string", ... Also the spelling that jig-gguf's `set` takes.
constexpr std::string_view name(value_type t) noexcept {
  constexpr std::string_view names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};
  return is_value_type(static_cast<u32>(t)) ? names[static_cast<u32>(t)] : "unknown";
}

/// True for the eight integer types (not for bool).
constexpr bool is_integer(value_type t) noexcept {
  return is_value_type(static_cast<u32>(t)) && t != value_type::f32 && t != value_type::f64 &&
         t != value_type::boolean && t != value_type::string && t != value_type::array;
}

/// True for the signed integer types.
constexpr bool is_signed(value_type t) noexcept {
  return t == value_type::i8 || t == value_type::i16 || t == value_type::i32 || t == value_type::i64;
}

/// True for f32 and f64.
constexpr bool is_float(value_type t) noexcept { return t == value_type::f32 || t == value_type::f64; }

/// The byte order of a file's numbers (not of the host). GGUF's magic reads "GGUF" in both.
enum class byte_order : u8 { little, big };

}  // namespace jig::gguf
