#pragma once
// gemma3n: Gemma 3n: several hidden states side by side of which a layer computes one and corrects the others (AltUp,
// https://arxiv.org/abs/2301.13310), low-rank residual branches (LAuReL, https://arxiv.org/abs/2411.07501), sparse
// activations, inputs per layer; the last layers share keys and values.

#include "jig/arch/blocks/per_layer.hpp"

namespace jig::arch {

struct gemma3n {
  static constexpr std::string_view name = "gemma3n";
  static constexpr u32 laurel_rank = 64;
  static constexpr u64 rank(const hparams&, u32) { return laurel_rank; }
  static constexpr u64 altup(const hparams& hp, u32) { return hp.n_altup; }
  static constexpr u64 altup_square(const hparams& hp, u32) { return u64{hp.n_altup} * hp.n_altup; }
  static constexpr u64 altup_more(const hparams& hp, u32) { return hp.n_altup - 1; }
  static constexpr tensor_tag<"altup_proj"> spread{};
  static constexpr tensor_tag<"altup_unembd_proj"> gather{};
  static constexpr tensor_tag<"blk.{}.altup_predict_coef"> predict_coef{};
  static constexpr tensor_tag<"blk.{}.altup_correct_coef"> correct_coef{};
  static constexpr tensor_tag<"blk.{}.altup_correct_scale"> correct_scale{};
  static constexpr tensor_tag<"blk.{}.altup_router"> router{};
  static constexpr tensor_tag<"blk.{}.altup_router_norm"> router_norm{};
  static constexpr tensor_tag<"blk.{}.laurel_l"> laurel_l{};
  static constexpr tensor_tag<"blk.{}.laurel_r"> laurel_r{};
  static constexpr tensor_tag<"blk.{}.laurel_post_norm"> laurel_norm{};

  static constexpr auto keys = join(
      keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::softcaps,
      std::array{key_row{"attention.shared_kv_layers", &hparams::n_shared_kv, need::optional, 0, 2048},
                 key_row{"embedding_length_per_layer_input", &hparams::n_layer_input, need::optional, 1, 1 << 16},
                 key_row{"altup.num_inputs", &hparams::n_altup, need::optional, 2, 16},
                 key_row{"activation_sparsity_scale", &hparams::sparsity, need::optional, 0, 100}});
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::layer_inputs, tensors::norm("blk.{}.attn_norm"), tensors::shared_kv_attention,
      tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.ffn_norm"), tensors::gated(),
      tensors::norm("blk.{}.post_ffw_norm"),
      std::array{tensor_row{spread.name, {d::embd, d::embd, altup_more}},
                 tensor_row{gather.name, {d::embd, d::embd, altup_more}},
                 tensor_row{predict_coef.name, {altup, altup_square}}, tensor_row{correct_coef.name, {altup, altup}},
                 numbers(correct_scale.name, {d::embd}), tensor_row{router.name, {d::embd, altup}},
                 numbers(router_norm.name, {d::embd}), tensor_row{laurel_l.name, {d::embd, rank}},
                 tensor_row{laurel_r.name, {rank, d::embd}}, numbers(laurel_norm.name, {d::embd})});
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

  /// tanh(router(norm(v) / n_embd)): [tokens, n_altup].
  template <class X, class M>
  static constexpr value modalities(X& x, const M& m, u32 il, const mat& v) {
    const value n = x.norm(v, {.eps = m.hp().norm_eps, .group = v.cols, .w = m.get(router_norm, il).w});
    x.scale(n, 1.0f / static_cast<f32>(m.hp().n_embd));
    value r = x.matmul(n, m.get(router, il));
    x.activate(r, activation::tanh);
    return r;
  }

  /// The length of every row of v: [rows, 1].
  template <class X>
  static constexpr value lengths(X& x, const mat& v) {
    const value unit = x.norm(v, {.kind = norm_kind::l2, .eps = 1e-30f, .group = v.cols});
    return x.dot_groups(v, unit, 1);
  }

  /// States 1, 2, ... each through its own of the stacked matrices, then made as long as `like`:
  /// v, result [tokens, (n_altup - 1) * n_embd].
  template <class X, class M>
  static constexpr value projected(X& x, const M& m, const linear& stacked, const value& v, const value& like) {
    const u32 width = m.hp().n_embd, n = m.hp().n_altup - 1;
    value y = x.make(v.rows(), n * width);
    x.matmul_heads(mat(v).heads(n, 0, width), stacked, mat(y).heads(n, 0, width));
    x.norm_inplace(y, {.kind = norm_kind::l2, .eps = 1e-30f, .group = width});
    x.multiply(y, like);
    return y;
  }

  /// relu(v - mean - scale * deviation) in place, by rows: only the largest values stay (Gaussian top-k).
  template <class X>
  static constexpr void sparsify(X& x, const mat& v, f32 scale) {
    const f32 n = static_cast<f32>(v.cols);
    value z = x.norm(v, {.kind = norm_kind::layer, .eps = 0.0f, .group = v.cols});
    const value deviation = x.dot_groups(v, z, 1);  // n times the deviation with n in its denominator
    x.scale(deviation, 1.0f / n);
    const value cut = x.make(v.rows, v.cols);
    x.fill(cut, scale * (std::is_constant_evaluated() ? 1.0f : std::sqrt(n / (n - 1.0f))));
    x.add(z, cut, -1.0f);
    x.activate(z, activation::relu);
    x.multiply(z, deviation);
    x.copy(v, z);
  }

