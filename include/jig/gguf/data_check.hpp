#pragma once
// Looks into a tensor's data for what no sound file holds: NaN, infinities, invalid block scales.
//
// Every value of the plain float types and every floating-point scale of a block is looked at; packed codes can't be
// wrong. Layouts: the block headers of quant/.

#include "jig/core/float16.hpp"
#include "jig/gguf/tensor_info.hpp"

namespace jig::gguf {

namespace detail {

enum class scale_kind : u8 { none, f16, bf16, f32, f64, e8m0, ue4m3, iq1_m };

/// `count` scales of one kind from byte `offset` of each block on.
struct block_scales {
  u32 type;
  scale_kind kind;
  u16 offset = 0, count = 1;
};

// clang-format off
inline constexpr block_scales all_scales[] = {
    {0, scale_kind::f32},          {1, scale_kind::f16},           {2, scale_kind::f16},
    {3, scale_kind::f16, 0, 2},    {6, scale_kind::f16},           {7, scale_kind::f16, 0, 2},
    {8, scale_kind::f16},          {9, scale_kind::f16, 0, 2},     {10, scale_kind::f16, 80, 2},
    {11, scale_kind::f16, 108},    {12, scale_kind::f16, 0, 2},    {13, scale_kind::f16, 0, 2},
    {14, scale_kind::f16, 208},    {15, scale_kind::f32},          {16, scale_kind::f16},
    {17, scale_kind::f16},         {18, scale_kind::f16},          {19, scale_kind::f16},
    {20, scale_kind::f16},         {21, scale_kind::f16},          {22, scale_kind::f16},
    {23, scale_kind::f16},         {24, scale_kind::none},         {25, scale_kind::none},
    {26, scale_kind::none},        {27, scale_kind::none},         {28, scale_kind::f64},
    {29, scale_kind::iq1_m, 48},   {30, scale_kind::bf16},         {34, scale_kind::f16, 52},
    {35, scale_kind::f16, 64},     {39, scale_kind::e8m0},         {40, scale_kind::ue4m3, 0, 4},
    {41, scale_kind::f16},         {42, scale_kind::f16},
};
// clang-format on

constexpr usize width_of(scale_kind k) noexcept {
  constexpr usize widths[] = {1, 2, 2, 4, 8, 1, 1, 8};
  return widths[static_cast<usize>(k)];
}

/// True if the scale at p is finite and valid.
inline bool sound(scale_kind kind, const u8* p, byte_order order) noexcept {
  const auto f16_is_finite = [](u32 bits) { return (bits & 0x7c00) != 0x7c00; };
  switch (kind) {
    case scale_kind::none: return true;
    case scale_kind::f16: return f16_is_finite(load<u16>(p, order));
    case scale_kind::bf16: return (load<u16>(p, order) & 0x7f80) != 0x7f80;
    case scale_kind::f32: return (load<u32>(p, order) & 0x7f800000) != 0x7f800000;
    case scale_kind::f64: return (load<u64>(p, order) >> 52 & 0x7ff) != 0x7ff;
    case scale_kind::e8m0: return *p != 255;
    case scale_kind::ue4m3: return *p < 0x80;
    case scale_kind::iq1_m: {  // an f16 in the top nibbles of four words
      u32 bits = 0;
      for (u32 i = 0; i < 4; ++i) bits |= u32{load<u16>(p + usize{2} * i, order)} >> 12 << (4 * i);
      return f16_is_finite(bits);
    }
  }
  return false;
}

}  // namespace detail

/// Checks all data of a tensor. Errors: bad_data with the tensor's name, the block's number and, if `file_bytes` is the
/// file that holds the tensor, the byte position.
inline result<void> check_data(const tensor_info& t, std::span<const u8> file_bytes = {}) noexcept {
  const block_info* info = find_block_info(t.type);
  if (info == nullptr) return fail(errc::unknown_tensor_type, t.name).got(t.type);
  for (const detail::block_scales& s : detail::all_scales) {
    if (s.type != t.type || s.kind == detail::scale_kind::none) continue;
    const usize width = detail::width_of(s.kind);
    for (usize at = 0; at + info->bytes <= t.data.size(); at += info->bytes)
      for (usize i = 0; i < s.count; ++i) {
        const u8* p = t.data.data() + at + s.offset + i * width;
        if (detail::sound(s.kind, p, t.order)) continue;
        error e = fail(errc::bad_data, t.name).got(at / info->bytes);
        if (!file_bytes.empty()) e.at(static_cast<u64>(p - file_bytes.data()));
        return e;
      }
  }
  return {};
}

}  // namespace jig::gguf
