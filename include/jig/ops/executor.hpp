#pragma once
// The executor: what an architecture's forward pass talks to.
//
// An executor joins a kernel set K (what to compute: reference, planner, cpu, ...) with the arena (where results
// live) and an observer (who watches). Shapes, allocation and the composition of larger operations from smaller
// ones are written once, here; a kernel set only computes on plain views. The planner is the same executor with
// kernels that do nothing, so its byte count cannot diverge from a run.
//
// A value is a [rows, cols] f32 matrix in the arena, freed when it goes out of scope. If the arena is too small
// (a caller's mistake: ops/planner.hpp tells the size) the executor stops computing and `ok()` is false.

#include <array>
#include <concepts>
#include <limits>
#include <string_view>

#include "jig/ops/args.hpp"
#include "jig/ops/batch.hpp"
#include "jig/ops/compression.hpp"
#include "jig/ops/distance.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/recurrence.hpp"
#include "jig/ops/selection.hpp"
#include "jig/ops/sinkhorn.hpp"
#include "jig/ops/tensor.hpp"
#include "jig/ops/value.hpp"

/// Keeps the bodies of operations out of the forward passes that call them, so that a program with many architectures
/// compiles and carries each body once.
#define JIG_NOINLINE [[gnu::noinline]]

namespace jig {

/// Watches nothing; see ops/trace.hpp for one that does.
struct no_observer {
  static constexpr bool watches = false;
};

/// The operations of transformer level over the kernel set K.
template <class K, class Observer = no_observer>
class executor {
 public:
  using kernels = K;

  /// `memory` holds all activations, aligned to 64 bytes; the planner passes capacity without memory.
  constexpr executor(K& k, u8* memory, u64 capacity, parallel threads = {}, Observer watch = {}) noexcept
      : k_(k), map_(capacity), memory_(memory), threads_(threads), watch_(watch) {}
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  constexpr bool ok() const noexcept { return ok_; }
  constexpr u64 peak_bytes() const noexcept { return map_.peak(); }

  /// Tells the observer about an intermediate value by its conventional name.
  constexpr void name(std::string_view what, u32 layer, const mat& v) {
    if constexpr (Observer::watches) {
      if (ok_) watch_(what, layer, v);
    }
  }

  /// A new matrix with undefined contents.
  JIG_NOINLINE constexpr value make(u32 rows, u32 cols) {
    buffer b = take(u64{rows} * cols * sizeof(f32));
    return {std::move(b), rows, cols};
  }

  /// Rows of the embedding table, decoded: [n_tokens, n_embd].
  JIG_NOINLINE constexpr value embed(const weight& table, const batch& b) {
    value out = make(b.n_tokens, table.cols);
    if (ok_) k_.embed(threads_, table, b.tokens, out);
    return out;
  }

  /// y = scale * (W x) + bias: [rows, w.cols] -> [rows, w.rows].
  JIG_NOINLINE constexpr value matmul(const mat& x, const linear& w) { return std::move(project(x, w)[0]); }

  /// Several products of the same x, which is quantised once per partner type.
  template <std::same_as<linear>... Ws>
  constexpr std::array<value, sizeof...(Ws)> project(const mat& x, const Ws&... ws) {
    buffer memory;
    activations a{x};
    auto one = [&](const linear& w) {
      prepare(a, w.w.type, memory);
      value out = make(x.rows, w.w.rows);
      if (ok_) k_.matmul(threads_, w, a, out);
      return out;
    };
    return {one(ws)...};
  }

  /// a += factor * b, same shapes.
  JIG_NOINLINE constexpr void add(const mat& a, const mat& b, f32 factor = 1.0f) {
    if (ok_) k_.add(threads_, a, b, factor);
  }

  /// x *= factor.
  JIG_NOINLINE constexpr void scale(const mat& x, f32 factor) {
    if (ok_) k_.scale(threads_, x, factor);
  }

