#pragma once
// The array type in which block types hand out their unpacked codes.

#include <array>

#include "jig/core/types.hpp"

namespace jig {

/// An array that is aligned for the widest vectors on 64-bit machines. Plain local arrays are not safe here: GCC 12
/// at -O3 with AVX-512 reads some of them with instructions that need 32 bytes, but places them at multiples of 16
/// (the decode loop of IQ1_S, inlined, with -march=native on Zen 4: a crash).
template <class T, usize N>
struct alignas(sizeof(void*) == 8 ? 64 : 8) code_array : std::array<T, N> {};

}  // namespace jig
