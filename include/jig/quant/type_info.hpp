#pragma once
// The tensor types that a GGUF file may name: number, name, values and bytes per block.
//
// This header knows no block structs, so that a reader of files costs nothing but this table; a test checks that
// it agrees with them. Numbers 4, 5, 31 to 33 and 36 to 38 are retired and, like any other number, unknown.
// Source: the type numbers of the GGUF format; sizes from the layouts in the block headers beside this one.

#include <string_view>

#include "jig/core/ascii.hpp"
#include "jig/core/result.hpp"
#include "jig/core/types.hpp"

namespace jig {

/// What a type number is for.
enum class block_kind : u8 {
  weight,      ///< has a block struct with decode and dot
  activation,  ///< has a block struct; made at run time, not expected in files
  number,      ///< plain little-endian numbers without a block struct: indices, tables
};

/// One tensor type: `size` values lie in `bytes` bytes.
struct block_info {
  u32 id;
  std::string_view name;  ///< as ggml spells it, lower case but for the K of the K types: "q4_K"
  u32 size;
  u32 bytes;
  block_kind kind = block_kind::weight;
};

/// All known types, by ascending number.
inline constexpr block_info block_infos[] = {
    {0, "f32", 1, 4},
    {1, "f16", 1, 2},
    {2, "q4_0", 32, 18},
    {3, "q4_1", 32, 20},
    {6, "q5_0", 32, 22},
    {7, "q5_1", 32, 24},
    {8, "q8_0", 32, 34},
    {9, "q8_1", 32, 36, block_kind::activation},
    {10, "q2_K", 256, 84},
    {11, "q3_K", 256, 110},
    {12, "q4_K", 256, 144},
    {13, "q5_K", 256, 176},
    {14, "q6_K", 256, 210},
    {15, "q8_K", 256, 292, block_kind::activation},
    {16, "iq2_xxs", 256, 66},
    {17, "iq2_xs", 256, 74},
    {18, "iq3_xxs", 256, 98},
    {19, "iq1_s", 256, 50},
    {20, "iq4_nl", 32, 18},
    {21, "iq3_s", 256, 110},
    {22, "iq2_s", 256, 82},
    {23, "iq4_xs", 256, 136},
    {24, "i8", 1, 1, block_kind::number},
    {25, "i16", 1, 2, block_kind::number},
    {26, "i32", 1, 4, block_kind::number},
    {27, "i64", 1, 8, block_kind::number},
    {28, "f64", 1, 8, block_kind::number},
    {29, "iq1_m", 256, 56},
    {30, "bf16", 1, 2},
    {34, "tq1_0", 256, 54},
    {35, "tq2_0", 256, 66},
    {39, "mxfp4", 32, 17},
    {40, "nvfp4", 64, 36},
    {41, "q1_0", 128, 18},
    {42, "q2_0", 64, 18},
};

/// The type with this number, or nullptr if it is unknown or retired.
constexpr const block_info* find_block_info(u32 id) noexcept {
  for (const block_info& info : block_infos) {
    if (info.id == id) return &info;
  }
  return nullptr;
}

/// The type with this name (upper and lower case are the same), or nullptr.
constexpr const block_info* find_block_info(std::string_view name) noexcept {
  for (const block_info& info : block_infos) {
    bool same = info.name.size() == name.size();
    for (usize i = 0; same && i < name.size(); ++i) same = ascii_lower(info.name[i]) == ascii_lower(name[i]);
    if (same) return &info;
  }
  return nullptr;
}

/// Bytes of a row of `n` values. Errors: partial_block if n is not a multiple of the block length,
/// bad_dimension if the row is 2^63 bytes or longer.
constexpr result<u64> row_bytes(const block_info& info, u64 n) noexcept {
  if (n % info.size != 0) return fail(errc::partial_block, info.name).got(n);
  const u64 blocks = n / info.size;
  if (blocks > (u64{1} << 63) / info.bytes - 1) return fail(errc::bad_dimension, info.name).got(n);
  return blocks * info.bytes;
}

/// The same by type number. Error: unknown_tensor_type.
constexpr result<u64> row_bytes(u32 id, u64 n) noexcept {
  const block_info* info = find_block_info(id);
  if (info == nullptr) return fail(errc::unknown_tensor_type).got(id);
  return row_bytes(*info, n);
}

}  // namespace jig