  /// x = cap * tanh(x / cap).
  JIG_NOINLINE constexpr void softcap(const mat& x, f32 cap) {
    if (ok_) k_.softcap(threads_, x, cap);
  }

  /// The norm of x in a new matrix.
  JIG_NOINLINE constexpr value norm(const mat& x, const norm_args& args) {
    value out = make(x.rows, x.cols);
    if (ok_) k_.norm(threads_, args, x, out);
    return out;
  }

  /// The norm of x in place, head by head if args.group is the head size.
  JIG_NOINLINE constexpr void norm_inplace(const mat& x, const norm_args& args) {
    if (ok_) k_.norm(threads_, args, x, x);
  }

  /// cos and sin of every token's angles: [n_tokens, n_rot], cosines in the first half. One table serves all layers.
  JIG_NOINLINE constexpr value rope_table(const rope_args& args, const batch& b) {
    value out = make(b.n_tokens, args.n_rot);
    if (ok_) k_.rope_table(threads_, args, b.position, out);
    return out;
  }

  /// The same for the first positions of the tokens' groups of neighbouring positions.
  JIG_NOINLINE constexpr value rope_table_of_groups(const rope_args& args, u32 group, const batch& b) {
    value out = make(b.n_tokens, args.n_rot);
    buffer first = take(u64{b.n_tokens} * sizeof(u32));
    u32* position = by_position(first, b, [group](u32 p) { return p - p % group; });
    if (ok_) k_.rope_table(threads_, args, position, out);
    return out;
  }

  /// Rotates n_rot values of each of the n_head heads of x in place, those from `offset` on.
  JIG_NOINLINE constexpr void rope(const mat& x, u32 n_head, rope_kind kind, const mat& table, u32 offset = 0) {
    mat from = x.columns(offset, x.cols - offset);
    from.cols = x.cols;  // kernels find heads by this, and touch n_rot values of each
    if (ok_ && kind != rope_kind::none) k_.rope(threads_, kind, table, n_head, from);
  }

  /// Stores k, v ([tokens, n_head_kv * dim]) in the sequences' memory, then attends: [tokens, n_head * dim_v].
  JIG_NOINLINE constexpr value attend(const mat& q, const mat& k, const mat& v, const attend_args& args,
                                      const batch& b) {
    store(k, v, args, b);
    return attend_again(q, args, b);
  }

  /// Stores keys and values of the batch's tokens for later.
  JIG_NOINLINE constexpr void store(const mat& k, const mat& v, const attend_args& args, const batch& b) {
    if (ok_) k_.store_kv(threads_, args, pages_of(args, b), k, v);
  }

  /// The stored keys of the batch's tokens, or of each the mean of the n up to its own: [tokens, n_head_kv * dim_k].
  JIG_NOINLINE constexpr value load_keys(const attend_args& args, const batch& b, u32 n = 1) {
    value out = make(b.n_tokens, args.n_head_kv * args.dim_k);
    if (ok_) k_.load_keys(threads_, args, pages_of(args, b), n, out);
    return out;
  }

  /// The table that attend_args::distances wants: [n_head, distance_columns], from biases w [n_buckets, n_head].
  JIG_NOINLINE constexpr value distances(const weight& w, bool causal) {
    value out = make(w.cols, distance_columns);
    if (ok_) k_.spread_biases(threads_, w, causal, out);
    return out;
  }

  /// Attends to keys and values that another layer has stored for the batch, see args.page_offset:
  /// [tokens, n_head * dim_v].
  JIG_NOINLINE constexpr value attend_again(const mat& q, const attend_args& args, const batch& b) {
    value out = make(b.n_tokens, args.n_head * args.dim_v);
    buffer scratch = take(K::attend_scratch_bytes(args, threads_.threads));
    if (ok_) k_.attend(threads_, args, pages_of(args, b), q, scratch.data(), out);
    return out;
  }

