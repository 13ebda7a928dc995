#pragma once
// Recurrent layers (ops/recurrence.hpp). A thread takes some columns or heads through all tokens of the batch, so that
// their state stays in its cache.

#include "jig/backend/cpu/elementwise.hpp"
#include "jig/ops/batch.hpp"
#include "jig/ops/recurrence.hpp"

namespace jig::cpu {

/// See conv_args. Shapes: x, out [tokens, cols]. Sums in f32, the oldest row first.
inline void conv(const parallel& p, const conv_args& a, const batch& b, const mat& x, const mat& out) noexcept {
  const u32 kept = a.kept(), before = a.taps - 1;
  p.for_rows(x.cols, rows_grain(x.rows * (kept + 1)), [&](u64 begin, u64 end) {
    for (u32 t = 0; t < x.rows; ++t) {
      f32* state = b.states.of(b.sequence[t]) + a.state_offset;
      for (u64 c = begin; c < end; ++c) {
        const f32 now = x.row(t)[c];
        f32 sum = state[c];
        if (a.w) {
          const f32* w = a.w.floats() + c * a.taps;
          sum = 0.0f;
          for (u32 j = 0; j < before; ++j) sum += w[j] * state[u64{j} * a.dilation * x.cols + c];
          sum += w[before] * now;
        }
        for (u32 j = 1; j < kept; ++j) state[u64{j - 1} * x.cols + c] = state[u64{j} * x.cols + c];
        state[u64{kept - 1} * x.cols + c] = now;
        out.row(t)[c] = sum;
      }
    }
  });
}

namespace detail {

/// s[i] = f(s[i], at), where at(p) is p[i], in steps of a vector; returns the sum of s[i] * q[i].
template <class V, class F>
f32 update_dot(f32* s, const f32* q, u32 n, F&& f) noexcept {
  V sums(0.0f);
  u32 i = 0;
  for (; i + V::size <= n; i += V::size) {
    const V x = f(load<V>(s + i), [i](const f32* at) { return load<V>(at + i); });
    store(s + i, x);
    sums = madd(x, load<V>(q + i), sums);
  }
  if constexpr (V::size > 1)
    if (const u32 rest = n - i; rest != 0) {
      const V x = f(load_part<V>(s + i, rest), [=](const f32* at) { return load_part<V>(at + i, rest); });
      store_part(s + i, x, rest);
      sums = madd(x, load_part<V>(q + i, rest), sums);
    }
  return sum(sums);
}

/// One token of one head; decay(at) gives the factors.
template <class V, class Decay>
void scan_token(const scan_args& a, const scan_inputs& in, u32 t, u32 h, f32* state, f32* out, Decay decay) noexcept {
  const u32 n = a.dim_k, from = scan_key_head(a, h) * n;
  const f32 *q = in.q.row(t) + from, *k = in.k.row(t) + from, *v = in.v.row(t) + u64{h} * a.dim_v;
  const f32* erase = in.erase.cols ? in.erase.row(t) + from : k;
  const f32* write = in.write.cols ? in.write.row(t) + from : k;
  const f32 rate = in.rate.cols ? in.rate.row(t)[h] : 1.0f;
  const f32* bonus = a.bonus ? a.bonus.floats() + u64{h} * n : nullptr;
  f32 own = 0.0f;  // what the token's own key and value give beside the state, with a bonus
  for (u32 i = 0; bonus && i < n; ++i) own += q[i] * bonus[i] * k[i];
  for (u32 j = 0; j < a.dim_v; ++j) {
    f32* s = state + u64{j} * n;
    const f32 early = bonus ? dot_of<V>(s, q, n) + v[j] * own : 0.0f;
    f32 erased = 0.0f;
    if (a.erase == scan_erase::before_decay) erased = dot_of<V>(s, erase, n);
    if (a.erase == scan_erase::after_decay)
      erased = update_dot<V>(s, erase, n, [&](V x, auto at) { return x * decay(at); });
    const V put(rate * v[j]), take(-rate * erased);
    const f32 late = update_dot<V>(s, q, n, [&](V x, auto at) {
      if (a.erase != scan_erase::after_decay) x = x * decay(at);
      if (a.erase != scan_erase::none) x = madd(take, at(write), x);
      return madd(put, at(k), x);
    });
    out[j] = a.scale * (bonus ? early : late);
  }
}

}  // namespace detail

/// See scan_args. Shapes: scan_inputs, out [tokens, n_head * dim_v]. Sums over dim_k in lanes.
template <class V>
void scan(const parallel& p, const scan_args& a, const batch& b, const scan_inputs& in, const mat& out) noexcept {
  const u64 head = u64{a.dim_v} * a.dim_k;
  const u32 together = head < 4096 ? static_cast<u32>(4096 / head) : 1;  // heads whose states fit the nearest cache
  const u32 n = a.dim_k;
  const auto one = [&](u32 t, u32 h) {
    f32* state = b.states.of(b.sequence[t]) + a.state_offset + h * head;
    f32* y = out.row(t) + u64{h} * a.dim_v;
    if (a.log_decay.cols == 1) {
      const V w(exp(one_float(a.log_decay.floats()[h] * in.decay.row(t)[h])).v);
      detail::scan_token<V>(a, in, t, h, state, y, [w](auto) { return w; });
    } else if (a.log_decay) {
      const V dt(in.decay.row(t)[h]);
      const f32* rates = a.log_decay.floats() + u64{h} * n;
      detail::scan_token<V>(a, in, t, h, state, y, [=](auto at) { return exp(dt * at(rates)); });
    } else if (in.decay.cols == a.n_head) {
      const V w(in.decay.row(t)[h]);
      detail::scan_token<V>(a, in, t, h, state, y, [w](auto) { return w; });
    } else {
      const f32* factors = in.decay.row(t) + u64{h} * n;
      detail::scan_token<V>(a, in, t, h, state, y, [=](auto at) { return at(factors); });
    }
  };
  p.for_rows(a.n_head, rows_grain(static_cast<u32>(head) * out.rows), [&](u64 begin, u64 end) {
    for (u64 first = begin; first < end; first += together)
      for (u32 t = 0; t < out.rows; ++t)
        for (u64 h = first; h < first + together && h < end; ++h) one(t, static_cast<u32>(h));
  });
}

/// out[t][g] = the sum of a[t][c] * b[t][c] over the columns of group g. Shapes: a, b [rows, groups * n], out
/// [rows, groups].
template <class V>
void dot_groups(const parallel& p, const mat& a, const mat& b, const mat& out) noexcept {
  const u32 n = a.cols / out.cols;
  each_row(p, a.rows, a.cols, [&](u32 t) {
    for (u32 g = 0; g < out.cols; ++g) out.row(t)[g] = dot_of<V>(a.row(t) + u64{g} * n, b.row(t) + u64{g} * n, n);
  });
}

}  // namespace jig::cpu
