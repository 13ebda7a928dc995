#pragma once
// arctic: decoders whose experts have something beside them: a dense layer (Arctic), smaller experts (GroveMoE).

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Arctic (Snowflake): a dense layer of width n_embd, and experts that read the layer's input in parallel to it.
struct arctic {
  static constexpr std::string_view name = "arctic";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts);
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::norm("blk.{}.ffn_norm"),
      std::array{tensor_row{"blk.{}.ffn_gate", {d::embd, d::embd}}, tensor_row{"blk.{}.ffn_up", {d::embd, d::embd}},
                 tensor_row{"blk.{}.ffn_down", {d::embd, d::embd}}},
      tensors::norm("blk.{}.ffn_norm_exps"), tensors::experts);
  static constexpr decoder_spec spec{};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      for (u32 il = 0; il < hp.n_layer; ++il) {
        value experts = normed(x, spec, hp, h, m.get(t::ffn_norm_exps, il));
        experts = mixture(x, spec, m, il, experts, {});
        value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
        n = attention(x, spec, m, b, il, n, tables);
        x.add(h, n);
        n = normed(x, spec, hp, h, m.get(t::ffn_norm, il));
        n = dense(x, spec, m, il, n);
        x.add(h, n);
        x.add(h, experts);
        x.name("l_out", il, h);
      }
    });
  }
};

/// GroveMoE (https://arxiv.org/abs/2508.07785): beside the experts, smaller ones that groups of experts share; they
/// read the experts' result.
struct grovemoe {
  static constexpr std::string_view name = "grovemoe";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts, keys::grouped_experts);
  static constexpr u64 n_chunk(const hparams& hp, u32) {
    return hp.n_expert / (hp.experts_per_group ? hp.experts_per_group : 1);
  }
  static constexpr u64 ff_chunk(const hparams& hp, u32) { return hp.n_ff_chunk; }
  static constexpr auto tensors = join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(),
                                       tensors::head_norms(), tensors::norm("blk.{}.ffn_norm"), tensors::experts,
                                       std::array{tensor_row{"blk.{}.ffn_gate_chexps", {d::embd, ff_chunk, n_chunk}},
                                                  tensor_row{"blk.{}.ffn_up_chexps", {d::embd, ff_chunk, n_chunk}},
                                                  tensor_row{"blk.{}.ffn_down_chexps", {ff_chunk, d::embd, n_chunk}}});
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.experts_per_group == 0 || hp.n_expert % hp.experts_per_group != 0)
      return fail(errc::inconsistent, "grovemoe.experts_per_group").got(hp.experts_per_group);
    return {};
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder_with(x, spec, m, b, [&](u32 il, const mat& n, const value&) {
      const hparams& hp = m.hp();
      const value scores = x.matmul(n, m.get(t::ffn_gate_inp, il));
      value y = mixture(x, spec, m, il, n, scores);
      route_args shared = make_route_args(spec, m, il);
      shared.per_group = hp.experts_per_group;
      const u32 chunks = hp.n_expert / hp.experts_per_group;
      if (shared.n_used > chunks) shared.n_used = chunks;
      value g = x.experts(y, scores, m.get(gate_chunk, il), m.get(up_chunk, il), m.get(down_chunk, il),
                          expert_activation(spec, m, il), shared);
      x.add(y, g, hp.expert_group_scale);
      return y;
    });
  }

 private:
  static constexpr tensor_tag<"blk.{}.ffn_gate_chexps"> gate_chunk{};
  static constexpr tensor_tag<"blk.{}.ffn_up_chexps"> up_chunk{};
  static constexpr tensor_tag<"blk.{}.ffn_down_chexps"> down_chunk{};
};

}  // namespace jig::arch
