#pragma once
// t5: encoder and decoder (https://arxiv.org/abs/1910.10683): the decoder reads the encoded source by cross attention.
// Positions are known by biases of the distance alone, which the layers of each half share; scores are not scaled.

#include "jig/arch/blocks/t5_half.hpp"

namespace jig::arch {

/// Errors: inconsistent (layers of the two halves share places in the memory, so that all must be of one size).
inline result<void> check_equal_heads(std::string_view arch, const hparams& hp) noexcept {
  for (const auto* heads : {&hp.n_head, &hp.n_head_kv})
    if (heads->varies()) return fail(errc::inconsistent, key_name(arch, "attention.head_count").view());
  return {};
}

/// The encoder alone, for embeddings.
struct t5encoder {
  static constexpr std::string_view name = "t5encoder";
  static constexpr bool encodes = true;
  using encoder = t5_half<"enc.", &hparams::n_layer>;
  static constexpr decoder_spec spec = encoder::spec;
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::distances);
  static constexpr auto tensors =
      join(tensors::embedding, encoder::tensors,
           tensors::one({"output", {d::embd, d::vocab}, bias::none, need::optional}));
  static constexpr void defaults(hparams& hp) noexcept {
    hp.causal = false;
    hp.attn_scale = 1.0f;
  }
  static result<void> complete(hparams& hp) noexcept { return check_equal_heads(name, hp); }
  static constexpr bool attends(const hparams&, u32 il) { return il == 0; }

  /// Token ids -> see states().
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables&) {
      encoder::layers(x, m, b, h, [](u32, const value&) {});
    });
  }
};

struct t5 {
  static constexpr std::string_view name = "t5";
  static constexpr bool reads_source = true;
  using encoder = t5_half<"enc.", &hparams::n_layer_encoder>;
  using decoder = t5_half<"dec.", &hparams::n_layer_decoder>;
  static constexpr tensor_tag<"dec.blk.{}.cross_attn_norm"> cross_norm{};
  static constexpr tensor_tag<"dec.blk.{}.cross_attn_q"> cross_q{};
  static constexpr tensor_tag<"dec.blk.{}.cross_attn_k"> cross_k{};
  static constexpr tensor_tag<"dec.blk.{}.cross_attn_v"> cross_v{};
  static constexpr tensor_tag<"dec.blk.{}.cross_attn_o"> cross_o{};

  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::distances,
           std::array{key_row{"decoder_block_count", &hparams::n_layer_decoder, need::optional, 1, 2048},
                      key_row{"decoder_start_token_id", &hparams::decoder_start, need::optional, 0, 1 << 24}});
  static constexpr auto tensors =
      join(tensors::embedding, encoder::tensors, decoder::tensors,
           std::array{tensor_row{"output", {d::embd, d::vocab}, bias::none, need::optional},
                      decoder::norm(cross_norm.name), decoder::biases("dec.blk.{}.cross_attn_rel_b"),  // not used
                      matrix(cross_q.name, {d::embd, d::q}, decoder::has),
                      matrix(cross_k.name, {d::embd, d::k}, decoder::has),
                      matrix(cross_v.name, {d::embd, d::v}, decoder::has),
                      matrix(cross_o.name, {d::attn_out, d::embd}, decoder::has)});
  static constexpr decoder_spec spec = decoder::spec;
  static constexpr void defaults(hparams& hp) noexcept { hp.attn_scale = 1.0f; }
  static result<void> complete(hparams& hp) noexcept {
    hp.n_layer_encoder = hp.n_layer;
    if (hp.n_layer_decoder == 0) hp.n_layer_decoder = hp.n_layer;
    if (hp.n_layer < hp.n_layer_decoder) hp.n_layer = hp.n_layer_decoder;
    if (hp.decoder_start >= hp.n_vocab)
      return fail(errc::inconsistent, "t5.decoder_start_token_id").got(hp.decoder_start);
    return check_equal_heads(name, hp);
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return decoder::has(hp, il); }

  /// The source's token ids -> keys and values of the encoder's result for each layer of the decoder, in the memory.
  template <class X, class M>
  static constexpr void encode(X& x, const M& m, const batch& b) {
    value h = embed(x, spec, m, b);
    encoder::layers(x, m, b, h, [](u32, const value&) {});
    h = normed(x, spec, m.hp(), h, m.get(encoder::output_norm));
    for (u32 il = 0; il < m.hp().n_layer_decoder; ++il) {
      const auto [k, v] = x.project(h, m.get(cross_k, il), m.get(cross_v, il));
      x.store(k, v, make_attend_args(spec, m, b, il), b);
    }
  }

  /// Token ids behind a source -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables&) {
      decoder::layers(x, m, b, h, [&](u32 il, value& sum) {
        attend_args args = make_attend_args(spec, m, b, il);
        args.to_source = true;
        value y = normed(x, spec, m.hp(), sum, m.get(cross_norm, il));
        y = x.matmul(y, m.get(cross_q, il));
        y = x.attend_again(y, args, b);
        y = x.matmul(y, m.get(cross_o, il));
        x.add(sum, y);
      });
    });
  }
};

}  // namespace jig::arch
