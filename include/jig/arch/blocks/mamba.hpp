#pragma once
// Selective state space layers: Mamba (https://arxiv.org/abs/2312.00752), Mamba 2 (https://arxiv.org/abs/2405.21060)
// and PLaMo 2's. All are projections, a short convolution, and one linear recurrence (ops/recurrence.hpp) whose decay
// and step depend on the token; they differ in what is projected from what. n: [tokens, n_embd].

#include "jig/arch/blocks/norm.hpp"
#include "jig/arch/memory.hpp"
#include "jig/arch/names.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.ssm_in"> ssm_in{};
inline constexpr tensor_tag<"blk.{}.ssm_conv1d"> ssm_conv1d{};
inline constexpr tensor_tag<"blk.{}.ssm_x"> ssm_x{};
inline constexpr tensor_tag<"blk.{}.ssm_dt"> ssm_dt{};
inline constexpr tensor_tag<"blk.{}.ssm_dt_norm"> ssm_dt_norm{};
inline constexpr tensor_tag<"blk.{}.ssm_b_norm"> ssm_b_norm{};
inline constexpr tensor_tag<"blk.{}.ssm_c_norm"> ssm_c_norm{};
inline constexpr tensor_tag<"blk.{}.ssm_a"> ssm_a{};
inline constexpr tensor_tag<"blk.{}.ssm_d"> ssm_d{};
inline constexpr tensor_tag<"blk.{}.ssm_norm"> ssm_norm{};
inline constexpr tensor_tag<"blk.{}.ssm_out"> ssm_out{};
}  // namespace t

namespace keys {
inline constexpr std::array ssm = {
    key_row{"ssm.conv_kernel", &hparams::ssm_taps, need::required, 2, 64},
    key_row{"ssm.inner_size", &hparams::ssm_inner, need::required, 1, 1 << 20},
    key_row{"ssm.state_size", &hparams::ssm_state, need::required, 1, 1 << 14},
    key_row{"ssm.time_step_rank", &hparams::ssm_rank, need::required, 1, 1 << 20},
};
inline constexpr std::array ssm_groups = {
    key_row{"ssm.group_count", &hparams::ssm_groups, need::required, 0, 1 << 16},
};
}  // namespace keys

namespace d {
constexpr u64 ssm_taps(const hparams& hp, u32) { return hp.ssm_taps; }
constexpr u64 ssm_inner(const hparams& hp, u32) { return hp.ssm_inner; }
constexpr u64 ssm_inner_twice(const hparams& hp, u32) { return u64{2} * hp.ssm_inner; }
constexpr u64 ssm_state(const hparams& hp, u32) { return hp.ssm_state; }
constexpr u64 ssm_rank(const hparams& hp, u32) { return hp.ssm_rank; }
constexpr u64 ssm_groups(const hparams& hp, u32) { return hp.ssm_groups; }
constexpr u64 ssm_group(const hparams& hp, u32) { return hp.ssm_groups ? hp.ssm_inner / hp.ssm_groups : 0; }
constexpr u64 ssm_step(const hparams& hp, u32) { return u64{hp.ssm_rank} + 2 * u64{hp.ssm_state}; }
/// Columns of Mamba 2's convolution: x, and B and C of each group.
constexpr u64 ssm_conv(const hparams& hp, u32) { return hp.ssm_inner + 2 * u64{hp.ssm_groups} * hp.ssm_state; }
constexpr u64 ssm_all(const hparams& hp, u32 il) { return hp.ssm_inner + ssm_conv(hp, il) + hp.ssm_rank; }
}  // namespace d

/// Layers without heads of keys and values: in most hybrid models these are the recurrent ones.
constexpr bool without_heads(const hparams& hp, u32 il) { return hp.n_head_kv[il] == 0; }
constexpr bool with_heads(const hparams& hp, u32 il) { return hp.n_head_kv[il] != 0; }

