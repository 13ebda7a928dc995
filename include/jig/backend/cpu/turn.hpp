#pragma once
// Rows to columns: 16 rows of f32 so turned that a vector holds one column of several rows.

#include "jig/backend/cpu/simd.hpp"

namespace jig::cpu {

inline constexpr u32 turned_rows = 16;

namespace detail {

/// Columns [from, n): out[column][row].
inline void turn_plain(const f32* const* rows, u32 from, u32 n, f32* out) noexcept {
  for (u32 c = from; c < n; ++c)
    for (u32 r = 0; r < turned_rows; ++r) out[c * turned_rows + r] = rows[r][c];
}

#if defined(JIG_HAS_AVX2)
/// Eight columns of eight rows. Pairs, quadruples, then halves change places.
inline void turn_8(const f32* const* rows, u32 from, f32* out) noexcept {
  __m256 v[8], pairs[8], fours[8];
  for (u32 r = 0; r < 8; ++r) v[r] = _mm256_loadu_ps(rows[r] + from);
  for (u32 r = 0; r < 8; r += 2) {
    pairs[r] = _mm256_unpacklo_ps(v[r], v[r + 1]);
    pairs[r + 1] = _mm256_unpackhi_ps(v[r], v[r + 1]);
  }
  for (u32 r = 0; r < 8; r += 4)
    for (u32 k = 0; k < 2; ++k) {
      fours[r + 2 * k] = _mm256_shuffle_ps(pairs[r + k], pairs[r + 2 + k], 0x44);
      fours[r + 2 * k + 1] = _mm256_shuffle_ps(pairs[r + k], pairs[r + 2 + k], 0xee);
    }
  for (u32 c = 0; c < 4; ++c) {
    _mm256_storeu_ps(out + c * turned_rows, _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x20));
    _mm256_storeu_ps(out + (c + 4) * turned_rows, _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x31));
  }
}
#elif defined(JIG_HAS_NEON)
/// Four columns of four rows.
inline void turn_4(const f32* const* rows, u32 from, f32* out) noexcept {
  float32x4x4_t v;
  for (u32 r = 0; r < 4; ++r) v.val[r] = vld1q_f32(rows[r] + from);
  f32 columns[16];
  vst4q_f32(columns, v);
  for (u32 c = 0; c < 4; ++c) vst1q_f32(out + c * turned_rows, vld1q_f32(columns + 4 * c));
}
#endif

}  // namespace detail

/// The first n columns of turned_rows rows: out[column][row].
inline void turn(const f32* const* rows, u32 n, f32* out) noexcept {
  u32 from = 0;
#if defined(JIG_HAS_AVX2)
  for (; from + 8 <= n; from += 8)
    for (u32 r = 0; r < turned_rows; r += 8) detail::turn_8(rows + r, from, out + from * turned_rows + r);
#elif defined(JIG_HAS_NEON)
  for (; from + 4 <= n; from += 4)
    for (u32 r = 0; r < turned_rows; r += 4) detail::turn_4(rows + r, from, out + from * turned_rows + r);
#endif
  detail::turn_plain(rows, from, n, out);
}

}  // namespace jig::cpu
