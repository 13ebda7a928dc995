#pragma once
// The layers of T5 (https://arxiv.org/abs/1910.10683), which encoder and decoder have alike. Positions are known by
// biases of the distance alone, which the layers of a half share; scores are not scaled.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/names.hpp"

namespace jig {

/// The layers of one half. Names of tensors begin with Half; it has as many layers as the hyperparameter Count says.
template <fixed_name Half, u32 hparams::* Count>
struct t5_half {
  template <fixed_name Name>
  using tag = tensor_tag<Half + Name>;
  static constexpr bool in_encoder = Half.text[0] == 'e';
  static constexpr bool has(const hparams& hp, u32 il) { return il < hp.*Count; }
  static constexpr u64 buckets(const hparams& hp, u32) { return hp.n_distances; }
  static constexpr tensor_row norm(std::string_view name) { return numbers(name, {d::embd}, has); }
  static constexpr tensor_row biases(std::string_view name) {
    return numbers(name, {d::head, buckets}, has, ".weight", bias::none, need::optional);
  }

  static constexpr tag<"output_norm"> output_norm{};
  static constexpr tag<"blk.{}.attn_norm"> attn_norm{};
  static constexpr tag<"blk.{}.attn_rel_b"> attn_rel_b{};
  static constexpr tag<"blk.{}.attn_q"> attn_q{};
  static constexpr tag<"blk.{}.attn_k"> attn_k{};
  static constexpr tag<"blk.{}.attn_v"> attn_v{};
  static constexpr tag<"blk.{}.attn_o"> attn_o{};
  static constexpr tag<"blk.{}.ffn_norm"> ffn_norm{};
  static constexpr tag<"blk.{}.ffn_gate"> ffn_gate{};
  static constexpr tag<"blk.{}.ffn_up"> ffn_up{};
  static constexpr tag<"blk.{}.ffn_down"> ffn_down{};
  static constexpr std::array tensors = {
      tensor_row{output_norm.name, {d::embd}},
      norm(attn_norm.name),
      biases(attn_rel_b.name),
      matrix(attn_q.name, {d::embd, d::q}, has),
      matrix(attn_k.name, {d::embd, d::k}, has),
      matrix(attn_v.name, {d::embd, d::v}, has),
      matrix(attn_o.name, {d::attn_out, d::embd}, has),
      norm(ffn_norm.name),
      matrix(ffn_gate.name, {d::embd, d::ff}, has, need::optional),
      matrix(ffn_up.name, {d::embd, d::ff}, has),
      matrix(ffn_down.name, {d::ff, d::embd}, has),
  };
  static constexpr decoder_spec spec{.rope = rope_kind::none};

  /// h += attention(norm(h)), for all layers, each followed by between(il, h) and h += feed_forward(norm(h)), which is
  /// gated with GELU, or plain with ReLU. h: [tokens, n_embd].
  template <class X, class M, class F>
  static constexpr void layers(X& x, const M& m, const batch& b, value& h, F&& between) {
    const hparams& hp = m.hp();
    value distances;
    for (u32 il = 0; il < hp.*Count; ++il) {
      if (const weight w = m.get(attn_rel_b, il).w) distances = x.distances(w, b.causal);
      attend_args args = make_attend_args(spec, m, b, il);
      args.distances = distances;
      if (in_encoder) args.page_offset = 0;  // nobody reads keys and values again: all layers use the same place
      {
        const value n = normed(x, spec, hp, h, m.get(attn_norm, il));
        const auto [q, k, v] = x.project(n, m.get(attn_q, il), m.get(attn_k, il), m.get(attn_v, il));
        const value a = x.attend(q, k, v, args, b);
        const value y = x.matmul(a, m.get(attn_o, il));
        x.add(h, y);
      }
      between(il, h);
      const linear gate = m.get(ffn_gate, il);
      const activation act = gate ? activation::gelu : activation::relu;
      value y = normed(x, spec, hp, h, m.get(ffn_norm, il));
      y = mlp(x, spec, act, hp.norm_eps, y, gate, m.get(ffn_up, il), m.get(ffn_down, il));
      x.add(h, y);
      x.name("l_out", il, h);
    }
  }
};

}  // namespace jig