  /// Stores an indexer's keys k ([tokens, dim]) in the sequences' memory, then chooses what attention will see, see
  /// select_args. q: [tokens, n_head * dim], weights: [tokens, n_head], or absent: 1.
  JIG_NOINLINE constexpr cell_choice select(const mat& q, const mat& weights, const mat& k, const select_args& args,
                                            const batch& b) {
    if (ok_) k_.store_kv(threads_, args.keys(), b, k, k);
    if (args.sees_all(b.context)) return {};
    const u32 stride = args.top_k + 1;
    cell_choice out(take(u64{b.n_tokens} * args.lists() * stride * sizeof(u32)), args.lists(), stride, args.block);
    buffer scratch = take(select_scratch_bytes(args, threads_.threads));
    if (ok_) k_.select(threads_, args, b, q, weights, scratch.data(), out);
    return out;
  }

  /// attend() to what was chosen.
  JIG_NOINLINE constexpr value attend_chosen(const mat& q, const mat& k, const mat& v, const attend_args& args,
                                             const cell_choice& chosen, const batch& b) {
    if (!chosen) return attend(q, k, v, args, b);
    if (ok_) k_.store_kv(threads_, args, pages_of(args, b), k, v);
    value out = make(b.n_tokens, args.n_head * args.dim_v);
    buffer scratch = take(K::attend_scratch_bytes(args, threads_.threads));
    if (ok_) k_.attend_chosen(threads_, args, b, q, chosen, scratch.data(), out);
    return out;
  }

  /// Stores what the rows of groups are made of ([tokens, heads * dim], see compress_args) in the sequences' memory.
  /// Then, for each token, the row of the group that ends with it, or zeros: [tokens, dim].
  JIG_NOINLINE constexpr value compress(const mat& vectors, const mat& scores, const compress_args& args,
                                        const batch& b) {
    store(vectors, scores, args.inputs(), b);
    value out = make(b.n_tokens, args.dim);
    if (ok_) k_.compress(threads_, args, b, out);
    return out;
  }

  /// Stores keys and rows of groups ([tokens, dim_k], see compress), then attends to the windows' keys and to the rows,
  /// or those chosen: [tokens, n_head * dim_v].
  JIG_NOINLINE constexpr value attend_compressed(const mat& q, const mat& k, const mat& rows, const attend_args& args,
                                                 const cell_choice& chosen, const batch& b) {
    attend_args both = args;
    both.values_in_keys = false;
    store(k, rows, both, b);
    value out = make(b.n_tokens, args.n_head * args.dim_v);
    buffer scratch = take(K::attend_scratch_bytes(args, threads_.threads));
    if (ok_) k_.attend_compressed(threads_, args, b, q, chosen, scratch.data(), out);
    return out;
  }

  /// The convolution of x ([tokens, cols]) over time, see conv_args; updates the sequences' states.
  JIG_NOINLINE constexpr value conv(const mat& x, const conv_args& args, const batch& b) {
    value out = make(x.rows, x.cols);
    if (ok_) k_.conv(threads_, args, b, x, out);
    return out;
  }

  /// The linear recurrence, see scan_args: [tokens, n_head * dim_v]; updates the sequences' states.
  JIG_NOINLINE constexpr value scan(const scan_args& args, const scan_inputs& in, const batch& b) {
    value out = make(b.n_tokens, args.n_head * args.dim_v);
    if (ok_) k_.scan(threads_, args, b, in, out);
    return out;
  }

  /// The dot products of a and b ([rows, groups * n]) group by group: [rows, groups].
  JIG_NOINLINE constexpr value dot_groups(const mat& a, const mat& b, u32 groups) {
    value out = make(a.rows, groups);
    if (ok_) k_.dot_groups(threads_, a, b, out);
    return out;
  }

