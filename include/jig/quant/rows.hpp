#pragma once
// Whole rows of blocks: decode and encode a known type, or the type whose number stands in a file.
//
// A run-time type number meets the compile-time types here and in the backends, through `visit_id` on the list of
// types that the program is built with.

#include "jig/core/result.hpp"
#include "jig/quant/block.hpp"

namespace jig {

/// Decodes `n` blocks to out[n * T::size].
template <quant_block T>
constexpr void decode_row(const T* blocks, usize n, f32* out) noexcept {
  for (usize k = 0; k < n; ++k) T::decode(blocks[k], std::span<f32, T::size>(out + k * T::size, T::size));
}

/// Encodes x[n * T::size] to `n` blocks.
template <encodable T>
constexpr void encode_row(const f32* x, usize n, T* blocks) noexcept {
  for (usize k = 0; k < n; ++k) T::encode(std::span<const f32, T::size>(x + k * T::size, T::size), blocks[k]);
}

namespace detail {

/// The number of whole blocks in `values` values that lie in `bytes` bytes.
template <quant_block T>
constexpr result<usize> blocks_of(usize values, usize bytes) noexcept {
  if (values % T::size != 0) return fail(errc::partial_block, T::name).got(values);
  if (values / T::size > bytes / sizeof(T)) return fail(errc::buffer_too_small, T::name).got(bytes);
  return values / T::size;
}

}  // namespace detail

/// Decodes as many values as `out` holds from blocks of type number `id`. `bytes` may lie at any address.
/// Errors: wrong_tensor_type if `Quants` does not list the type, partial_block if `out` ends inside a block,
/// buffer_too_small if `bytes` holds fewer blocks.
template <class Quants>
result<void> decode_row(u32 id, std::span<const u8> bytes, std::span<f32> out) noexcept {
  result<void> r = fail(errc::wrong_tensor_type).got(id);
  visit_id(Quants{}, id, [&]<class T>(type_tag<T>) {
    const auto n = detail::blocks_of<T>(out.size(), bytes.size());
    r = n ? result<void>{} : n.error();
    if (n) decode_row(reinterpret_cast<const T*>(bytes.data()), *n, out.data());
  });
  return r;
}

/// Encodes all of `x` to blocks of type number `id`. Errors: as decode_row, and not_supported for types whose
/// encoder is not a fixed formula.
template <class Quants>
result<void> encode_row(u32 id, std::span<const f32> x, std::span<u8> bytes) noexcept {
  result<void> r = fail(errc::wrong_tensor_type).got(id);
  visit_id(Quants{}, id, [&]<class T>(type_tag<T>) {
    if constexpr (encodable<T>) {
      const auto n = detail::blocks_of<T>(x.size(), bytes.size());
      r = n ? result<void>{} : n.error();
      if (n) encode_row(x.data(), *n, reinterpret_cast<T*>(bytes.data()));
    } else {
      r = fail(errc::not_supported, T::name).got(id);
    }
  });
  return r;
}

}  // namespace jig
