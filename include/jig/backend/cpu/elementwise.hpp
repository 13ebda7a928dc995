#pragma once
// Operations on every value of a matrix by itself, and the copying ones. Rows are shared out over the threads.

#include "jig/backend/cpu/math.hpp"
#include "jig/ops/exact.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/sinkhorn.hpp"
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
  each_row(p, a.rows, a.cols,
           [&](u32 t) { transform<V>(a.row(t), b.row(t), a.cols, [&](V x, V y) { return madd(V(factor), y, x); }); });
}

/// x *= factor.
template <class V>
void scale(const parallel& p, const mat& x, f32 factor) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) { transform<V>(x.row(t), x.cols, [&](V v) { return v * V(factor); }); });
}

/// x = cap * tanh(x / cap). Relative error below 1.5e-6.
template <class V>
void softcap(const parallel& p, const mat& x, f32 cap) noexcept {
  each_row(p, x.rows, x.cols,
           [&](u32 t) { transform<V>(x.row(t), x.cols, [&](V v) { return V(cap) * tanh(v / V(cap)); }); });
}

namespace detail {

/// v within [low, high].
template <class V>
V limited(V v, V low, V high) noexcept {
  return choose(v > high, high, choose(low > v, low, v));
}

}  // namespace detail

/// act(x) of one value, for the sets without vectors: one function in place of one loop per activation. x itself for
/// the activations that have no vector form.
[[gnu::noinline]] inline f32 activate_one(activation act, f32 x) noexcept {
  visit_activation(act, [&](auto f) { x = f(one_float(x)).v; });
  return x;
}

/// x = act(x). Error: see cpu::activate; softplus, xIELU and the square root are computed in double precision.
template <class V>
void activate(const parallel& p, const activation_args& act, const mat& x) noexcept {
  const auto each = [&](u32 cost, auto f) {
    each_row(p, x.rows, x.cols * cost, [&](u32 t) {
      for (u32 c = 0; c < x.cols; ++c) x.row(t)[c] = f(x.row(t)[c]);
    });
  };
  if (act.kind == activation::softplus || act.kind == activation::xielu || act.kind == activation::signed_sqrt) {
    each(16, [&](f32 v) { return static_cast<f32>(activate_exact(act, f64(v))); });
  } else if constexpr (V::size == 1) {
    each(4, [&](f32 v) { return activate_one(act.kind, v); });
  } else {
    visit_activation(act.kind,
                     [&](auto f) { each_row(p, x.rows, x.cols, [&](u32 t) { transform<V>(x.row(t), x.cols, f); }); });
  }
}

/// gate = act(gate) * up, within the limits of activation_args. Error: see cpu::activate.
template <class V>
void gated(const parallel& p, const activation_args& act, const mat& gate, const mat& up) noexcept {
  constexpr f32 lowest = std::numeric_limits<f32>::lowest();
  const f32 most = act.limit != 0.0f ? act.limit : std::numeric_limits<f32>::max();
  const bool oai = act.kind == activation::swiglu_oai;
  const auto rows = [&](auto f) {
    each_row(p, gate.rows, gate.cols, [&](u32 t) { transform<V>(gate.row(t), up.row(t), gate.cols, f); });
  };
  const auto with = [&](auto f) {
    if (!oai && act.limit == 0.0f) return rows([&]<class U>(U g, U u) { return f(g) * u; });
    rows([&]<class U>(U g, U u) {
      const U high(most), low(lowest), within = detail::limited(u, U(-most), high);
      return oai ? f(detail::limited(g, low, high)) * (within + U(1.0f)) : detail::limited(f(g), low, high) * within;
    });
  };
  if constexpr (V::size == 1) with([&](one_float v) { return one_float(activate_one(act.kind, v.v)); });
  else visit_activation(act.kind, with);
}

/// x *= factors: a factor for each group of x.cols / factors.cols neighbouring columns.
template <class V>
void multiply(const parallel& p, const mat& x, const mat& factors) noexcept {
  const u32 group = x.cols / factors.cols;
  each_row(p, x.rows, x.cols, [&](u32 t) {
    const f32* f = factors.row(t);
    if (group == 1) return transform<V>(x.row(t), f, x.cols, [](V v, V w) { return v * w; });
    for (u32 g = 0; g < factors.cols; ++g)
      transform<V>(x.row(t) + g * group, group, [&, w = V(f[g])](V v) { return v * w; });
  });
}

/// x = min(max(x, -limit), limit).
template <class V>
void clamp(const parallel& p, const mat& x, f32 limit) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) {
    transform<V>(x.row(t), x.cols, [&](V v) { return detail::limited(v, V(-limit), V(limit)); });
  });
}

/// x = v.
inline void fill(const parallel& p, const mat& x, f32 v) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) {
    for (u32 c = 0; c < x.cols; ++c) x.row(t)[c] = v;
  });
}

/// The rows of x times temperature_at their positions.
template <class V>
void temperature(const parallel& p, const temperature_args& a, const u32* position, const mat& x) noexcept {
  each_row(p, x.rows, x.cols, [&](u32 t) {
    const V factor(temperature_at(a, position[t]));
    transform<V>(x.row(t), x.cols, [&](V v) { return v * factor; });
  });
}

/// out[t * n + j] = weights[t][j] * x[t]. Shapes: x [tokens, cols], weights [tokens, n], out [tokens * n, cols].
template <class V>
void expand(const parallel& p, const mat& x, const mat& weights, const mat& out) noexcept {
  const u32 n = weights.cols;
  each_row(p, out.rows, out.cols, [&](u32 s) {
    const V w(weights.row(s / n)[s % n]);
    transform_to<V>(x.row(s / n), out.row(s), out.cols, [&](V v) { return w * v; });
  });
}

/// See sinkhorn_args; in double precision.
inline void sinkhorn(const parallel& p, const sinkhorn_args& a, const mat& scores, const mat& out) noexcept {
  const u32 cost = out.cols * (2 * a.iterations + 32);
  each_row(p, out.rows, cost, [&](u32 t) { sinkhorn_token(a, scores.row(t), out.row(t)); });
}

/// out[r] = the mean of the rows t of x with group[t] == group[rows[r]]: [out.rows, cols]. Sums in f32, in order.
template <class V>
void average(const parallel& p, const mat& x, const u32* group, const u32* rows, const mat& out) noexcept {
  each_row(p, out.rows, out.cols * (x.rows / (out.rows ? out.rows : 1) + 1), [&](u32 r) {
    f32* y = out.row(r);
    f32 n = 0.0f;
    for (u32 t = 0; t < x.rows; ++t) {
      if (group[t] != group[rows[r]]) continue;
      if (n == 0.0f) std::memcpy(y, x.row(t), out.cols * sizeof(f32));
      else transform<V>(y, x.row(t), out.cols, [](V a, V b) { return a + b; });
      n += 1.0f;
    }
    transform<V>(y, out.cols, [part = V(1.0f / n)](V a) { return a * part; });
  });
}

/// out[t] = x[rows[t]]: [out.rows, cols].
inline void gather(const parallel& p, const mat& x, const u32* rows, const mat& out) noexcept {
  each_row(p, out.rows, out.cols, [&](u32 t) { std::memcpy(out.row(t), x.row(rows[t]), out.cols * sizeof(f32)); });
}

}  // namespace jig::cpu
