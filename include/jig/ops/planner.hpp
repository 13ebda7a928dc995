#pragma once
// The planner: runs a forward pass with kernels that compute nothing and records what the run will need.
//
// Works in constant expressions, so firmware sizes its static arena with it:
//   constexpr auto need = jig::plan_forward<my_kernels>(my_model, 1, 1);

#include "jig/ops/executor.hpp"

namespace jig {

/// What one forward pass needs.
struct forward_plan {
  u64 arena_bytes = 0;   ///< peak of the activations, scratch included
  u64 weight_bytes = 0;  ///< weight data read, each tensor counted as often as it is read (experts: those used)
  u64 multiplies = 0;    ///< multiply-adds of the matrix products, attention aside
};

/// The architecture is an encoder and a decoder: encode(x, m, batch) computes what the decoder reads of the source by
/// cross attention and stores it in the memory of the source's cells.
template <class Model>
inline constexpr bool reads_source = requires { Model::architecture::reads_source; };

/// Kernels that compute nothing. Scratch sizes are those of K, the kernels of the real run.
template <class K>
struct plan_kernels {
  forward_plan plan;

  static constexpr u32 activation_type(u32 weight_type) { return K::activation_type(weight_type); }
  static constexpr u64 prepared_bytes(u32 type, u32 rows, u32 cols) { return K::prepared_bytes(type, rows, cols); }
  static constexpr u64 attend_scratch_bytes(const attend_args& a, u32 threads) {
    return K::attend_scratch_bytes(a, threads);
  }

  constexpr void embed(const parallel&, const weight& w, const i32*, const mat& out) {
    plan.weight_bytes += u64{out.rows} * K::row_bytes(w.type, w.cols);
  }
  constexpr void matmul(const parallel&, const linear& w, const activations& a, const mat&) { count(w.w, 1, a.x.rows); }
  constexpr void matmul_experts(const parallel&, const linear& w, const activations&, const i32*, u32, const mat& out) {
    count(w.w, out.rows < w.w.count ? out.rows : w.w.count, out.rows);
  }
  constexpr void prepare(const parallel&, u32, const mat&, u8*) {}
  constexpr void add(const parallel&, const mat&, const mat&, f32) {}
  constexpr void scale(const parallel&, const mat&, f32) {}
  constexpr void softcap(const parallel&, const mat&, f32) {}
  constexpr void norm(const parallel&, const norm_args&, const mat&, const mat&) {}
  constexpr void rope_table(const parallel&, const rope_args&, const u32*, const mat&) {}
  constexpr void rope(const parallel&, rope_kind, const mat&, u32, const mat&) {}
  constexpr void store_kv(const parallel&, const attend_args&, const batch&, const mat&, const mat&) {}
  constexpr void spread_biases(const parallel&, const weight&, bool, const mat&) {}
  constexpr void load_keys(const parallel&, const attend_args&, const batch&, u32, const mat&) {}
  constexpr void attend(const parallel&, const attend_args&, const batch&, const mat&, u8*, const mat&) {}
  constexpr void select(const parallel&, const select_args&, const batch&, const mat&, const mat&, u8*,
                        const chosen_blocks&) {}
  constexpr void attend_chosen(const parallel&, const attend_args&, const batch&, const mat&, const chosen_blocks&, u8*,
                               const mat&) {}
  constexpr void compress(const parallel&, const compress_args&, const batch&, const mat&) {}
  constexpr void attend_compressed(const parallel&, const attend_args&, const batch&, const mat&, const chosen_blocks&,
                                   u8*, const mat&) {}
  constexpr void gated(const parallel&, const activation_args&, const mat&, const mat&) {}
  constexpr void activate(const parallel&, const activation_args&, const mat&) {}
  constexpr void multiply(const parallel&, const mat&, const mat&) {}
  constexpr void clamp(const parallel&, const mat&, f32) {}
  constexpr void fill(const parallel&, const mat&, f32) {}
  constexpr void temperature(const parallel&, const temperature_args&, const u32*, const mat&) {}
  constexpr void expand(const parallel&, const mat&, const mat&, const mat&) {}
  constexpr void route(const parallel&, const route_args&, const mat&, i32*, const mat&) {}
  constexpr void route_tokens(const parallel&, const route_args&, const mat&, const weight&, const i32*, i32*,
                              const mat&) {}
  constexpr void combine(const parallel&, const mat&, const mat&, const mat&) {}
  constexpr void sinkhorn(const parallel&, const sinkhorn_args&, const mat&, const mat&) {}
  constexpr void conv(const parallel&, const conv_args&, const batch&, const mat&, const mat&) {}
  constexpr void scan(const parallel&, const scan_args&, const batch&, const scan_inputs&, const mat&) {}
  constexpr void dot_groups(const parallel&, const mat&, const mat&, const mat&) {}
  constexpr void average(const parallel&, const mat&, const u32*, const u32*, const mat&) {}
  constexpr void gather(const parallel&, const mat&, const u32*, const mat&) {}

 private:
  constexpr void count(const weight& w, u64 matrices, u64 columns) {
    plan.weight_bytes += matrices * w.rows * K::row_bytes(w.type, w.cols);
    plan.multiplies += columns * w.rows * w.cols;
  }
};

namespace detail {
/// Bytes of the arena at the peak of a forward pass on kernels that compute nothing; if the architecture encodes a
/// source before, of that pass or this one.
template <class K, class Model>
constexpr u64 dry_run(K& kernels, const Model& m, const batch& b, u32 threads) {
  parallel width;
  width.threads = threads;
  executor<K> x(kernels, nullptr, ~u64{0} / 2, width);
  { const value logits = Model::architecture::forward(x, m, b); }
  if constexpr (reads_source<Model>) Model::architecture::encode(x, m, b);
  return x.ok() ? round_up(x.peak_bytes(), arena_map::alignment) : ~u64{0};
}
}  // namespace detail

/// What Arch::forward needs for n_tokens tokens of which n_outputs give logits, on `threads` threads.
template <class K, class Model>
constexpr forward_plan plan_forward(const Model& m, u32 n_tokens, u32 n_outputs, u32 threads = 1) {
  batch b;
  b.n_tokens = n_tokens;
  b.n_outputs = n_outputs;
  plan_kernels<K> kernels;
  kernels.plan.arena_bytes = detail::dry_run(kernels, m, b, threads);
  return kernels.plan;
}

/// The arena_bytes alone, for a batch of this shape. Kernel sets that have a planning variant of themselves save the
/// compilation of another forward pass.
template <class K, class Model>
constexpr u64 plan_arena(const Model& m, const batch& b, u32 threads = 1) {
  if constexpr (requires { K::planning(); }) {
    K kernels = K::planning();
    return detail::dry_run(kernels, m, b, threads);
  } else {
    plan_kernels<K> kernels;
    return detail::dry_run(kernels, m, b, threads);
  }
}

}  // namespace jig
