#pragma once
// Operations on every value of a matrix by itself, and the copying ones. Rows are shared out over the threads.

#include "jig/backend/cpu/math.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/tensor.hpp"

namespace jig::cpu {

/// Rows per thread so that a thread has some microseconds of work: no less than `work` values.
constexpr u64 rows_grain(u32 cols, u32 work = 16384) noexcept {
  return cols >= work ? 1 : work / (cols ? cols : 1) + 1;
}

/// Calls f(t) for each of n rows of `cols` values, on all threads.
template <class F>
void each_row(const parallel& p, u32 rows, u32 cols, F&& f) noexcept {
  p.for_rows(rows, rows_grain(cols), [&](u64 begin, u64 end) {
    for (u32 t = static_cast<u32>(begin); t < end; ++t) f(t);
  });
}

/// a += factor * b. Shapes [rows, cols], may not overlap unless equal. Error: one rounding (two on plain floats).
template <class V>
void add(const parallel& p, const mat& a, const mat& b, f32 factor) noexcept {
  each_row(p, a.rows, a.cols, [&](u32 t) {
    transform<V>(a.row(t), b.row(t), a.cols, [&](V x, V y) { return madd(V(factor), y, x); });
  });
}

/// x *= factor.
template <class V>
void scale(const parallel& p, const mat& x, f32 factor) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) { transform<V>(x.row(t), x.cols, [&](V v) { return v * V(factor); }); });
}

/// x = cap * tanh(x / cap). Relative error below 1.5e-6.
template <class V>
void softcap(const parallel& p, const mat& x, f32 cap) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) {
    transform<V>(x.row(t), x.cols, [&](V v) { return V(cap) * tanh(v / V(cap)); });
  });
}

/// x = act(x). Error: see cpu::activate.
template <class V>
void activate(const parallel& p, activation act, const mat& x) noexcept {
  visit_activation(act, [&](auto f) {
    each_row(p, x.rows, x.cols, [&](u32 t) { transform<V>(x.row(t), x.cols, f); });
  });
}

/// gate = act(gate) * up. Error: see cpu::activate.
template <class V>
void gated(const parallel& p, activation act, const mat& gate, const mat& up) noexcept {
  visit_activation(act, [&](auto f) {
    each_row(p, gate.rows, gate.cols, [&](u32 t) {
      transform<V>(gate.row(t), up.row(t), gate.cols, [&](V g, V u) { return f(g) * u; });
    });
  });
}

/// out[t] = x[rows[t]]: [out.rows, cols].
inline void gather(const parallel& p, const mat& x, const u32* rows, const mat& out) noexcept {
  each_row(p, out.rows, out.cols, [&](u32 t) { std::memcpy(out.row(t), x.row(rows[t]), out.cols * sizeof(f32)); });
}

}  // namespace jig::cpu
