#pragma once
// Packed tiles as a source of weights for the inner loop (wide/kernel.hpp): codes are put together from their planes as
// they are used, scales are read from beside them.

#include "jig/backend/cpu/packed/format.hpp"
#include "jig/backend/cpu/wide/kernel.hpp"

namespace jig::cpu {

/// Weights of type W from a tile. O: the operations.
template <class O, class W>
class tile_source {
  using L = packed_layout<W>;
  static constexpr code_format codes_ = L::codes;
  /// Whether codes are multiplied as they are, and the bias is subtracted from the sums: only small ones without sign.
  static constexpr bool plain = !codes_.table && codes_.bits < 8;
  /// What the numbers stand for, with what the operations add to signed codes.
  alignas(16) static constexpr std::array<i8, 16> table = [] {
    std::array<i8, 16> values = codes_.values;
    for (i8& v : values) v = static_cast<i8>(v + O::offset);
    return values;
  }();

 public:
  static constexpr u32 group = panel_group<W>;
  static constexpr bool has_minima = has_min<W>, one_scale = cpu::one_scale<W>;

  /// Rows from `row` (a multiple of the lanes) of a tile of `cols` columns, from block `block` on.
  tile_source(const u8* tile, u64 cols, u32 row, u64 block) noexcept
      : planes_(tile + block * (W::size / 32) * L::codes_bytes + 4 * row),
        scales_(tile + L::scales_at(cols) + block * L::block_bytes),
        row_(row) {}

  template <u32 K>
  auto codes(u32 v) const noexcept {
    if constexpr (plain) return stored<K>(v);
    else return O::as_signed(signed_bytes<K>(v));
  }
  template <class Codes>
  static auto dots(typename O::i sums, const Codes& w, auto four) noexcept {
    if constexpr (plain) return O::dots_small(sums, w, four);
    else return O::dots(sums, w, four);
  }
  static auto begin(const wide_group& a, u32 half) noexcept {
    const i32 bias = group == 32 ? a.bias : a.biases[half];  // of 128
    if constexpr (plain) return O::begin(W::bias == 0 ? 0 : (bias >> 7) * W::bias);
    else return O::begin(O::offset == 0 ? 0 : bias);
  }
  auto scales(u32 half, u32 v) const noexcept { return factor<L::block_scales_at>(scales_ + group_at(half), v); }
  auto minima(u32 half, u32 v) const noexcept {
    return factor<L::block_minima_at>(scales_ + group_at(half) + L::minima_at, v);
  }
  void next() noexcept {
    planes_ += L::codes_bytes;
    for (u32 i = 0; i < L::codes_bytes; i += 64) __builtin_prefetch(planes_ + ahead + i);
    if (++at_ == W::size / 32) at_ = 0, scales_ += L::block_bytes;
  }
  /// Codes as a panel holds them (panel.hpp).
  template <u32 K>
  auto panel_bytes(u32 v) const noexcept {
    if constexpr (plain) return O::shifted(stored<K>(v), O::offset - W::bias);
    else return signed_bytes<K>(v);
  }

 private:
  /// Step K from a plane, in bits [To, To + Bits).
  template <u32 Bits, u32 To, u32 K>
  static auto from_plane(const u8* plane) noexcept {
    constexpr u32 per_byte = 8 / Bits, from = Bits * (K % per_byte);
    const auto v = O::load_bytes(plane + 64 * (K / per_byte));
    if constexpr (Bits == 8) return v;
    else return O::both(O::template shift<int(To) - int(from)>(v), static_cast<u8>(((1u << Bits) - 1u) << To));
  }
  /// Codes as they are stored.
  template <u32 K>
  auto stored(u32 v) const noexcept {
    constexpr u32 low = codes_.low_bits(), high = codes_.high_bits();
    const u8* const plane = planes_ + 4 * O::lanes * v;
    const auto bytes = from_plane<low, 0, K>(plane);
    if constexpr (high == 0) return bytes;
    else return O::either(bytes, from_plane<high, low, K>(plane + 64 * low));
  }
  /// Values with O::offset added.
  template <u32 K>
  auto signed_bytes(u32 v) const noexcept {
    if constexpr (codes_.table) return O::look_up(table.data(), stored<K>(v));
    else return O::shifted(stored<K>(v), O::offset);
  }
  u32 group_at(u32 half) const noexcept { return (at_ * 32 + half * 16) / static_cast<u32>(W::group) * L::group_bytes; }
  /// Floats of vector v, as they are stored.
  auto floats(const u8* at, u32 v) const noexcept {
    const u8* const p = at + (row_ + O::lanes * v) * L::float_bytes;
    if constexpr (codes_.scales == scale_format::half) return O::halves(p);
    else if constexpr (codes_.scales == scale_format::brain) return O::brains(p);
    else return O::singles(p);
  }
  /// Scales or minima of a group; BlockAt: where the block's are.
  template <u32 BlockAt>
  auto factor(const u8* of_group, u32 v) const noexcept {
    if constexpr (!L::two_levels) return floats(of_group, v);
    else return O::times(floats(scales_ + BlockAt, v), O::small_numbers(of_group + row_ + O::lanes * v));
  }

  /// Bytes by which codes are asked for before they are used: what memory's latency takes to read (measured).
  static constexpr u32 ahead = 2048;

  const u8 *planes_, *scales_;
  u32 row_, at_ = 0;  ///< at_: 32 columns of the block that are behind us
};

}  // namespace jig::cpu
