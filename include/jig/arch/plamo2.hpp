#pragma once
// plamo2: a hybrid of Mamba with heads and attention.

#include "jig/arch/mamba.hpp"

namespace jig::arch {

/// PLaMo 2: Mamba with heads in the layers that do not attend; norms of step, B and C, and behind the branches.
struct plamo2 : mamba_hybrid_arch {
  static constexpr std::string_view name = "plamo2";
  static constexpr u64 step(const hparams& hp, u32) { return hp.n_embd / 16 > 64 ? hp.n_embd / 16 : 64; }
  static constexpr u64 selected(const hparams& hp, u32 il) { return step(hp, il) + 2 * u64{hp.ssm_state}; }

  static constexpr auto keys =
      join(keys::decoder_from(0), keys::rms_norm, keys::rope, keys::ssm, keys::ssm_groups);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"),
      std::array{
          matrix("blk.{}.ssm_in", {d::embd, d::ssm_inner_twice}, without_heads),
          numbers("blk.{}.ssm_conv1d", {d::ssm_taps, d::ssm_inner}, without_heads),
          matrix("blk.{}.ssm_x", {d::ssm_inner, selected}, without_heads),
          tensor_row{"blk.{}.ssm_dt", {step, d::ssm_rank}, bias::required, need::required, without_heads},
          numbers("blk.{}.ssm_dt_norm", {step}, without_heads, ""),
          numbers("blk.{}.ssm_b_norm", {d::ssm_state}, without_heads, ""),
          numbers("blk.{}.ssm_c_norm", {d::ssm_state}, without_heads, ""),
          numbers("blk.{}.ssm_a", {d::ssm_rank}, without_heads, ""),
          numbers("blk.{}.ssm_d", {d::ssm_rank}, without_heads, ""),
          matrix("blk.{}.ssm_out", {d::ssm_inner, d::embd}, without_heads),
          matrix("blk.{}.attn_qkv", {d::embd, d::qkv}, with_heads),
          numbers("blk.{}.attn_q_norm", {d::head_k, d::head}, with_heads),
          numbers("blk.{}.attn_k_norm", {d::head_k, d::head_kv}, with_heads),
          matrix("blk.{}.attn_output", {d::attn_out, d::embd}, with_heads)},
      tensors::norm("blk.{}.post_attention_norm", bias::none, need::required, ""), tensors::norm("blk.{}.ffn_norm"),
      tensors::fused_gated, tensors::norm("blk.{}.post_ffw_norm", bias::none, need::required, ""));
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static result<void> complete(hparams& hp) noexcept {
    hp.attn_scale = inverse_sqrt(hp.dim_v);
    if (hp.ssm_groups != 0) return fail(errc::unsupported_feature, "plamo2.ssm.group_count").got(hp.ssm_groups);
    if (hp.ssm_inner % hp.ssm_rank != 0) return fail(errc::inconsistent, "plamo2.ssm.time_step_rank").got(hp.ssm_rank);
    return {};
  }

  /// Heads are projected as [gate | input] in turn; B, C and step follow from the convolved input.
  template <class X, class M>
  static constexpr value recurrent(X& x, const M& m, const batch& b, u32 il, const mat& n) {
    const hparams& hp = m.hp();
    const u32 inner = hp.ssm_inner, heads = hp.ssm_rank, dim = inner / heads, states = hp.ssm_state;
    const value z = x.make(n.rows, inner), in = x.make(n.rows, inner);
    {
      const value zx = x.matmul(n, m.get(t::ssm_in, il));
      x.copy(mat(z).heads(heads, 0, dim), mat(zx).heads(heads, 0, dim));
      x.copy(mat(in).heads(heads, 0, dim), mat(zx).heads(heads, dim, dim));
    }
    const value u = short_conv(x, m, b, il, in);
    const value low = x.matmul(u, m.get(t::ssm_x, il));
    const mat key = low.columns(0, states), query = low.columns(states, states);
    const mat narrow = low.columns(2 * states, static_cast<u32>(step(hp, il)));
    detail::norm_selection(x, m, il, narrow, key, query);
    const value steps = x.matmul(narrow, m.get(t::ssm_dt, il));
    return selective_scan(x, m, b, il, u, {steps, key, query, heads, 1}, z);
  }
};

}  // namespace jig::arch
