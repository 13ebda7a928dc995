#pragma once
// Rotary position encoding: the table of cosines and sines, and the rotation.

#include "jig/backend/cpu/elementwise.hpp"
#include "jig/ops/rope_angle.hpp"

namespace jig::cpu {

namespace detail {

/// cos and sin of 2 pi * turns, |turns| < 2^50. Absolute error below 1.5e-7 (and 2^-52 of the angle).
inline void cos_sin(f64 turns, f32& cos, f32& sin) noexcept {
  // The reduction is in double precision (a few operations, bearable where they are emulated), the rest in single:
  // quarter turns are split off, and the remainder, at most pi/4, goes into the Taylor polynomials.
  const f64 fraction = turns - ((turns + 0x1.8p52) - 0x1.8p52);  // in [-1/2, 1/2]
  const i32 quarters = static_cast<i32>(round_even(one_float(4.0f * static_cast<f32>(fraction))).v);
  const f32 r = static_cast<f32>(fraction - 0.25 * quarters) * 6.28318531f;
  const u32 quadrant = static_cast<u32>(quarters) & 3u;
  const one_float s(r * r);
  const f32 c = polynomial(s, 1.0f / 40320.0f, -1.0f / 720.0f, 1.0f / 24.0f, -0.5f, 1.0f).v;
  const f32 i = r * polynomial(s, 1.0f / 362880.0f, -1.0f / 5040.0f, 1.0f / 120.0f, -1.0f / 6.0f, 1.0f).v;
  cos = quadrant == 0 ? c : quadrant == 1 ? -i : quadrant == 2 ? -c : i;
  sin = quadrant == 0 ? i : quadrant == 1 ? c : quadrant == 2 ? -i : -c;
}

}  // namespace detail

/// out: [tokens, n_rot], cosines in the first half, sines in the second, both times their magnitude.
/// position: [tokens]. Absolute error below 1.5e-7 * magnitude + 1e-15 * the angle: at position 10^6 still 1.6e-7.
inline void rope_table(const parallel& p, const rope_args& a, const u32* position, const mat& out) noexcept {
  const u32 half = a.n_rot / 2;
  p.for_rows(out.rows, 64, [&](u64 begin, u64 end) {
    for (u32 i = 0; i < half; ++i) {
      const rope_angle angle = rope_angle_at(a, i, 1.0);
      const f64 turns = angle.theta * 0.15915494309189533577;
      const f32 magnitude = static_cast<f32>(angle.magnitude);
      for (u32 t = static_cast<u32>(begin); t < end; ++t) {
        f32 cos, sin;
        detail::cos_sin(turns * position[t], cos, sin);
        out.row(t)[i] = cos * magnitude;
        out.row(t)[half + i] = sin * magnitude;
      }
    }
  });
}

namespace detail {

/// Pairs (v[i], v[i + half]).
template <class V>
void rotate_halves(f32* v, const f32* cos, const f32* sin, u32 half) noexcept {
  u32 i = 0;
  for (; i + V::size <= half; i += V::size) {
    const V a = load<V>(v + i), b = load<V>(v + half + i), c = load<V>(cos + i), s = load<V>(sin + i);
    store(v + i, a * c - b * s);
    store(v + half + i, madd(a, s, b * c));
  }
  for (; i < half; ++i) {
    const f32 a = v[i], b = v[half + i];
    v[i] = a * cos[i] - b * sin[i];
    v[half + i] = a * sin[i] + b * cos[i];
  }
}

/// Pairs (v[2i], v[2i + 1]).
inline void rotate_neighbours(f32* v, const f32* cos, const f32* sin, u32 half) noexcept {
  for (u32 i = 0; i < half; ++i) {
    const f32 a = v[2 * i], b = v[2 * i + 1];
    v[2 * i] = a * cos[i] - b * sin[i];
    v[2 * i + 1] = a * sin[i] + b * cos[i];
  }
}

}  // namespace detail

/// Rotates the first table.cols values of each of the n_head heads of x ([tokens, n_head * head]) in place.
/// Absolute error below 1.2e-7 * (|a| + |b|) for each pair a, b.
template <class V>
void rope(const parallel& p, rope_kind kind, const mat& table, u32 n_head, const mat& x) noexcept {
  const u32 head = x.cols / n_head, half = table.cols / 2;
  each_row(p, x.rows, x.cols, [&](u32 t) {
    const f32 *cos = table.row(t), *sin = cos + half;
    for (u32 h = 0; h < n_head; ++h) {
      if (kind == rope_kind::norm) detail::rotate_neighbours(x.row(t) + h * head, cos, sin, half);
      else detail::rotate_halves<V>(x.row(t) + h * head, cos, sin, half);
    }
  });
}

}  // namespace jig::cpu
