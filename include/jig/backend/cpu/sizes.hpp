#pragma once
// What the planner needs to know of the CPU's kernels: formats and sizes. Nothing here depends on the instruction set,
// so a plan holds for every machine, and programs that choose kernels at run time plan before they choose.

#include "jig/core/arena.hpp"
#include "jig/core/type_list.hpp"
#include "jig/ops/args.hpp"
#include "jig/quant/f32.hpp"
#include "jig/quant/q8_0.hpp"
#include "jig/quant/q8_1.hpp"
#include "jig/quant/q8_k.hpp"

namespace jig::cpu {

/// The format to which activations are brought for weights of type W. Plain floats meet f32 activations, so that F32,
/// F16 and BF16 weights lose nothing.
template <class W>
using partner = std::conditional_t<W::dot_with::size == 1, f32_block, typename W::dot_with>;

/// Weights that were packed (packed/format.hpp) have their type's number and this bit; so has the form of activations
/// that meets them, which is that for wide products alone.
inline constexpr u32 packed_bit = 1u << 16;
constexpr u32 packed_type(u32 type) noexcept { return type | packed_bit; }
constexpr bool is_packed(u32 type) noexcept { return (type & packed_bit) != 0; }
constexpr u32 unpacked_type(u32 type) noexcept { return type & ~packed_bit; }

/// The partner format of a weight type; f32 for types that Quants does not list. The same for every instruction set.
template <class Quants>
constexpr u32 activation_type(u32 weight_type) noexcept {
  u32 type = f32_block::id;
  visit_id(Quants{}, unpacked_type(weight_type), [&]<class W>(type_tag<W>) { type = partner<W>::id; });
  return type | (weight_type & packed_bit);
}

/// The formats that activations are encoded to.
using encoded_types = type_list<q8_0, q8_1, q8_k>;

/// Whether weights of some type in the list meet activations of type A.
template <class A, class... Ws>
constexpr bool has_partner(type_list<Ws...>) noexcept { return (std::is_same_v<partner<Ws>, A> || ...); }

/// Bytes of one encoded row; 0 for f32, which stays where it is. The same for every instruction set.
constexpr u64 encoded_row_bytes(u32 type, u32 cols) noexcept {
  u64 bytes = 0;
  visit_id(encoded_types{}, type, [&]<class A>(type_tag<A>) { bytes = u64{cols} / A::size * sizeof(A); });
  return bytes;
}

/// Batches of so many rows and more are multiplied as wide products (wide/matmul.hpp), for which the activations are
/// kept in a second form.
inline constexpr u32 wide_columns_least = 32;

/// Bytes of 32 activations in the form for wide products: a cache line.
inline constexpr u64 wide_group_bytes = 64;

/// Where the rows for wide products begin behind `rows` encoded ones.
constexpr u64 wide_offset(u32 type, u32 rows, u32 cols) noexcept {
  return round_up(rows * encoded_row_bytes(type, cols), 64);
}

namespace detail {

inline constexpr u32 block_cells = 16;
inline constexpr u32 attend_tokens_most = 8;  ///< tokens of a tile

/// Floats between the decoded rows of a block: whole blocks of every kv type.
constexpr u64 decoded_stride(const attend_args& a) noexcept {
  return round_up(a.dim_k > a.dim_v ? a.dim_k : a.dim_v, 32);
}

}  // namespace detail

/// Scratch for `attend` on at most `threads` threads; the same for every instruction set.
constexpr u64 attend_scratch_bytes(const attend_args& a, u32 threads) noexcept {
  const u64 group = a.n_head / (a.n_head_kv ? a.n_head_kv : 1);
  const u64 rows = group * detail::attend_tokens_most;
  const u64 floats = 2 * detail::block_cells * detail::decoded_stride(a) + rows * (detail::block_cells + 2);
  return threads * round_up(floats * sizeof(f32), 64);
}

/// What the planner needs to know. It does not depend on the instruction set, so a plan holds for every machine.
template <class Quants>
struct kernel_sizes {
  /// The format to which activations are brought for these weights.
  static constexpr u32 activation_type(u32 weight_type) { return cpu::activation_type<Quants>(weight_type); }
  /// Bytes of activations [rows, cols] in that format; 0 if they stay f32.
  static constexpr u64 prepared_bytes(u32 type, u32 rows, u32 cols) {
    if (is_packed(type)) return rows * (cols / 32 * wide_group_bytes);
    const u64 row = encoded_row_bytes(type, cols);
    if (row == 0 || rows < wide_columns_least) return rows * row;
    return wide_offset(type, rows, cols) + rows * (cols / 32 * wide_group_bytes);
  }
  /// Scratch of `attend` for at most `threads` threads.
  static constexpr u64 attend_scratch_bytes(const attend_args& a, u32 threads) {
    return cpu::attend_scratch_bytes(a, threads);
  }
  /// Bytes of a row of weights as it lies in the file; 0 for types that Quants does not list.
  static constexpr u64 row_bytes(u32 type, u32 cols) {
    u64 bytes = 0;
    visit_id(Quants{}, unpacked_type(type),
             [&]<class T>(type_tag<T>) { bytes = u64{cols} / T::size * sizeof(T); });
    return bytes;
  }
};

}  // namespace jig::cpu
