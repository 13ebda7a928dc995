#pragma once
// The short names of the fixed-width types that every jig header uses.

#include <cstddef>
#include <cstdint>
#include <limits>

namespace jig {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;
using usize = std::size_t;

static_assert(sizeof(f32) == 4 && std::numeric_limits<f32>::is_iec559, "jig needs IEEE binary32");
static_assert(sizeof(f64) == 8 && std::numeric_limits<f64>::is_iec559, "jig needs IEEE binary64");

}  // namespace jig
