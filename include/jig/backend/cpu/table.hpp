#pragma once
// A kernel set as a table of plain function pointers, so that one program carries the kernels of several instruction
// sets, each compiled in its own unit with its own flags (cmake/jig_add_dispatch.cmake), and chooses at run time
// (dispatch.hpp). This header is all that such a unit and its users share.

#include "jig/backend/cpu/packed/format.hpp"
#include "jig/ops/executor.hpp"
#include "jig/quant/all.hpp"

namespace jig::cpu {

namespace detail {
/// As any function: computes nothing.
struct no_operation {
  template <class... Args>
  using function = void (*)(Args...);
  template <class... Args>
  constexpr operator function<Args...>() const noexcept {
    return [](Args...) {};
  }
};
inline constexpr no_operation nothing;
}  // namespace detail

/// The operations of a kernel set; see `kernels`. All arguments are plain data. What a table leaves out does nothing.
struct kernel_table {
  const char* isa = "";  ///< the tag's name
  u64 types = 0;         ///< bit n: weights of the type with number n
  bool packs = false;    ///< whether it takes packed weights
  void (*pack)(const parallel&, const weight&, u8*) = detail::nothing;
  void (*embed)(const parallel&, const weight&, const i32*, const mat&) = detail::nothing;
  void (*prepare)(const parallel&, u32, const mat&, u8*) = detail::nothing;
  void (*matmul)(const parallel&, const linear&, const activations&, const mat&) = detail::nothing;
  void (*matmul_experts)(const parallel&, const linear&, const activations&, const i32*, u32,
                         const mat&) = detail::nothing;
  void (*add)(const parallel&, const mat&, const mat&, f32) = detail::nothing;
  void (*scale)(const parallel&, const mat&, f32) = detail::nothing;
  void (*softcap)(const parallel&, const mat&, f32) = detail::nothing;
  void (*gated)(const parallel&, const activation_args&, const mat&, const mat&) = detail::nothing;
  void (*activate)(const parallel&, const activation_args&, const mat&) = detail::nothing;
  void (*multiply)(const parallel&, const mat&, const mat&) = detail::nothing;
  void (*clamp)(const parallel&, const mat&, f32) = detail::nothing;
  void (*fill)(const parallel&, const mat&, f32) = detail::nothing;
  void (*temperature)(const parallel&, const temperature_args&, const u32*, const mat&) = detail::nothing;
  void (*expand)(const parallel&, const mat&, const mat&, const mat&) = detail::nothing;
  void (*norm)(const parallel&, const norm_args&, const mat&, const mat&) = detail::nothing;
  void (*rope_table)(const parallel&, const rope_args&, const u32*, const mat&) = detail::nothing;
  void (*rope)(const parallel&, rope_kind, const mat&, u32, const mat&) = detail::nothing;
  void (*store_kv)(const parallel&, const attend_args&, const batch&, const mat&, const mat&) = detail::nothing;
  void (*load_keys)(const parallel&, const attend_args&, const batch&, u32, const mat&) = detail::nothing;
  void (*attend)(const parallel&, const attend_args&, const batch&, const mat&, u8*, const mat&) = detail::nothing;
  void (*select)(const parallel&, const select_args&, const batch&, const mat&, const mat&, u8*,
                 const chosen_blocks&) = detail::nothing;
  void (*attend_chosen)(const parallel&, const attend_args&, const batch&, const mat&, const chosen_blocks&, u8*,
                        const mat&) = detail::nothing;
  void (*compress)(const parallel&, const compress_args&, const batch&, const mat&) = detail::nothing;
  void (*attend_compressed)(const parallel&, const attend_args&, const batch&, const mat&, const chosen_blocks&, u8*,
                            const mat&) = detail::nothing;
  void (*route)(const parallel&, const route_args&, const mat&, i32*, const mat&) = detail::nothing;
  void (*route_tokens)(const parallel&, const route_args&, const mat&, const weight&, const i32*, i32*,
                       const mat&) = detail::nothing;
  void (*combine)(const parallel&, const mat&, const mat&, const mat&) = detail::nothing;
  void (*sinkhorn)(const parallel&, const sinkhorn_args&, const mat&, const mat&) = detail::nothing;
  void (*conv)(const parallel&, const conv_args&, const batch&, const mat&, const mat&) = detail::nothing;
  void (*scan)(const parallel&, const scan_args&, const batch&, const scan_inputs&, const mat&) = detail::nothing;
  void (*spread_biases)(const parallel&, const weight&, bool, const mat&) = detail::nothing;
  void (*dot_groups)(const parallel&, const mat&, const mat&, const mat&) = detail::nothing;
  void (*average)(const parallel&, const mat&, const u32*, const u32*, const mat&) = detail::nothing;
  void (*gather)(const parallel&, const mat&, const u32*, const mat&) = detail::nothing;
};

namespace detail {
inline constexpr kernel_table planning_table;
}

/// The kernel set that calls through a table. Sizes are those of every table with the same types.
template <class Quants = all_quants>
class dispatched_kernels : public kernel_sizes<Quants> {
 public:
  explicit constexpr dispatched_kernels(const kernel_table& t) noexcept : t_(&t) {}
  constexpr const char* isa_name() const noexcept { return t_->isa; }
  /// For the planner: computes nothing, so that a plan and a run share one compiled forward pass.
  static constexpr dispatched_kernels planning() noexcept { return dispatched_kernels(detail::planning_table); }

