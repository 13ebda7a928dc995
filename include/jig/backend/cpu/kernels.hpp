#pragma once
// The CPU's kernel set (see ops/reference.hpp for what each operation means): kernels chosen by instruction set tag
// and list of block types. Needs neither heap nor operating system; with `isa::scalar` it runs anywhere.
//
//   jig::cpu::kernels<> k;                                          // what the compiler's flags allow, all types
//   jig::cpu::kernels<jig::isa::helium, jig::quants<jig::q8_0>, jig::type_list<jig::f16_block>> k;  // firmware
//
// Programs that shall run on any machine of a family take cpu::dispatched_kernels (dispatch.hpp) instead.

#include "jig/backend/cpu/attention.hpp"
#include "jig/backend/cpu/compression.hpp"
#include "jig/backend/cpu/elementwise.hpp"
#include "jig/backend/cpu/matmul.hpp"
#include "jig/backend/cpu/moe.hpp"
#include "jig/backend/cpu/norm.hpp"
#include "jig/backend/cpu/recurrence.hpp"
#include "jig/backend/cpu/rope.hpp"
#include "jig/backend/cpu/selection.hpp"
#include "jig/quant/all.hpp"

namespace jig::cpu {

/// The kernels for one instruction set. Shapes and error bounds stand at the functions that are called here.
/// Results do not depend on the number of threads, nor on the other rows of a batch, with one exception: products of
/// wide batches (wide_columns_least) with weights as they lie in the file are summed in another order than those of
/// others. Kv: the element types that key/value memory may have.
template <isa::tag Isa = isa::native, class Quants = all_quants, class Kv = kv_types>
struct kernels : kernel_sizes<Quants> {
  static_assert(isa::enabled<Isa>, "the compiler's flags do not allow code for this instruction set");
  using V = floats<Isa>;
  using sizes = kernel_sizes<Quants>;
  using memory_types = Kv;

  /// Whether weights may be packed (packed/format.hpp).
  static constexpr bool packs() noexcept { return !std::is_void_v<decltype(wide_ops(Isa{}))>; }
  /// Bytes of a tensor when packed; 0 for types that are not.
  static constexpr u32 packed_type(u32 type) noexcept { return cpu::packed_type(type); }
  static constexpr u64 packed_bytes(const weight& w) noexcept { return cpu::packed_bytes<Quants>(w); }
  /// Packs a tensor into packed_bytes(w) bytes, aligned to 64. Its type number then has packed_bit.
  void pack(const parallel& p, const weight& w, u8* out) const {
    if constexpr (packs())
      cpu::pack(p, find_packed<Isa, Quants>(w.type), sizes::row_bytes(w.type, w.cols),
                packed_tile_bytes<Quants>(w.type, w.cols), w, out);
  }

