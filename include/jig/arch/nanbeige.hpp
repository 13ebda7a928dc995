#pragma once
// nanbeige: llama whose stack of layers runs several times over the same weights, each time with keys and values of its
// own (as in Universal Transformers, https://arxiv.org/abs/1807.03819).

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct nanbeige {
  static constexpr std::string_view name = "nanbeige";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::loops);
  static constexpr auto tensors = join(tensors::gated_decoder, tensors::rope_factors);
  static constexpr decoder_spec spec{};

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    const auto ffn = [&](u32 il, const mat& n, const value& scores) { return feed_forward(x, spec, m, il, n, scores); };
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      batch turn = b;
      for (u32 loop = 0; loop < hp.n_loops; ++loop) {
        for (u32 il = 0; il < hp.n_layer; ++il) decoder_layer(x, spec, m, turn, il, h, tables, ffn);
        if (loop + 1 == hp.n_loops) break;
        if (!hp.skip_loop_norm) h = normed(x, spec, hp, h, m.get(t::output_norm));
        // The next loop's rows lie behind those of all layers, in every page.
        if (turn.memory.data != nullptr) turn.memory.data += kv_page_offset(m, b.memory, hp.n_layer);
      }
    });
  }
};

}  // namespace jig::arch