  /// gate = act(gate) * up.
  JIG_NOINLINE constexpr void gated(const mat& gate, const mat& up, const activation_args& act) {
    if (ok_) k_.gated(threads_, act, gate, up);
  }
  JIG_NOINLINE constexpr void gated(const mat& gate, const mat& up, const situ_args& act) {
    activate(gate, act);
    if (act.linear_beta > 0.0f) softcap(up, act.linear_beta);
    multiply(gate, up);
  }

  JIG_NOINLINE constexpr void gated(const mat& gate, const mat& up, const limited_swiglu& act) {
    // SiLU grows where it is positive, so its limit may stand behind it, where the kernel has it; the factors' limits
    // are the same there.
    const f32 part = act.part();
    scale(up, part);
    gated(gate, up, activation_args(activation::silu, act.limit * part));
    scale(gate, 1.0f / part);
  }

  /// x = act(x).
  JIG_NOINLINE constexpr void activate(const mat& x, const activation_args& act) {
    if (ok_) k_.activate(threads_, act, x);
  }
  constexpr void activate(const mat& x, const limited_swiglu&) { activate(x, activation::silu); }
  JIG_NOINLINE constexpr void activate(const mat& x, const situ_args& act) {
    const value s = make(x.rows, x.cols);
    copy(s, x);
    activate(s, activation::sigmoid);
    softcap(x, act.beta);
    multiply(x, s);
  }

  /// x *= factors, element by element; a factor matrix of one column scales whole rows, and one with a column per
  /// group of columns (heads) scales the groups.
  JIG_NOINLINE constexpr void multiply(const mat& x, const mat& factors) {
    if (ok_) k_.multiply(threads_, x, factors);
  }

  /// to = from, same shapes.
  JIG_NOINLINE constexpr void copy(const mat& to, const mat& from) {
    fill(to, 0.0f);
    add(to, from);
  }

  /// Each head's own matrix times that head's columns: out[t * n_head + h] = W[h] x[t * n_head + h], with x and out as
  /// views of heads (mat::heads) and n_head stacked matrices w.
  JIG_NOINLINE constexpr void matmul_heads(const mat& x, const linear& w, const mat& out) {
    buffer memory;
    activations a{x};
    prepare(a, w.w.type, memory);
    buffer chosen = take(u64{x.rows} * sizeof(i32));
    if (!ok_) return;
    i32* ids = std::is_constant_evaluated() ? nullptr : reinterpret_cast<i32*>(chosen.data());
    for (u32 i = 0; ids != nullptr && i < x.rows; ++i) ids[i] = static_cast<i32>(i % w.w.count);
    k_.matmul_experts(threads_, w, a, ids, 1, out);
  }

  /// Multiplies the rows of x by a factor of the token's position.
  JIG_NOINLINE constexpr void temperature(const mat& x, const temperature_args& args, const batch& b) {
    if (ok_) k_.temperature(threads_, args, b.position, x);
  }

  /// The columns [begin, end) of x become the lowest number: tokens that are never to be drawn.
  JIG_NOINLINE constexpr void suppress(const mat& x, u32 begin, u32 end) {
    if (begin < x.cols)
      fill(x.columns(begin, (end < x.cols ? end : x.cols) - begin), std::numeric_limits<f32>::lowest());
  }
  /// x = v.
  JIG_NOINLINE constexpr void fill(const mat& x, f32 v) {
    if (ok_) k_.fill(threads_, x, v);
  }

  /// x = min(max(x, -limit), limit).
  JIG_NOINLINE constexpr void clamp(const mat& x, f32 limit) {
    if (ok_) k_.clamp(threads_, x, limit);
  }

  /// The rows `position` of a table of learned positions: [n_tokens, cols].
  JIG_NOINLINE constexpr value positions(const weight& table, const batch& b) {
    value out = make(b.n_tokens, table.cols);
    // Positions are below 2^31: sessions are shorter than the table.
    if (ok_) k_.embed(threads_, table, reinterpret_cast<const i32*>(b.position), out);
    return out;
  }

