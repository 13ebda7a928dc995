#pragma once
// What almost all block types have in common: small integer codes and scales per group of values.
//
//   value i = scale * group_scale(g) * (code[i] - bias) - min * group_min(g),   g = i / group
//
// A block type states these parts, and decode (here), the dot products (dot.hpp) and the packers of the backends
// are generic. All products are exact in f32 (11-bit f16 significands times small integers), so only the final
// subtraction of the types with a minimum rounds, and the order of the factors does not matter.

#include "jig/quant/block.hpp"
#include "jig/quant/code_array.hpp"

namespace jig {

/// A block type described by codes. `codes(b)` gives `size` codes, as an array or a reference to the block's own
/// bytes, of type u8 (then `bias` turns them into signed numbers) or i8 (then `bias` is 0).
/// Optional parts: `group_scale(b, g)` (else 1), `min(b)` (else there is none), `group_min(b, g)` (else 1).
template <class T>
concept coded_block = quant_block<T> && requires(const T& b) {
  { T::group } -> std::convertible_to<usize>;
  { T::bias } -> std::convertible_to<i32>;
  { T::scale(b) } noexcept -> std::same_as<f32>;
  { T::codes(b)[0] } noexcept;
} && T::size % T::group == 0;

/// Whether the type subtracts a minimum.
template <class T>
inline constexpr bool has_min = requires(const T& b) { T::min(b); };

/// The scale of group g relative to the block's: an integer for all types but NVFP4.
template <class T>
constexpr auto group_scale(const T& b, usize g) noexcept {
  if constexpr (requires { T::group_scale(b, g); }) return T::group_scale(b, g);
  else return i32{1};
}

/// The minimum of group g in units of the block's.
template <class T>
constexpr i32 group_min(const T& b, usize g) noexcept {
  if constexpr (requires { T::group_min(b, g); }) return T::group_min(b, g);
  else return 1;
}

/// Decodes a block by its parts: what `T::decode` of these types does.
template <class T>
constexpr void decode_codes(const T& b, std::span<f32, T::size> out) noexcept {
  const f32 scale = T::scale(b);
  const auto& codes = T::codes(b);
  for (usize g = 0; g < T::size / T::group; ++g) {
    const f32 s = scale * static_cast<f32>(group_scale(b, g));
    for (usize i = g * T::group; i < (g + 1) * T::group; ++i) out[i] = s * static_cast<f32>(codes[i] - T::bias);
    if constexpr (has_min<T>) {
      const f32 m = T::min(b) * static_cast<f32>(group_min(b, g));
      for (usize i = g * T::group; i < (g + 1) * T::group; ++i) out[i] -= m;
    }
  }
}

}  // namespace jig
