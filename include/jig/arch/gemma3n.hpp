#pragma once
// gemma3n: Gemma 3n: several hidden states side by side of which a layer computes one (AltUp), low-rank residual
// branches (LAuReL, https://arxiv.org/abs/2411.07501), sparse activations, inputs per layer; the last layers share keys
// and values.

#include "jig/arch/blocks/altup.hpp"
#include "jig/arch/blocks/per_layer.hpp"

namespace jig::arch {

struct gemma3n {
  static constexpr std::string_view name = "gemma3n";
  static constexpr u32 laurel_rank = 64;
  static constexpr u64 rank(const hparams&, u32) { return laurel_rank; }
  static constexpr tensor_tag<"blk.{}.laurel_l"> laurel_l{};
  static constexpr tensor_tag<"blk.{}.laurel_r"> laurel_r{};
  static constexpr tensor_tag<"blk.{}.laurel_post_norm"> laurel_norm{};

  static constexpr auto keys =
      join(keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::softcaps,
           std::array{key_row{"attention.shared_kv_layers", &hparams::n_shared_kv, need::optional, 0, 2048},
                      key_row{"embedding_length_per_layer_input", &hparams::n_layer_input, need::optional, 1, 1 << 16},
                      key_row{"altup.num_inputs", &hparams::n_altup, need::optional, 2, 16},
                      key_row{"activation_sparsity_scale", &hparams::sparsity, need::optional, 0, 100}});
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::layer_inputs, tensors::norm("blk.{}.attn_norm"), tensors::shared_kv_attention,
           tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.ffn_norm"), tensors::gated(),
           tensors::norm("blk.{}.post_ffw_norm"), tensors::altup,
           std::array{tensor_row{laurel_l.name, {d::embd, rank}}, tensor_row{laurel_r.name, {rank, d::embd}},
                      numbers(laurel_norm.name, {d::embd})});
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .act = activation::gelu, .windowed = windowed_by<5>, .window_unscaled = true};

  static constexpr void defaults(hparams& hp) noexcept {
    hp.final_softcap = 30.0f;
    hp.n_altup = 4;
    hp.n_layer_input = 256;
    hp.n_shared_kv = ~u32{0};
  }
  static result<void> complete(hparams& hp) noexcept {
    hp.embedding_scale = std::sqrt(static_cast<f32>(hp.n_embd));
    hp.attn_scale = 1.0f;
    if (hp.n_shared_kv == ~u32{0}) hp.n_shared_kv = hp.n_layer > 20 ? hp.n_layer - 20 : 0;
    return check_shared_kv<gemma3n>(hp);
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return owns_kv(hp, il); }

  /// Older files do not say which layers are sparse: the first ten, so that one value in twenty stays.
  static constexpr f32 sparsity_of(const hparams& hp, u32 il) {
    return hp.sparsity.varies() ? hp.sparsity[il] : il < 10 ? 1.6448536f : 0.0f;
  }

  template <class X, class M>
  static constexpr value feed(X& x, const M& m, u32 il, const mat& n) {
    auto [g, u] = x.project(n, m.get(t::ffn_gate, il), m.get(t::ffn_up, il));
    if (const f32 scale = sparsity_of(m.hp(), il); scale > 0.0f) keep_largest(x, g, scale);
    x.gated(g, u, spec.act);
    u = value();
    return x.matmul(g, m.get(t::ffn_down, il));
  }

  /// What a layer makes of h: attention and the low-rank branch beside it, then feed-forward. h, result
  /// [tokens, n_embd].
  template <class X, class M>
  static constexpr value computed(X& x, const M& m, const batch& b, u32 il, const mat& h, const rope_tables& tables) {
    const hparams& hp = m.hp();
    const auto norm = [&](const mat& v, const weight& w) {
      x.norm_inplace(v, {.eps = hp.norm_eps, .group = hp.n_embd, .w = w});
    };
    value y = x.make(h.rows, hp.n_embd);
    {
      const value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
      value low = x.matmul(n, m.get(laurel_l, il));
      low = x.matmul(low, m.get(laurel_r, il));
      norm(low, m.get(laurel_norm, il).w);
      x.add(low, n);
      const value a = shared_kv_attention(x, spec, m, b, il, n, tables);
      norm(a, m.get(t::post_attention_norm, il).w);
      x.copy(y, h);
      x.add(y, a);
      x.add(y, low);
      x.scale(y, inverse_sqrt(2));
    }
    const value n = normed(x, spec, hp, y, m.get(t::ffn_norm, il));
    const value f = feed(x, m, il, n);
    norm(f, m.get(t::post_ffw_norm, il).w);
    x.add(y, f);
    return y;
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const u32 width = m.hp().n_embd;
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const value inputs = make_layer_inputs(x, m, b, h), all = altup::spread(x, m, h);
      for (u32 il = 0; il < m.hp().n_layer; ++il) {
        const value predicted = altup::predict(x, m, il, all);
        const value y = computed(x, m, b, il, predicted.columns(0, width), tables);
        altup::correct(x, m, il, predicted, y);
        const value more = layer_input_branch(x, m, il, y, inputs);
        for (u32 s = 1; s < m.hp().n_altup; ++s) x.add(predicted.columns(s * width, width), more);
        x.copy(all, predicted);
        x.name("l_out", il, all);
      }
      altup::gather(x, m, all, h);
    });
  }
};

}  // namespace jig::arch
