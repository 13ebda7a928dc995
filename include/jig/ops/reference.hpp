#pragma once
// The reference kernels: plain loops, sums in double, no quantised activations. They are the truth that every
// faster kernel set is tested against, and each reads like the formula that it computes.
//
// Kernel sets are classes with these member functions; weights of any block type in Quants are decoded on the fly.
// Preconditions everywhere: shapes agree (the executor made them), ids are in range (the session checked them).

#include <cmath>

#include "jig/core/type_list.hpp"
#include "jig/ops/exact.hpp"
#include "jig/ops/executor.hpp"
#include "jig/ops/kv_rows.hpp"
#include "jig/ops/rope_angle.hpp"
#include "jig/ops/select_token.hpp"
#include "jig/quant/all.hpp"
#include "jig/quant/type_info.hpp"

namespace jig {

template <class Quants = all_quants>
struct reference_kernels {
  static constexpr u32 activation_type(u32) { return f32_block::id; }
  static constexpr u64 prepared_bytes(u32, u32, u32) { return 0; }
  static constexpr u64 attend_scratch_bytes(const attend_args&, u32) { return 0; }
  static constexpr u64 row_bytes(u32 type, u32 cols) {
    const auto bytes = jig::row_bytes(type, cols);
    return bytes ? *bytes : 0;
  }

  /// out[t] = row tokens[t] of the table.
  void embed(const parallel& p, const weight& w, const i32* tokens, const mat& out) const {
    visit_id(Quants{}, w.type, [&]<class T>(type_tag<T>) {
      p.for_rows(out.rows, 1, [&](u64 begin, u64 end) {
        for (u64 t = begin; t < end; ++t) {
          const T* blocks = row<T>(w, 0, static_cast<u32>(tokens[t]));
          f32* y = out.row(static_cast<u32>(t));
          for (u32 c = 0; c < w.cols; c += T::size)
            T::decode(blocks[c / T::size], std::span<f32, T::size>(y + c, T::size));
        }
      });
    });
  }

  void prepare(const parallel&, u32, const mat&, u8*) const {}

  /// out[t][r] = scale * sum_c W[r][c] x[t][c] + bias[r].
  void matmul(const parallel& p, const linear& w, const activations& a, const mat& out) const {
    visit_id(Quants{}, w.w.type, [&]<class T>(type_tag<T>) {
      p.for_rows(w.w.rows, 1, [&](u64 begin, u64 end) {
        for (u32 r = static_cast<u32>(begin); r < end; ++r)
          for (u32 t = 0; t < a.x.rows; ++t) out.row(t)[r] = static_cast<f32>(dot<T>(w, 0, r, a.x.row(t)));
      });
    });
  }

  /// out[s] = W[ids[s]] x[s / per_row].
  void matmul_experts(const parallel& p, const linear& w, const activations& a, const i32* ids, u32 per_row,
                      const mat& out) const {
    visit_id(Quants{}, w.w.type, [&]<class T>(type_tag<T>) {
      p.for_rows(w.w.rows, 1, [&](u64 begin, u64 end) {
        for (u32 s = 0; s < out.rows; ++s)
          for (u32 r = static_cast<u32>(begin); r < end; ++r)
            out.row(s)[r] = static_cast<f32>(dot<T>(w, static_cast<u32>(ids[s]), r, a.x.row(s / per_row)));
      });
    });
  }

