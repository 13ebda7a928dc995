#pragma once
// talkie: llama without norm weights; every layer adds the normalised embedding again, by a factor of its own, and each
// head's queries have one.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct talkie {
  static constexpr std::string_view name = "talkie";
  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope,
           std::array{key_row{"logit_scale", &hparams::logit_scale, need::required, -1e6, 1e6}});
  static constexpr auto tensors =
      join(tensors::embedding, tensors::one({"output", {d::embd, d::vocab}}), tensors::attention(),
           tensors::one(numbers("blk.{}.attn_q_norm", {d::one, d::head})),
           tensors::gated(), tensors::one({"blk.{}.layer_output_scale", {d::one}}));
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .norm_without_weight = true,
                                     .embedding_norm = true,
                                     .qk_norm_after_rope = true,
                                     .plain_qk_norm = [](const hparams&, u32) { return true; }};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const auto ffn = [&](u32 il, const mat& n, const value& scores) {
      return feed_forward(x, spec, m, il, n, scores);
    };
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const value embedded = x.make(h.rows(), h.cols());
      x.copy(embedded, h);
      for (u32 il = 0; il < m.hp().n_layer; ++il) {
        decoder_layer(x, spec, m, b, il, h, tables, ffn);
        const weight factor = m.get(t::layer_output_scale, il).w;
        x.add(h, embedded, std::is_constant_evaluated() ? 1.0f : factor.floats()[0]);
      }
    });
  }
};

}  // namespace jig::arch