namespace tensors {
/// Mamba; `norms`: of step, B and C.
constexpr std::array<tensor_row, 10> mamba(layer_test when = nullptr, need norms = need::optional) {
  return {matrix("blk.{}.ssm_in", {d::embd, d::ssm_inner_twice}, when),
          numbers("blk.{}.ssm_conv1d", {d::ssm_taps, d::ssm_inner}, when, ".weight", bias::required),
          matrix("blk.{}.ssm_x", {d::ssm_inner, d::ssm_step}, when),
          tensor_row{"blk.{}.ssm_dt", {d::ssm_rank, d::ssm_inner}, bias::required, need::required, when},
          tensor_row{"blk.{}.ssm_dt_norm", {d::ssm_rank}, bias::none, norms, when},
          tensor_row{"blk.{}.ssm_b_norm", {d::ssm_state}, bias::none, norms, when},
          tensor_row{"blk.{}.ssm_c_norm", {d::ssm_state}, bias::none, norms, when},
          numbers("blk.{}.ssm_a", {d::ssm_state, d::ssm_inner}, when, ""),
          numbers("blk.{}.ssm_d", {d::ssm_inner}, when, ""),
          matrix("blk.{}.ssm_out", {d::ssm_inner, d::embd}, when)};
}

/// Mamba 2.
constexpr std::array<tensor_row, 7> mamba2(layer_test when = nullptr, need norm = need::required) {
  return {matrix("blk.{}.ssm_in", {d::embd, d::ssm_all}, when),
          numbers("blk.{}.ssm_conv1d", {d::ssm_taps, d::ssm_conv}, when, ".weight", bias::optional),
          numbers("blk.{}.ssm_dt", {d::ssm_rank}, when, ".bias"),
          numbers("blk.{}.ssm_a", {d::one, d::ssm_rank}, when, ""),
          numbers("blk.{}.ssm_d", {d::one, d::ssm_rank}, when, ""),
          numbers("blk.{}.ssm_norm", {d::ssm_group, d::ssm_groups}, when, ".weight", bias::none, norm),
          matrix("blk.{}.ssm_out", {d::ssm_inner, d::embd}, when)};
}
}  // namespace tensors

/// State of a layer of Mamba, or of Mamba 2 with its groups.
constexpr recurrent_state mamba_state(const hparams& hp, u32 il = 0) noexcept {
  return {(u64{hp.ssm_taps} - 1) * d::ssm_conv(hp, il), u64{hp.ssm_inner} * hp.ssm_state};
}

/// Whether heads and groups divide what they share; `complete` of the families with Mamba 2.
/// Errors: inconsistent, with the key.
inline result<void> complete_mamba2(std::string_view arch, hparams& hp) noexcept {
  if (hp.ssm_inner % hp.ssm_rank != 0)
    return fail(errc::inconsistent, key_name(arch, "ssm.time_step_rank").view()).got(hp.ssm_rank);
  if (hp.ssm_groups == 0 || hp.ssm_rank % hp.ssm_groups != 0)
    return fail(errc::inconsistent, key_name(arch, "ssm.group_count").view()).got(hp.ssm_groups);
  return {};
}

/// silu(conv(in) + bias) over the layer's convolution: [tokens, cols].
template <class X, class M>
constexpr value short_conv(X& x, const M& m, const batch& b, u32 il, const mat& in) {
  const linear w = m.get(t::ssm_conv1d, il);
  value u = x.conv(in, {m.hp().ssm_taps, state_floats_in(m, il), w.w}, b);
  if (w.bias) x.add(u, row_of(w.bias, in.rows));
  x.activate(u, activation::silu);
  return u;
}

/// The token-dependent parameters of the recurrence: steps of `heads` heads before their softplus, B and C of the
/// groups.
struct selection {
  mat steps, b, c;
  u32 heads = 0, groups = 1;
};