  void add(const parallel&, const mat& a, const mat& b, f32 factor) const {
    each(a, [&](u32 t, u32 c) { a.row(t)[c] += factor * b.row(t)[c]; });
  }
  void scale(const parallel&, const mat& x, f32 factor) const {
    each(x, [&](u32 t, u32 c) { x.row(t)[c] *= factor; });
  }
  void softcap(const parallel&, const mat& x, f32 cap) const {
    each(x, [&](u32 t, u32 c) { x.row(t)[c] = static_cast<f32>(f64(cap) * std::tanh(f64(x.row(t)[c]) / f64(cap))); });
  }
  void gated(const parallel&, const activation_args& act, const mat& gate, const mat& up) const {
    each(gate, [&](u32 t, u32 c) {
      gate.row(t)[c] = static_cast<f32>(gated_exact(act, f64(gate.row(t)[c]), f64(up.row(t)[c])));
    });
  }
  void activate(const parallel&, const activation_args& act, const mat& x) const {
    each(x, [&](u32 t, u32 c) { x.row(t)[c] = static_cast<f32>(activate_exact(act, f64(x.row(t)[c]))); });
  }
  void multiply(const parallel&, const mat& x, const mat& factors) const {
    const u32 group = x.cols / factors.cols;
    each(x, [&](u32 t, u32 c) { x.row(t)[c] *= factors.row(t)[c / group]; });
  }
  void fill(const parallel&, const mat& x, f32 v) const {
    each(x, [&](u32 t, u32 c) { x.row(t)[c] = v; });
  }
  void temperature(const parallel&, const temperature_args& a, const u32* position, const mat& x) const {
    each(x, [&](u32 t, u32 c) { x.row(t)[c] *= temperature_at(a, position[t]); });
  }
  /// out[t * n + j] = weights[t][j] * x[t].
  void expand(const parallel&, const mat& x, const mat& weights, const mat& out) const {
    const u32 n = weights.cols;
    each(out, [&](u32 s, u32 c) { out.row(s)[c] = weights.row(s / n)[s % n] * x.row(s / n)[c]; });
  }
  void clamp(const parallel&, const mat& x, f32 limit) const {
    each(x, [&](u32 t, u32 c) {
      f32& v = x.row(t)[c];
      v = v > limit ? limit : v < -limit ? -limit : v;
    });
  }

  /// See norm_kind; x and out may be the same.
  void norm(const parallel&, const norm_args& a, const mat& x, const mat& out) const {
    const u32 n = a.group ? a.group : x.cols;
    for (u32 t = 0; t < x.rows; ++t)
      for (u32 from = 0; from < x.cols; from += n) {
        const f32* in = x.row(t) + from;
        f32* y = out.row(t) + from;
        f64 mean = 0.0, square = 0.0;
        if (a.kind == norm_kind::layer) {
          for (u32 c = 0; c < n; ++c) mean += f64(in[c]);
          mean /= n;
        }
        for (u32 c = 0; c < n; ++c) square += (f64(in[c]) - mean) * (f64(in[c]) - mean);
        f64 length = std::sqrt(square / n + f64(a.eps));
        if (a.kind == norm_kind::l2) length = std::fmax(std::sqrt(square), f64(a.eps));
        const f64 inverse = 1.0 / length;
        for (u32 c = 0; c < n; ++c) {
          f64 v = (f64(in[c]) - mean) * inverse;
          if (a.w) v *= f64(a.w.floats()[(a.w.rows > 1 ? from / n * a.w.cols : 0) + (a.w.cols > 1 ? c : 0)]);
          if (a.b) v += f64(a.b.floats()[c]);
          y[c] = static_cast<f32>(v);
        }
      }
  }

  void rope_table(const parallel&, const rope_args& a, const u32* position, const mat& out) const {
    const u32 half = a.n_rot / 2;
    for (u32 t = 0; t < out.rows; ++t)
      for (u32 i = 0; i < half; ++i) {
        const rope_angle angle = rope_angle_at(a, i, f64(position[t]));
        out.row(t)[i] = static_cast<f32>(std::cos(angle.theta) * angle.magnitude);
        out.row(t)[half + i] = static_cast<f32>(std::sin(angle.theta) * angle.magnitude);
      }
  }