  bool packs() const noexcept { return t_->packs; }
  static constexpr u32 packed_type(u32 type) noexcept { return cpu::packed_type(type); }
  static constexpr u64 packed_bytes(const weight& w) noexcept { return cpu::packed_bytes<Quants>(w); }
  void pack(const parallel& p, const weight& w, u8* out) const { t_->pack(p, w, out); }
  void embed(const parallel& p, const weight& w, const i32* tokens, const mat& out) const {
    t_->embed(p, w, tokens, out);
  }
  void prepare(const parallel& p, u32 type, const mat& x, u8* out) const { t_->prepare(p, type, x, out); }
  void matmul(const parallel& p, const linear& w, const activations& a, const mat& out) const {
    t_->matmul(p, w, a, out);
  }
  void matmul_experts(const parallel& p, const linear& w, const activations& a, const i32* ids, u32 per_row,
                      const mat& out) const {
    t_->matmul_experts(p, w, a, ids, per_row, out);
  }
  void add(const parallel& p, const mat& a, const mat& b, f32 factor) const { t_->add(p, a, b, factor); }
  void scale(const parallel& p, const mat& x, f32 factor) const { t_->scale(p, x, factor); }
  void softcap(const parallel& p, const mat& x, f32 cap) const { t_->softcap(p, x, cap); }
  void gated(const parallel& p, const activation_args& act, const mat& gate, const mat& up) const {
    t_->gated(p, act, gate, up);
  }
  void activate(const parallel& p, const activation_args& act, const mat& x) const { t_->activate(p, act, x); }
  void multiply(const parallel& p, const mat& x, const mat& factors) const { t_->multiply(p, x, factors); }
  void clamp(const parallel& p, const mat& x, f32 limit) const { t_->clamp(p, x, limit); }
  void fill(const parallel& p, const mat& x, f32 v) const { t_->fill(p, x, v); }
  void temperature(const parallel& p, const temperature_args& a, const u32* position, const mat& x) const {
    t_->temperature(p, a, position, x);
  }
  void expand(const parallel& p, const mat& x, const mat& weights, const mat& out) const {
    t_->expand(p, x, weights, out);
  }
  void norm(const parallel& p, const norm_args& a, const mat& x, const mat& out) const { t_->norm(p, a, x, out); }
  void rope_table(const parallel& p, const rope_args& a, const u32* position, const mat& out) const {
    t_->rope_table(p, a, position, out);
  }
  void rope(const parallel& p, rope_kind kind, const mat& table, u32 n_head, const mat& x) const {
    t_->rope(p, kind, table, n_head, x);
  }
  void store_kv(const parallel& p, const attend_args& a, const batch& b, const mat& k, const mat& v) const {
    t_->store_kv(p, a, b, k, v);
  }
  void load_keys(const parallel& p, const attend_args& a, const batch& b, u32 n, const mat& out) const {
    t_->load_keys(p, a, b, n, out);
  }
  void attend(const parallel& p, const attend_args& a, const batch& b, const mat& q, u8* scratch,
              const mat& out) const {
    t_->attend(p, a, b, q, scratch, out);
  }
  void select(const parallel& p, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
              const chosen_blocks& chosen) const {
    t_->select(p, a, b, q, weights, scratch, chosen);
  }
  void attend_chosen(const parallel& p, const attend_args& a, const batch& b, const mat& q, const chosen_blocks& chosen,
                     u8* scratch, const mat& out) const {
    t_->attend_chosen(p, a, b, q, chosen, scratch, out);
  }
  void compress(const parallel& p, const compress_args& a, const batch& b, const mat& out) const {
    t_->compress(p, a, b, out);
  }
  void attend_compressed(const parallel& p, const attend_args& a, const batch& b, const mat& q,
                         const chosen_blocks& chosen, u8* scratch, const mat& out) const {
    t_->attend_compressed(p, a, b, q, chosen, scratch, out);
  }
  void route(const parallel& p, const route_args& a, const mat& logits, i32* ids, const mat& weights) const {
    t_->route(p, a, logits, ids, weights);
  }
  void route_tokens(const parallel& p, const route_args& a, const mat& logits, const weight& table, const i32* tokens,
                    i32* ids, const mat& weights) const {
    t_->route_tokens(p, a, logits, table, tokens, ids, weights);
  }
  void combine(const parallel& p, const mat& y, const mat& weights, const mat& out) const {
    t_->combine(p, y, weights, out);
  }
  void sinkhorn(const parallel& p, const sinkhorn_args& a, const mat& scores, const mat& out) const {
    t_->sinkhorn(p, a, scores, out);
  }
  void conv(const parallel& p, const conv_args& a, const batch& b, const mat& x, const mat& out) const {
    t_->conv(p, a, b, x, out);
  }
  void scan(const parallel& p, const scan_args& a, const batch& b, const scan_inputs& in, const mat& out) const {
    t_->scan(p, a, b, in, out);
  }
  void spread_biases(const parallel& p, const weight& w, bool causal, const mat& out) const {
    t_->spread_biases(p, w, causal, out);
  }
  void dot_groups(const parallel& p, const mat& a, const mat& b, const mat& out) const { t_->dot_groups(p, a, b, out); }
  void average(const parallel& p, const mat& x, const u32* group, const u32* rows, const mat& out) const {
    t_->average(p, x, group, rows, out);
  }
  void gather(const parallel& p, const mat& x, const u32* rows, const mat& out) const { t_->gather(p, x, rows, out); }

 private:
  const kernel_table* t_;
};

}  // namespace jig::cpu