/// Recurrence over u, skip connection, gate z and output projection: u, z [tokens, inner] -> [tokens, n_embd]. z is
/// overwritten.
template <class X, class M>
constexpr value selective_scan(X& x, const M& m, const batch& b, u32 il, const value& u, const selection& s,
                               const mat& z) {
  const hparams& hp = m.hp();
  x.activate(s.steps, activation::softplus);
  weight rates = m.get(t::ssm_a, il).w;
  if (rates.rows == 1) rates.rows = rates.cols, rates.cols = 1;
  value y;
  {
    const value v = x.make(u.rows(), u.cols());
    x.copy(v, u);
    x.multiply(v, s.steps);
    scan_args a{.n_head = s.heads, .n_head_k = s.groups, .dim_k = hp.ssm_state, .dim_v = hp.ssm_inner / s.heads};
    a.state_offset = state_floats_in(m, il) + state_of(m, il).conv;
    a.log_decay = rates;
    y = x.scan(a, {.q = s.c, .k = s.b, .v = v, .decay = s.steps}, b);
  }
  x.multiply(u, row_of(m.get(t::ssm_d, il).w, u.rows()));
  x.add(y, u);
  x.gated(z, y, activation::silu);
  if (const weight w = m.get(t::ssm_norm, il).w) x.norm_inplace(z, {.eps = hp.norm_eps, .group = w.cols, .w = w});
  return x.matmul(z, m.get(t::ssm_out, il));
}

namespace detail {
/// Norms of step, B and C, where the family or the file has them.
template <class X, class M>
constexpr void norm_selection(X& x, const M& m, u32 il, const mat& step, const mat& b, const mat& c) {
  const auto norm = [&](const mat& v, const weight& w) {
    if (w || m.hp().ssm_norm) x.norm_inplace(v, {.eps = m.hp().norm_eps, .group = v.cols, .w = w});
  };
  norm(step, m.get(t::ssm_dt_norm, il).w);
  norm(b, m.get(t::ssm_b_norm, il).w);
  norm(c, m.get(t::ssm_c_norm, il).w);
}
}  // namespace detail

/// Mamba: every column is a head of its own; step, B and C follow from the convolved input.
template <class X, class M>
constexpr value mamba(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  const u32 inner = hp.ssm_inner, rank = hp.ssm_rank, state = hp.ssm_state;
  const value xz = x.matmul(n, m.get(t::ssm_in, il));
  const value u = short_conv(x, m, b, il, xz.columns(0, inner));
  const value low = x.matmul(u, m.get(t::ssm_x, il));
  const mat step = low.columns(0, rank), key = low.columns(rank, state), query = low.columns(rank + state, state);
  detail::norm_selection(x, m, il, step, key, query);
  const value steps = x.matmul(step, m.get(t::ssm_dt, il));
  return selective_scan(x, m, b, il, u, {steps, key, query, inner, 1}, xz.columns(inner, inner));
}

/// Mamba 2: heads of several columns with one decay; step, B and C are projected from n, and B and C convolved, too.
template <class X, class M>
constexpr value mamba2(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  const u32 inner = hp.ssm_inner, keys = hp.ssm_groups * hp.ssm_state, conv = inner + 2 * keys;
  const value all = x.matmul(n, m.get(t::ssm_in, il));
  const value xbc = short_conv(x, m, b, il, all.columns(inner, conv));
  const mat steps = all.columns(inner + conv, hp.ssm_rank);
  x.add(steps, row_of(m.get(t::ssm_dt, il).w, n.rows));
  const value u = x.make(n.rows, inner);
  x.copy(u, xbc.columns(0, inner));
  const selection s{steps, xbc.columns(inner, keys), xbc.columns(inner + keys, keys), hp.ssm_rank, hp.ssm_groups};
  return selective_scan(x, m, b, il, u, s, all.columns(0, inner));
}

/// Mamba or Mamba 2, as the tensors say.
template <class X, class M>
constexpr value selective_layer(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  if constexpr (has_tensor<M>(t::ssm_x)) return mamba(x, m, b, il, n);
  else return mamba2(x, m, b, il, n);
}

}  // namespace jig