  void rope(const parallel&, rope_kind kind, const mat& table, u32 n_head, const mat& x) const {
    const u32 head = x.cols / n_head, half = table.cols / 2;
    for (u32 t = 0; t < x.rows; ++t)
      for (u32 h = 0; h < n_head; ++h)
        for (u32 i = 0; i < half; ++i) {
          f32* v = x.row(t) + h * head;
          f32& a = v[kind == rope_kind::norm ? 2 * i : i];
          f32& b = v[kind == rope_kind::norm ? 2 * i + 1 : i + half];
          const f64 cos = f64(table.row(t)[i]), sin = f64(table.row(t)[half + i]), a0 = f64(a), b0 = f64(b);
          a = static_cast<f32>(a0 * cos - b0 * sin);
          b = static_cast<f32>(a0 * sin + b0 * cos);
        }
  }

  void store_kv(const parallel&, const attend_args& a, const batch& b, const mat& k, const mat& v) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      for (u32 t = 0; t < b.n_tokens; ++t)
        for (u32 h = 0; h < a.n_head_kv; ++h) {
          const kv_rows<T> rows(a, b, b.sequence[t]);
          encode_padded<T>(k.row(t) + h * a.dim_k, a.dim_k, rows.key(b.cell[t], h));
          if (!a.values_in_keys) encode_padded<T>(v.row(t) + h * a.dim_v, a.dim_v, rows.value(b.cell[t], h));
        }
    });
  }

  /// softmax(scale * q K^T) V over the cells that each token sees; the scores are recomputed rather than kept.
  void attend(const parallel& p, const attend_args& a, const batch& b, const mat& q, u8*, const mat& out) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      p.for_rows(u64{b.n_tokens} * a.n_head, 1, [&](u64 begin, u64 end) {
        for (u64 i = begin; i < end; ++i) {
          const u32 t = static_cast<u32>(i / a.n_head), h = static_cast<u32>(i % a.n_head);
          attend_head<T>(a, b, t, h, visible_cells(a, b, t), q.row(t) + h * a.dim_k, out.row(t) + h * a.dim_v);
        }
      });
    });
  }

  /// The same over the cells that were chosen.
  void attend_chosen(const parallel& p, const attend_args& a, const batch& b, const mat& q, const chosen_blocks& chosen,
                     u8*, const mat& out) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      p.for_rows(u64{b.n_tokens} * a.n_head, 1, [&](u64 begin, u64 end) {
        for (u64 i = begin; i < end; ++i) {
          const u32 t = static_cast<u32>(i / a.n_head), h = static_cast<u32>(i % a.n_head);
          const listed_cells cells = chosen_cells(chosen, b, t, h / (a.n_head / a.n_head_kv));
          attend_head<T>(a, b, t, h, cells, q.row(t) + h * a.dim_k, out.row(t) + h * a.dim_v);
        }
      });
    });
  }

  /// See compress_args.
  void compress(const parallel&, const compress_args& a, const batch& b, const mat& out) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      for (u32 t = 0; t < out.rows; ++t) {
        const kv_rows<T> rows(a.inputs(), b, b.sequence[t]);
        for (u32 c = 0; c < a.dim; ++c) out.row(t)[c] = static_cast<f32>(compressed_column<T>(a, rows, b.cell[t], c));
      }
    });
  }

  /// The same over windows and rows of groups.
  void attend_compressed(const parallel& p, const attend_args& a, const batch& b, const mat& q,
                         const chosen_blocks& chosen, u8*, const mat& out) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      p.for_rows(u64{b.n_tokens} * a.n_head, 1, [&](u64 begin, u64 end) {
        for (u64 i = begin; i < end; ++i) {
          const u32 t = static_cast<u32>(i / a.n_head), h = static_cast<u32>(i % a.n_head);
          const compressed_cells cells = compressed_cells_of(a, chosen, b, t);
          attend_head<T>(a, b, t, h, cells, q.row(t) + h * a.dim_k, out.row(t) + h * a.dim_v);
        }
      });
    });
  }

  /// See select_args.
  void select(const parallel&, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
              const chosen_blocks& chosen) const {
    visit_id(kv_types{}, b.memory.type, [&]<class T>(type_tag<T>) {
      for (u32 t = 0; t < b.n_tokens; ++t) {
        const kv_rows<T> rows(a.keys(), b, b.sequence[t]);
        select_token(a, b, t, chosen, reinterpret_cast<f32*>(scratch), [&](u32 cell, f32* scores) {
          f64 sum = 0.0;
          for (u32 h = 0; h < a.n_head; ++h) {
            f64 s = 0.0;
            for_blocks<T>(rows.key(cell, 0), a.dim, [&](u32 i, f32 k) { s += f64(q.row(t)[h * a.dim + i]) * f64(k); });
            if (a.per_head) scores[h] = static_cast<f32>(s);
            else if (s > 0.0) sum += s * (weights.cols ? f64(weights.row(t)[h]) : 1.0);
          }
          if (!a.per_head) scores[0] = static_cast<f32>(sum);
        });
      }
    });
  }

  /// See route_args: the n_used best eligible experts (the lower id on a tie) and their weights.
  void route(const parallel&, const route_args& a, const mat& logits, i32* ids, const mat& weights) const {
    for (u32 t = 0; t < logits.rows; ++t) jig::route_token(a, logits.row(t), ids + usize{t} * a.n_used, weights.row(t));
  }

  /// Weighs the experts that a table has for the tokens.
  void route_tokens(const parallel&, const route_args& a, const mat& logits, const weight& table, const i32* tokens,
                    i32* ids, const mat& weights) const {
    for (u32 t = 0; t < logits.rows; ++t)
      jig::route_by_table(a, logits.row(t), table, tokens[t], ids + usize{t} * a.n_used, weights.row(t));
  }

  /// out[t] = sum_j weights[t][j] * y[t * n_used + j].
  void combine(const parallel&, const mat& y, const mat& weights, const mat& out) const {
    each(out, [&](u32 t, u32 c) {
      f64 sum = 0.0;
      for (u32 j = 0; j < weights.cols; ++j) sum += f64(weights.row(t)[j]) * f64(y.row(t * weights.cols + j)[c]);
      out.row(t)[c] = static_cast<f32>(sum);
    });
  }

  /// See sinkhorn_args.
  void sinkhorn(const parallel&, const sinkhorn_args& a, const mat& scores, const mat& out) const {
    for (u32 t = 0; t < out.rows; ++t) sinkhorn_token(a, scores.row(t), out.row(t));
  }

  /// See conv_args.
  void conv(const parallel&, const conv_args& a, const batch& b, const mat& x, const mat& out) const {
    const u32 kept = a.kept();
    each(x, [&](u32 t, u32 c) {
      f32* state = b.states.of(b.sequence[t]) + a.state_offset + c;
      f64 sum = f64(state[0]);
      if (a.w) {
        const f32* w = a.w.floats() + usize{c} * a.taps;
        sum = f64(w[a.taps - 1]) * f64(x.row(t)[c]);
        for (u32 j = 0; j < a.taps - 1; ++j) sum += f64(w[j]) * f64(state[usize{j} * a.dilation * x.cols]);
      }
      for (u32 j = 1; j < kept; ++j) state[usize{j - 1} * x.cols] = state[usize{j} * x.cols];
      state[usize{kept - 1} * x.cols] = x.row(t)[c];
      out.row(t)[c] = static_cast<f32>(sum);
    });
  }

  /// See scan_args.
  void scan(const parallel&, const scan_args& a, const batch& b, const scan_inputs& in, const mat& out) const {
    for (u32 t = 0; t < out.rows; ++t)
      for (u32 r = 0; r < a.n_head * a.dim_v; ++r) {
        f32* state = b.states.of(b.sequence[t]) + a.state_offset + usize{r} * a.dim_k;
        out.row(t)[r] = static_cast<f32>(f64(a.scale) * scan_row(a, in, t, r / a.dim_v, f64(in.v.row(t)[r]), state));
      }
  }

  /// out[t][g] = the sum of a[t][c] * b[t][c] over the columns of group g.
  void dot_groups(const parallel&, const mat& a, const mat& b, const mat& out) const {
    const u32 n = a.cols / out.cols;
    each(out, [&](u32 t, u32 g) {
      f64 sum = 0.0;
      for (u32 i = g * n; i < (g + 1) * n; ++i) sum += f64(a.row(t)[i]) * f64(b.row(t)[i]);
      out.row(t)[g] = static_cast<f32>(sum);
    });
  }

  void load_keys(const parallel&, const attend_args& a, const batch& b, u32 n, const mat& out) const {
    jig::load_keys<kv_types>(a, b, n, out);
  }
  void spread_biases(const parallel&, const weight& w, bool causal, const mat& out) const {
    jig::spread_biases(w, causal, out);
  }
  /// out[r] = the mean of the rows t of x with group[t] == group[rows[r]].
  void average(const parallel&, const mat& x, const u32* group, const u32* rows, const mat& out) const {
    each(out, [&](u32 r, u32 c) {
      f64 sum = 0.0, n = 0.0;
      for (u32 t = 0; t < x.rows; ++t)
        if (group[t] == group[rows[r]]) sum += f64(x.row(t)[c]), n += 1.0;
      out.row(r)[c] = static_cast<f32>(sum / n);
    });
  }

  void gather(const parallel&, const mat& x, const u32* rows, const mat& out) const {
    each(out, [&](u32 t, u32 c) { out.row(t)[c] = x.row(rows[t])[c]; });
  }

 private:
  template <class F>
  static void each(const mat& m, F&& f) {
    for (u32 t = 0; t < m.rows; ++t)
      for (u32 c = 0; c < m.cols; ++c) f(t, c);
  }

  template <class T>
  static const T* row(const weight& w, u32 matrix, u32 r) {
    return reinterpret_cast<const T*>(w.data) + (usize{matrix} * w.rows + r) * (w.cols / T::size);
  }

  template <class T>
  static f64 dot(const linear& w, u32 matrix, u32 r, const f32* x) {
    const T* blocks = row<T>(w.w, matrix, r);
    f64 sum = 0.0;
    for (u32 c = 0; c < w.w.cols; c += T::size) {
      f32 values[T::size];
      T::decode(blocks[c / T::size], std::span<f32, T::size>(values));
      for (u32 i = 0; i < T::size; ++i) sum += f64(values[i]) * f64(x[c + i]);
    }
    if (w.scale) sum *= f64(w.scale.floats()[w.scale.cols > 1 ? matrix : 0]);
    if (w.bias) sum += f64(w.bias.floats()[usize{matrix} * w.w.rows + r]);
    return sum;
  }

  /// One row s [dim_k] of head h's state: updates it by value v, returns its product with q.
  static f64 scan_row(const scan_args& a, const scan_inputs& in, u32 t, u32 h, f64 v, f32* s) {
    const u32 n = a.dim_k, from = scan_key_head(a, h) * n;
    const f32 *q = in.q.row(t) + from, *k = in.k.row(t) + from;
    const f32* erase = in.erase.cols ? in.erase.row(t) + from : k;
    const f32* write = in.write.cols ? in.write.row(t) + from : k;
    const f64 rate = in.rate.cols ? f64(in.rate.row(t)[h]) : 1.0;
    const auto decay = [&](u32 i) {
      const bool one = in.decay.cols == a.n_head;
      const f64 d = f64(in.decay.row(t)[one ? h : h * n + i]);
      return a.log_decay ? std::exp(d * f64(a.log_decay.floats()[a.log_decay.cols == 1 ? h : h * n + i])) : d;
    };
    f64 erased = 0.0, y = 0.0;
    for (u32 i = 0; i < n && a.erase != scan_erase::none; ++i)
      erased += f64(s[i]) * f64(erase[i]) * (a.erase == scan_erase::after_decay ? decay(i) : 1.0);
    for (u32 i = 0; i < n; ++i) {
      if (a.bonus) y += (f64(s[i]) + f64(a.bonus.floats()[h * n + i]) * v * f64(k[i])) * f64(q[i]);
      s[i] = static_cast<f32>(f64(s[i]) * decay(i) + rate * (v * f64(k[i]) - erased * f64(write[i])));
      if (!a.bonus) y += f64(s[i]) * f64(q[i]);
    }
    return y;
  }

  /// Column c of the row of the group that ends with this cell, 0 if none does.
  template <class T>
  static f64 compressed_column(const compress_args& a, const kv_rows<T>& rows, u32 last, u32 c) {
    const cell_range cells = a.cells(last);
    const auto number = [c](const u8* row) {
      f32 values[T::size];
      T::decode(reinterpret_cast<const T*>(row)[c / T::size], std::span<f32, T::size>(values));
      return f64(values[c % T::size]);
    };
    f64 top = -std::numeric_limits<f64>::infinity(), sum = 0.0, mixed = 0.0;
    for (u32 cell = cells.begin; cell < cells.end; ++cell)
      top = std::fmax(top, number(rows.value(cell, a.head(cell, last))));
    for (u32 cell = cells.begin; cell < cells.end; ++cell) {
      const u32 h = a.head(cell, last);
      const f64 w = std::exp(number(rows.value(cell, h)) - top);
      sum += w;
      mixed += w * number(rows.key(cell, h));
    }
    return cells.size() != 0 ? mixed / sum : 0.0;
  }

  template <class T, class Cells>
  static void attend_head(const attend_args& a, const batch& b, u32 t, u32 head, const Cells& cells, const f32* q,
                          f32* out) {
    const kv_rows<T> rows(a, b, b.sequence[t]);
    const u32 head_kv = head / (a.n_head / a.n_head_kv);
    const f64 slope = a.alibi_bias != 0.0f ? std::exp2(-f64(alibi_exponent(a.alibi_bias, a.n_head, head))) : 0.0;
    auto score = [&](u32 j) {
      f64 s = 0.0;
      const u32 cell = cells[j];
      for_blocks<T>(seen_key(rows, cells, j, head_kv), a.dim_k, [&](u32 i, f32 k) { s += f64(q[i]) * f64(k); });
      s *= f64(a.scale);
      if (a.softcap != 0.0f) s = f64(a.softcap) * std::tanh(s / f64(a.softcap));
      if (a.distances.data) s += f64(a.distances.row(head)[distance_column(cell, b.cell[t])]);
      return slope == 0.0 ? s : s - slope * std::abs(f64(b.cell[t]) - f64(cell));
    };
    f64 top = a.sinks ? f64(a.sinks.floats()[head]) : score(0), sum = 0.0;
    for (u32 j = 0; j < cells.size(); ++j) {
      const f64 s = score(j);
      top = s > top ? s : top;
    }
    constexpr u32 slice = 64;  // value columns summed at a time, so that no buffer depends on the head size
    for (u32 from = 0; from < a.dim_v; from += slice) {
      f64 mixed[slice] = {};
      sum = a.sinks ? std::exp(f64(a.sinks.floats()[head]) - top) : 0.0;
      for (u32 j = 0; j < cells.size(); ++j) {
        const f64 p = std::exp(score(j) - top);
        sum += p;
        for_blocks<T>(seen_value(rows, cells, j, head_kv), a.dim_v, [&](u32 i, f32 v) {
          if (i >= from && i < from + slice) mixed[i - from] += p * f64(v);
        });
      }
      for (u32 i = from; i < a.dim_v && i < from + slice; ++i) out[i] = static_cast<f32>(mixed[i - from] / sum);
    }
  }

  /// f(i, value) for the first n values of a padded row.
  template <class T, class F>
  static void for_blocks(const u8* bytes, u32 n, F&& f) {
    const T* blocks = reinterpret_cast<const T*>(bytes);
    for (u32 c = 0; c < n; c += T::size) {
      f32 values[T::size];
      T::decode(blocks[c / T::size], std::span<f32, T::size>(values));
      for (u32 i = 0; i < T::size && c + i < n; ++i) f(c + i, values[i]);
    }
  }
};

}  // namespace jig