  /// The rows `position mod table.rows` of a table: [n_tokens, cols].
  JIG_NOINLINE constexpr value places(const weight& table, const batch& b) {
    value out = make(b.n_tokens, table.cols);
    buffer ids = take(u64{b.n_tokens} * sizeof(u32));
    const u32* rows = by_position(ids, b, [n = table.rows](u32 p) { return p % n; });
    if (ok_) k_.embed(threads_, table, reinterpret_cast<const i32*>(rows), out);
    return out;
  }

  /// Gated feed-forward: down(act(gate x) * (up x)). https://arxiv.org/abs/2002.05202. Act: see gated().
  template <class Act>
  JIG_NOINLINE constexpr value feed_forward(const mat& x, const linear& gate, const linear& up, const linear& down,
                                            const Act& act) {
    auto [g, u] = project(x, gate, up);
    gated(g, u, act);
    u = value();
    return matmul(g, down);
  }

  /// Mixture of gated experts (https://arxiv.org/abs/2401.04088): logits [tokens, n_expert] choose n_used experts a
  /// token; their outputs are added up, weighted. Without `gate` the experts are plain, or have gate and up in one
  /// matrix (gate first) if `up` is twice as wide as `down`'s input.
  template <class Act>
  JIG_NOINLINE constexpr value experts(const mat& x, const mat& logits, const linear& gate, const linear& up,
                                       const linear& down, const Act& act, const route_args& args) {
    return experts_by(x, gate, up, down, act, args, [&](i32* ids, const mat& weights) {
      if (ok_) k_.route(threads_, args, logits, ids, weights);
    });
  }

  /// The same with experts that the tokens themselves choose: table [n_used, n_vocab] i32. The logits only weigh them.
  template <class Act>
  JIG_NOINLINE constexpr value experts_of_tokens(const mat& x, const mat& logits, const weight& table,
                                                 const linear& gate, const linear& up, const linear& down,
                                                 const Act& act, const route_args& args, const batch& b) {
    return experts_by(x, gate, up, down, act, args, [&](i32* ids, const mat& weights) {
      if (ok_) k_.route_tokens(threads_, args, logits, table, b.tokens, ids, weights);
    });
  }

  /// out[t] = sum_j weights[t][j] * y[t * n + j] for weights [rows, n]: [rows, y.cols].
  JIG_NOINLINE constexpr value combine(const mat& y, const mat& weights) {
    value out = make(weights.rows, y.cols);
    combine(y, weights, out);
    return out;
  }
  JIG_NOINLINE constexpr void combine(const mat& y, const mat& weights, const mat& out) {
    if (ok_) k_.combine(threads_, y, weights, out);
  }

  /// out[t * n + j] = weights[t][j] * x[t] for weights [rows, n]: [rows * n, x.cols].
  JIG_NOINLINE constexpr value expand(const mat& x, const mat& weights) {
    value out = make(weights.rows * weights.cols, x.cols);
    if (ok_) k_.expand(threads_, x, weights, out);
    return out;
  }

  /// Scores [rows, n * n] of sources for targets -> weights [rows, n * n] of each target's sources, see sinkhorn_args.
  JIG_NOINLINE constexpr value sinkhorn(const mat& scores, const sinkhorn_args& args) {
    value out = make(scores.rows, args.n * args.n);
    if (ok_) k_.sinkhorn(threads_, args, scores, out);
    return out;
  }

  /// The rows of x whose logits are wanted: [n_outputs, cols].
  JIG_NOINLINE constexpr value outputs(const mat& x, const batch& b) {
    value out = make(b.n_outputs, x.cols);
    if (ok_) k_.gather(threads_, x, b.output_rows, out);
    return out;
  }

  /// For each wanted token the mean of the rows of x that belong to its sequence: [n_outputs, cols].
  JIG_NOINLINE constexpr value average(const mat& x, const batch& b) {
    value out = make(b.n_outputs, x.cols);
    if (ok_) k_.average(threads_, x, b.sequence, b.output_rows, out);
    return out;
  }

