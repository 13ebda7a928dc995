#pragma once
// Turning the byte order of tensor data: which bytes of each block type form numbers of more than one byte.
//
// A big-endian GGUF file stores the 16-, 32- and 64-bit fields inside its blocks big-endian too. jig's block types
// read little-endian bytes on every host, so data of such a file is turned once, here. Packed codes and scales of one
// byte have no order. The same call turns in both directions.

#include <span>
#include <utility>

#include "jig/core/result.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::gguf {

namespace detail {

/// `count` numbers of `width` bytes from byte `offset` of a block on; a width of 0 ends a block's list.
struct number_field {
  u16 offset, width, count;
};
struct block_fields {
  u32 type;
  number_field fields[2];
};

// clang-format off
inline constexpr block_fields multibyte_fields[] = {
    {0, {{0, 4, 1}}},                  // f32
    {1, {{0, 2, 1}}},                  // f16
    {2, {{0, 2, 1}}},                  // q4_0: d
    {3, {{0, 2, 2}}},                  // q4_1: d, m
    {6, {{0, 2, 1}, {2, 4, 1}}},       // q5_0: d; fifth bits
    {7, {{0, 2, 2}, {4, 4, 1}}},       // q5_1: d, m; fifth bits
    {8, {{0, 2, 1}}},                  // q8_0: d
    {9, {{0, 2, 2}}},                  // q8_1: d, s
    {10, {{80, 2, 2}}},                // q2_K: d, dmin
    {11, {{108, 2, 1}}},               // q3_K: d
    {12, {{0, 2, 2}}},                 // q4_K: d, dmin
    {13, {{0, 2, 2}}},                 // q5_K: d, dmin
    {14, {{208, 2, 1}}},               // q6_K: d
    {15, {{0, 4, 1}, {260, 2, 16}}},   // q8_K: d; sums
    {16, {{0, 2, 1}, {2, 4, 16}}},     // iq2_xxs: d; words
    {17, {{0, 2, 33}}},                // iq2_xs: d, words
    {18, {{0, 2, 1}, {66, 4, 8}}},     // iq3_xxs: d; words
    {19, {{0, 2, 1}, {34, 2, 8}}},     // iq1_s: d; words
    {20, {{0, 2, 1}}},                 // iq4_nl: d
    {21, {{0, 2, 1}}},                 // iq3_s: d
    {22, {{0, 2, 1}}},                 // iq2_s: d
    {23, {{0, 2, 2}}},                 // iq4_xs: d, upper scale bits
    {24, {}},                          // i8
    {25, {{0, 2, 1}}},                 // i16
    {26, {{0, 4, 1}}},                 // i32
    {27, {{0, 8, 1}}},                 // i64
    {28, {{0, 8, 1}}},                 // f64
    {29, {{48, 2, 4}}},                // iq1_m: scales
    {30, {{0, 2, 1}}},                 // bf16
    {34, {{52, 2, 1}}},                // tq1_0: d
    {35, {{64, 2, 1}}},                // tq2_0: d
    {39, {}},                          // mxfp4
    {40, {}},                          // nvfp4
    {41, {{0, 2, 1}}},                 // q1_0: d
    {42, {{0, 2, 1}}},                 // q2_0: d
};
// clang-format on

}  // namespace detail

/// Turns the byte order of whole blocks in place.
/// Errors: unknown_tensor_type; partial_block if `data` is not a whole number of blocks.
constexpr result<void> swap_byte_order(u32 type, std::span<u8> data) noexcept {
  const block_info* info = find_block_info(type);
  const detail::block_fields* found = nullptr;
  for (const detail::block_fields& f : detail::multibyte_fields)
    if (f.type == type) found = &f;
  if (info == nullptr || found == nullptr) return fail(errc::unknown_tensor_type).got(type);
  if (data.size() % info->bytes != 0) return fail(errc::partial_block, info->name).got(data.size());
  for (usize block = 0; block < data.size(); block += info->bytes)
    for (const detail::number_field& f : found->fields)
      for (usize i = 0; i < f.count; ++i) {
        u8* p = data.data() + block + f.offset + i * f.width;
        for (usize k = 0; k < f.width / 2u; ++k) std::swap(p[k], p[f.width - 1 - k]);
      }
  return {};
}

}  // namespace jig::gguf