  /// Older files do not say which layers are sparse: the first ten, so that one value in twenty stays.
  static constexpr f32 sparsity_of(const hparams& hp, u32 il) {
    return hp.sparsity.varies() ? hp.sparsity[il] : il < 10 ? 1.6448536f : 0.0f;
  }

  template <class X, class M>
  static constexpr value feed(X& x, const M& m, u32 il, const mat& n) {
    auto [g, u] = x.project(n, m.get(t::ffn_gate, il), m.get(t::ffn_up, il));
    if (const f32 scale = sparsity_of(m.hp(), il); scale > 0.0f) sparsify(x, g, scale);
    x.gated(g, u, spec.act);
    u = value();
    return x.matmul(g, m.get(t::ffn_down, il));
  }

  /// One layer over the states h [tokens, n_altup * n_embd], the active one first; in place.
  template <class X, class M>
  static constexpr void layer(X& x, const M& m, const batch& b, u32 il, const value& h, const value& inputs,
                              const rope_tables& tables) {
    const hparams& hp = m.hp();
    const u32 width = hp.n_embd, n_states = hp.n_altup;
    const auto norm = [&](const mat& v, const weight& w) {
      x.norm_inplace(v, {.eps = hp.norm_eps, .group = width, .w = w});
    };
    // Predictions: every state plus a mixture of all, by coefficients of the active one.
    value predicted = x.make(h.rows(), n_states * width);
    {
      const value mode = modalities(x, m, il, h.columns(0, width));
      const value coefficients = x.matmul(mode, m.get(predict_coef, il));
      for (u32 s = 0; s < n_states; ++s) {
        const value y = x.combine(mat(h).heads(n_states, 0, width), coefficients.columns(s * n_states, n_states));
        x.add(y, h.columns(s * width, width));
        x.copy(predicted.columns(s * width, width), y);
      }
    }
    const mat active = predicted.columns(0, width);
    value y = x.make(h.rows(), width);
    {
      const value n = x.norm(active, {.eps = hp.norm_eps, .group = width, .w = m.get(t::attn_norm, il).w});
      value low = x.matmul(n, m.get(laurel_l, il));
      low = x.matmul(low, m.get(laurel_r, il));
      norm(low, m.get(laurel_norm, il).w);
      x.add(low, n);
      const value a = shared_kv_attention(x, spec, m, b, il, n, tables);
      norm(a, m.get(t::post_attention_norm, il).w);
      x.copy(y, active);
      x.add(y, a);
      x.add(y, low);
      x.scale(y, inverse_sqrt(2));
    }
    {
      const value n = x.norm(y, {.eps = hp.norm_eps, .group = width, .w = m.get(t::ffn_norm, il).w});
      const value f = feed(x, m, il, n);
      norm(f, m.get(t::post_ffw_norm, il).w);
      x.add(y, f);
    }
    // Corrections: what the layer found beyond its prediction, by coefficients of what it found.
    const value mode = modalities(x, m, il, y);
    const value coefficients = x.matmul(mode, m.get(correct_coef, il));
    x.add(y, active, -1.0f);
    for (u32 s = 0; s < n_states; ++s) {
      const value part = x.make(y.rows(), width);
      x.copy(part, y);
      x.multiply(part, coefficients.columns(s, 1));
      x.add(part, y);
      x.add(predicted.columns(s * width, width), part);
    }
    x.copy(y, predicted.columns(0, width));
    x.multiply(y, row_of(m.get(correct_scale, il).w, y.rows()));
    const value more = layer_input_branch(x, m, il, y, inputs);
    for (u32 s = 1; s < n_states; ++s) x.add(predicted.columns(s * width, width), more);
    x.copy(h, predicted);
    x.name("l_out", il, h);
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    const u32 width = hp.n_embd, more = hp.n_altup - 1;
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const value inputs = make_layer_inputs(x, m, b, h), all = x.make(h.rows(), hp.n_altup * width);
      x.copy(all.columns(0, width), h);
      {
        const value length = lengths(x, h);
        value others = x.make(h.rows(), more * width);
        for (u32 s = 0; s < more; ++s) x.copy(others.columns(s * width, width), h);
        others = projected(x, m, m.get(spread), others, length);
        x.copy(all.columns(width, more * width), others);
      }
      for (u32 il = 0; il < hp.n_layer; ++il) layer(x, m, b, il, all, inputs, tables);
      x.copy(h, all.columns(0, width));
      const value length = lengths(x, h);
      value others = x.make(h.rows(), more * width);
      x.copy(others, all.columns(width, more * width));
      others = projected(x, m, m.get(gather), others, length);
      for (u32 s = 0; s < more; ++s) x.add(h, others.columns(s * width, width));
      x.scale(h, 1.0f / static_cast<f32>(hp.n_altup));
    });
  }
};

}  // namespace jig::arch
