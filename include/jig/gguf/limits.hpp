#pragma once
// What jig accepts in a GGUF file beyond the format's own rules. Real files stay far below.

#include "jig/core/types.hpp"

namespace jig::gguf::limits {

inline constexpr u64 key_bytes = 65535;               ///< longest metadata key (the specification's limit)
inline constexpr u64 tensor_name_bytes = 64;          ///< longest tensor name (the specification's limit)
inline constexpr u64 keys = u64{1} << 16;             ///< most metadata entries
inline constexpr u64 tensors = u64{1} << 18;          ///< most tensors (unfused experts make some 50000)
inline constexpr u64 metadata_bytes = 0xffffffffu;    ///< header, keys and tensor infos: positions are u32 in the index
inline constexpr u64 dimension = (u64{1} << 63) - 1;  ///< largest dimension and largest product of dimensions
inline constexpr u32 rank = 4;                        ///< most dimensions of a tensor
inline constexpr u32 min_alignment = 8;               ///< the specification: general.alignment is a multiple of 8
inline constexpr u32 max_alignment = u32{1} << 20;    ///< a cap, so that padding stays small
inline constexpr u32 default_alignment = 32;          ///< where general.alignment is absent

// The fewest bytes that an entry can take: counts are compared with the rest of the file before any loop.
inline constexpr u64 min_key_entry = 8 + 0 + 4 + 1;             ///< key length, key, type, one-byte value
inline constexpr u64 min_tensor_entry = 8 + 0 + 4 + 8 + 4 + 8;  ///< name length, name, rank, ne[0], type, offset

}  // namespace jig::gguf::limits
