#pragma once
// lfm2: Liquid's LFM 2 (https://arxiv.org/abs/2511.23404): gated short convolutions, attention in a few layers. What
// such a layer carries from token to token are the last inputs of its convolution.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/blocks/mamba.hpp"

namespace jig::arch {

struct lfm2 : decoder_arch {
  static constexpr std::string_view name = "lfm2";
  static constexpr tensor_tag<"blk.{}.shortconv.conv"> conv{};
  static constexpr tensor_tag<"blk.{}.shortconv.in_proj"> in{};
  static constexpr tensor_tag<"blk.{}.shortconv.out_proj"> out{};
  static constexpr u64 thrice(const hparams& hp, u32) { return u64{3} * hp.n_embd; }

  static constexpr auto keys =
      join(keys::decoder_from(0), keys::rms_norm, keys::rope,
           std::array{key_row{"shortconv.l_cache", &hparams::ssm_taps, need::required, 2, 64},
                      key_row{"attention.sliding_window", &hparams::window, need::optional, 0, 1 << 30}});
  static constexpr auto mixers =
      join(std::array{tensor_row{"token_embd", {d::embd, d::vocab}}, tensor_row{"token_embd_norm", {d::embd}},
                      tensor_row{"output", {d::embd, d::vocab}, bias::none, need::optional},
                      numbers(conv.name, {d::ssm_taps, d::embd}, without_heads),
                      matrix(in.name, {d::embd, thrice}, without_heads),
                      matrix(out.name, {d::embd, d::embd}, without_heads),
                      numbers("blk.{}.attn_q_norm", {d::head_k}, with_heads),
                      numbers("blk.{}.attn_k_norm", {d::head_k}, with_heads)},
           tensors::attention(bias::none, bias::none, with_heads), tensors::norm("blk.{}.attn_norm"),
           tensors::norm("blk.{}.ffn_norm"));
  static constexpr auto tensors = join(mixers, tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .embedding_norm_last = true,
                                     .windowed = [](const hparams& hp, u32) { return hp.window != 0; }};
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    return {without_heads(hp, il) ? (u64{hp.ssm_taps} - 1) * hp.n_embd : 0, 0};
  }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (with_heads(m.hp(), il)) return attention(x, M::architecture::spec, m, b, il, n, tables);
    const u32 width = m.hp().n_embd;
    const value all = x.matmul(n, m.get(in, il));
    const mat before = all.columns(0, width), after = all.columns(width, width), u = all.columns(2 * width, width);
    x.multiply(u, before);
    const value y = x.conv(u, {m.hp().ssm_taps, state_floats_in(m, il), m.get(conv, il).w}, b);
    x.multiply(y, after);
    return x.matmul(y, m.get(out, il));
  }
};

/// LFM 2 with experts in all but the first layers.
struct lfm2moe : lfm2 {
  static constexpr std::string_view name = "lfm2moe";
  static constexpr auto keys = join(lfm2::keys, keys::experts, keys::more_experts);
  static constexpr auto tensors = join(mixers, tensors::gated(bias::none, is_dense), tensors::experts,
                                       tensors::selection_bias(need::required));
};

}  // namespace jig::arch
