#pragma once
// What a block type is: the unit in which GGUF files store numbers.
//
// A block struct holds bytes only (alignment 1, sizeof = bytes in the file, laid over mapped memory as it is)
// and describes itself: number, name, values per block, how to decode, and which format activations take in its
// dot product. Registries are type lists, `quants<q4_k, q6_k, f32>`; a type that no list names leaves no code.

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include "jig/core/type_list.hpp"
#include "jig/core/types.hpp"

namespace jig {

/// A block of `size` values: `id` is its number in GGUF files, `name` is spelt as in ggml ("q4_K").
/// `decode(block, out)` writes the `size` values, exactly as the format defines them.
template <class T>
concept quant_block =
    std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> && alignof(T) == 1 &&
    requires(const T& block, std::span<f32, T::size> out) {
      { T::id } -> std::convertible_to<u32>;
      { T::size } -> std::convertible_to<usize>;
      { std::string_view(T::name) };
      { T::decode(block, out) } noexcept;
    };

/// A block type that weights come in: `dot_with` is the block type to which activations are encoded for its dot.
template <class T>
concept weight_block = quant_block<T> && quant_block<typename T::dot_with>;

/// A block type whose encoder is a fixed formula, so that its bytes are the same everywhere:
/// `encode(values, block)`.
template <class T>
concept encodable = quant_block<T> && requires(std::span<const f32, T::size> values, T& block) {
  { T::encode(values, block) } noexcept;
};

struct f32_block;

namespace detail {
template <class T>
struct block_of {
  using type = T;
};
template <>
struct block_of<f32> {
  using type = f32_block;
};
}  // namespace detail

/// The block types that a program is built with; plain `float` stands for f32_block.
template <class... Ts>
using quants = type_list<typename detail::block_of<Ts>::type...>;

}  // namespace jig