  void embed(const parallel& p, const weight& w, const i32* tokens, const mat& out) const {
    if constexpr (packs()) {
      if (is_packed(w.type))
        return packed_embed(p, find_packed<Isa, Quants>(w.type), packed_tile_bytes<Quants>(w.type, w.cols), w, tokens,
                            out);
    }
    cpu::embed<Quants>(p, w, tokens, out);
  }
  void prepare(const parallel& p, u32 type, const mat& x, u8* out) const {
    cpu::prepare<V, Quants, packs()>(p, type, x, out);
  }
  void matmul(const parallel& p, const linear& w, const activations& a, const mat& out) const {
    if constexpr (packs()) {
      if (is_packed(w.w.type))
        return packed_matmul(p, find_packed<Isa, Quants>(w.w.type).product,
                             packed_tile_bytes<Quants>(w.w.type, w.w.cols), w, a, out);
    }
    cpu::matmul(p, find_dot<Isa, Quants>(w.w.type), find_wide<Isa, Quants>(w.w.type),
                sizes::row_bytes(w.w.type, w.w.cols), w, a, out);
  }
  void matmul_experts(const parallel& p, const linear& w, const activations& a, const i32* ids, u32 per_row,
                      const mat& out) const {
    if constexpr (packs()) {
      if (is_packed(w.w.type))
        return packed_experts(p, find_packed<Isa, Quants>(w.w.type).product,
                              packed_tile_bytes<Quants>(w.w.type, w.w.cols), w, a, ids, per_row, out);
    }
    cpu::matmul_experts(p, find_dot<Isa, Quants>(w.w.type), find_wide<Isa, Quants>(w.w.type),
                        sizes::row_bytes(w.w.type, w.w.cols), w, a, ids, per_row, out);
  }
  void add(const parallel& p, const mat& a, const mat& b, f32 factor) const { cpu::add<V>(p, a, b, factor); }
  void scale(const parallel& p, const mat& x, f32 factor) const { cpu::scale<V>(p, x, factor); }
  void softcap(const parallel& p, const mat& x, f32 cap) const { cpu::softcap<V>(p, x, cap); }
  void gated(const parallel& p, const activation_args& act, const mat& gate, const mat& up) const {
    cpu::gated<V>(p, act, gate, up);
  }
  void activate(const parallel& p, const activation_args& act, const mat& x) const { cpu::activate<V>(p, act, x); }
  void multiply(const parallel& p, const mat& x, const mat& factors) const { cpu::multiply<V>(p, x, factors); }
  void clamp(const parallel& p, const mat& x, f32 limit) const { cpu::clamp<V>(p, x, limit); }
  void fill(const parallel& p, const mat& x, f32 v) const { cpu::fill(p, x, v); }
  void temperature(const parallel& p, const temperature_args& a, const u32* position, const mat& x) const {
    cpu::temperature<V>(p, a, position, x);
  }
  void expand(const parallel& p, const mat& x, const mat& weights, const mat& out) const {
    cpu::expand<V>(p, x, weights, out);
  }
  void norm(const parallel& p, const norm_args& a, const mat& x, const mat& out) const { cpu::norm<V>(p, a, x, out); }
  void rope_table(const parallel& p, const rope_args& a, const u32* position, const mat& out) const {
    cpu::rope_table(p, a, position, out);
  }
  void rope(const parallel& p, rope_kind kind, const mat& table, u32 n_head, const mat& x) const {
    cpu::rope<V>(p, kind, table, n_head, x);
  }
  void store_kv(const parallel& p, const attend_args& a, const batch& b, const mat& k, const mat& v) const {
    cpu::store_kv<Kv>(p, a, b, k, v);
  }
  void attend(const parallel& p, const attend_args& a, const batch& b, const mat& q, u8* scratch,
              const mat& out) const {
    cpu::attend<V, Kv>(p, a, b, q, scratch, out);
  }
  void select(const parallel& p, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
              const chosen_blocks& chosen) const {
    cpu::select<V, Kv>(p, a, b, q, weights, scratch, chosen);
  }
  void attend_chosen(const parallel& p, const attend_args& a, const batch& b, const mat& q, const chosen_blocks& chosen,
                     u8* scratch, const mat& out) const {
    cpu::attend_chosen<V, Kv>(p, a, b, q, chosen, scratch, out);
  }
  void compress(const parallel& p, const compress_args& a, const batch& b, const mat& out) const {
    cpu::compress<V, Kv>(p, a, b, out);
  }
  void attend_compressed(const parallel& p, const attend_args& a, const batch& b, const mat& q,
                         const chosen_blocks& chosen, u8* scratch, const mat& out) const {
    cpu::attend_compressed<V, Kv>(p, a, b, q, chosen, scratch, out);
  }
  void route(const parallel& p, const route_args& a, const mat& logits, i32* ids, const mat& weights) const {
    cpu::route(p, a, logits, ids, weights);
  }
  void route_tokens(const parallel& p, const route_args& a, const mat& logits, const weight& table, const i32* tokens,
                    i32* ids, const mat& weights) const {
    cpu::route_tokens(p, a, logits, table, tokens, ids, weights);
  }
  void combine(const parallel& p, const mat& y, const mat& weights, const mat& out) const {
    cpu::combine<V>(p, y, weights, out);
  }
  void sinkhorn(const parallel& p, const sinkhorn_args& a, const mat& scores, const mat& out) const {
    cpu::sinkhorn(p, a, scores, out);
  }
  void conv(const parallel& p, const conv_args& a, const batch& b, const mat& x, const mat& out) const {
    cpu::conv(p, a, b, x, out);
  }
  void scan(const parallel& p, const scan_args& a, const batch& b, const scan_inputs& in, const mat& out) const {
    cpu::scan<V>(p, a, b, in, out);
  }
  void load_keys(const parallel&, const attend_args& a, const batch& b, u32 n, const mat& out) const {
    jig::load_keys<Kv>(a, b, n, out);
  }
  void spread_biases(const parallel&, const weight& w, bool causal, const mat& out) const {
    jig::spread_biases(w, causal, out);
  }
  void dot_groups(const parallel& p, const mat& a, const mat& b, const mat& out) const {
    cpu::dot_groups<V>(p, a, b, out);
  }
  void average(const parallel& p, const mat& x, const u32* group, const u32* rows, const mat& out) const {
    cpu::average<V>(p, x, group, rows, out);
  }
  void gather(const parallel& p, const mat& x, const u32* rows, const mat& out) const { cpu::gather(p, x, rows, out); }
};

}  // namespace jig::cpu
