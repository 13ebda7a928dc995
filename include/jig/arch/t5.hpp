#pragma once
// t5: encoder and decoder (https://arxiv.org/abs/1910.10683): the decoder reads the encoded source by cross attention.
// Positions are known by biases of the distance alone, which the layers of each half share; scores are not scaled.

#include "jig/arch/blocks/decoder.hpp"
#include "jig/arch/names.hpp"

namespace jig::arch {

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