 private:
  static constexpr const batch& pages_of(const attend_args& args, const batch& b) noexcept {
    return args.window_pages ? *b.windows : b;
  }
  /// f(position) of every token, in a buffer of as many numbers.
  template <class F>
  constexpr u32* by_position(const buffer& memory, const batch& b, F&& f) const {
    // The planner's constant evaluation cannot form this pointer and its kernels do not use it.
    u32* out = std::is_constant_evaluated() ? nullptr : reinterpret_cast<u32*>(memory.data());
    for (u32 t = 0; t < b.n_tokens && out != nullptr; ++t) out[t] = f(b.position[t]);
    return out;
  }

  /// The experts that route(ids, weights) chooses.
  template <class Act, class F>
  constexpr value experts_by(const mat& x, const linear& gate, const linear& up, const linear& down, const Act& act,
                             const route_args& args, F&& route) {
    const u32 slots = x.rows * args.n_used;
    value weights = make(x.rows, args.n_used);
    buffer chosen = take(u64{slots} * sizeof(i32));
    // The planner's constant evaluation cannot form this pointer and its kernels do not use it.
    i32* ids = std::is_constant_evaluated() ? nullptr : reinterpret_cast<i32*>(chosen.data());
    route(ids, weights);
    value weighed;
    if (args.weigh_input) {
      weighed = make(slots, x.cols);
      if (ok_) k_.expand(threads_, x, weights, weighed);
      fill(weights, 1.0f);
    }
    const mat in = args.weigh_input ? mat(weighed) : x;
    const u32 per_row = args.weigh_input ? 1 : args.n_used;
    value g = matmul_experts(in, gate ? gate : up, ids, per_row, slots);
    const u32 inner = down.w.cols;
    if (gate) {
      value u = matmul_experts(in, up, ids, per_row, slots);
      gated(g, u, act);
    } else if (g.cols() == 2 * inner) {
      gated(g.columns(0, inner), g.columns(inner, inner), act);
    } else {
      activate(g, act);
    }
    value y = matmul_experts(g.columns(0, inner), down, ids, 1, slots);
    g = value();
    value out = make(x.rows, y.cols());
    if (ok_) k_.combine(threads_, y, weights, out);
    return out;
  }

  JIG_NOINLINE constexpr buffer take(u64 bytes) {
    const u64 offset = map_.take(bytes);
    if (offset == arena_map::none) {
      ok_ = false;
      return {};
    }
    return {map_, offset, memory_ ? memory_ + offset : nullptr};
  }

  /// Quantises a.x for weights of this type unless that has been done.
  JIG_NOINLINE constexpr void prepare(activations& a, u32 weight_type, buffer& memory) {
    const u32 type = K::activation_type(weight_type);
    const u64 bytes = K::prepared_bytes(type, a.x.rows, a.x.cols);
    if (bytes == 0 || (a.type == type && a.prepared)) {
      a.type = type;
      return;
    }
    memory = buffer();
    memory = take(bytes);
    a.type = type;
    a.prepared = memory.data();
    if (ok_) k_.prepare(threads_, type, a.x, memory.data());
  }

  /// Row s of the result is W[ids[s]] times row s / per_row of x.
  JIG_NOINLINE constexpr value matmul_experts(const mat& x, const linear& w, const i32* ids, u32 per_row, u32 slots) {
    buffer memory;
    activations a{x};
    prepare(a, w.w.type, memory);
    value out = make(slots, w.w.rows);
    if (ok_) k_.matmul_experts(threads_, w, a, ids, per_row, out);
    return out;
  }

  K& k_;
  arena_map map_;
  u8* memory_;
  parallel threads_;
  Observer watch_;
  bool ok_ = true;
};

}  // namespace jig
