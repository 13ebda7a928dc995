#pragma once
// deci: DeciLM and Llama Nemotron: llama from which an architecture search removed parts, layer by layer
// (Puzzle, https://arxiv.org/abs/2411.19146). A layer has attention, or one matrix in its place, or neither; and a
// feed-forward of its own width, or none.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct deci {
  static constexpr std::string_view name = "deci";
  static constexpr auto keys = join(keys::decoder_from(0), keys::rms_norm, keys::rope);

  static constexpr bool has_heads(const hparams& hp, u32 il) { return hp.n_head[il] != 0; }
  static constexpr bool has_memory(const hparams& hp, u32 il) { return hp.n_head_kv[il] != 0; }
  static constexpr bool has_ffn(const hparams& hp, u32 il) { return hp.n_ff[il] != 0; }
  static constexpr u64 mixed(const hparams& hp, u32 il) {
    return has_memory(hp, il) ? d::attn_out(hp, il) : d::embd(hp, il);
  }

  static constexpr auto tensors =
      join(tensors::decoder(), tensors::rope_factors,
           std::array{numbers("blk.{}.attn_norm", {d::embd}, has_heads),
                      tensor_row{"blk.{}.attn_q", {d::embd, d::q}, bias::optional, need::required, has_memory},
                      tensor_row{"blk.{}.attn_k", {d::embd, d::k}, bias::optional, need::required, has_memory},
                      tensor_row{"blk.{}.attn_v", {d::embd, d::v}, bias::optional, need::required, has_memory},
                      tensor_row{"blk.{}.attn_output", {mixed, d::embd}, bias::optional, need::required, has_heads},
                      numbers("blk.{}.ffn_norm", {d::embd}, has_ffn)},
           tensors::gated(bias::optional, has_ffn));
  static constexpr decoder_spec spec{};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      for (u32 il = 0; il < hp.n_layer; ++il) {
        if (has_heads(hp, il)) {
          value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
          if (has_memory(hp, il)) n = attention(x, spec, m, b, il, n, tables);
          else n = x.matmul(n, m.get(t::attn_output, il));
          x.add(h, n);
        }
        if (has_ffn(hp, il)) {
          value n = normed(x, spec, hp, h, m.get(t::ffn_norm, il));
          n = dense(x, spec, m, il, n);
          x.add(h, n);
        }
        x.name("l_out", il, h);
      }
    });
  }
};

}  // namespace jig::arch
