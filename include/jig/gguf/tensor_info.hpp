#pragma once
// One tensor of a GGUF file: name, shape, block type and where its bytes lie.

#include <span>
#include <string_view>

#include "jig/gguf/cursor.hpp"
#include "jig/gguf/limits.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::gguf {

/// A tensor entry of a validated file; a view, valid as long as the file's bytes are.
struct tensor_info {
  std::string_view name;
  u32 n_dims = 0;            ///< 1..4, as written
  u64 ne[4] = {1, 1, 1, 1};  ///< values per dimension, ne[0] the fastest (a row); 1 beyond n_dims
  u32 type = 0;              ///< GGUF tensor type id, known to find_block_info
  u64 offset = 0;            ///< from the start of the data section
  u64 bytes = 0;             ///< size of the data, without padding
  std::span<const u8> data;  ///< the data itself, in the file's byte order
  byte_order order = byte_order::little;
  u64 position = 0;  ///< where this entry starts in the file

  /// Values in the tensor; below 2^63.
  constexpr u64 elements() const noexcept { return ne[0] * ne[1] * ne[2] * ne[3]; }
  /// Rows of ne[0] values.
  constexpr u64 rows() const noexcept { return ne[1] * ne[2] * ne[3]; }
};

namespace detail {

/// Reads and checks the dimensions. Errors: truncated, bad_rank, bad_dimension.
inline result<void> read_shape(cursor& at, tensor_info& t) noexcept {
  const u64 start = at.position();
  JIG_TRY(t.n_dims, at.read<u32>(t.name));
  if (t.n_dims < 1 || t.n_dims > limits::rank) return fail(errc::bad_rank, t.name).got(t.n_dims).at(start);
  u64 product = 1;
  for (u32 d = 0; d < t.n_dims; ++d) {
    const u64 here = at.position();
    JIG_TRY(t.ne[d], at.read<u64>(t.name));
    if (t.ne[d] == 0 || t.ne[d] > limits::dimension / product)
      return fail(errc::bad_dimension, t.name).got(t.ne[d]).at(here);
    product *= t.ne[d];
  }
  return {};
}

/// Reads the type and computes the size. Errors: truncated, unknown_tensor_type, partial_block, bad_dimension.
inline result<void> read_type(cursor& at, tensor_info& t) noexcept {
  const u64 start = at.position();
  JIG_TRY(t.type, at.read<u32>(t.name));
  const block_info* info = find_block_info(t.type);
  if (info == nullptr) return fail(errc::unknown_tensor_type, t.name).got(t.type).at(start);
  if (t.ne[0] % info->size != 0) return fail(errc::partial_block, t.name).got(t.ne[0]).at(start);
  const u64 blocks = t.elements() / info->size;
  if (blocks > limits::dimension / info->bytes) return fail(errc::bad_dimension, t.name).got(t.elements()).at(start);
  t.bytes = blocks * info->bytes;
  return {};
}

}  // namespace detail

/// Reads one tensor entry; `data` stays empty, and only the offset's alignment is checked.
/// Errors: truncated, string_too_long, bad_tensor_name, bad_rank, bad_dimension, unknown_tensor_type, partial_block,
/// misaligned_offset; each with the tensor's name and position.
inline result<tensor_info> read_tensor_info(cursor& at, u32 alignment) noexcept {
  tensor_info t;
  t.position = at.position();
  t.order = at.order();
  const auto name = at.read_string("a tensor's name", at.left());
  if (!name) return name.error();
  t.name = *name;
  if (t.name.empty() || t.name.size() > limits::tensor_name_bytes || !is_printable(t.name))
    return fail(errc::bad_tensor_name, t.name).got(t.name.size()).at(t.position);
  JIG_CHECK(detail::read_shape(at, t));
  JIG_CHECK(detail::read_type(at, t));
  const u64 start = at.position();
  JIG_TRY(t.offset, at.read<u64>(t.name));
  if (t.offset % alignment != 0) return fail(errc::misaligned_offset, t.name).got(t.offset).at(start);
  return t;
}

}  // namespace jig::gguf
