#pragma once
// gemma4: Gemma 4: heads of two sizes, values without a matrix of their own in global layers, experts beside the dense
// feed-forward, inputs per layer; the last layers share keys and values.

#include "jig/arch/blocks/per_layer.hpp"

namespace jig::arch {

struct gemma4 {
  static constexpr std::string_view name = "gemma4";
  static constexpr bool windowed(const hparams& hp, u32 il) { return hp.window_pattern[il] != 0; }
  static constexpr std::string_view fused = t::ffn_gate_up_exps.name, router = t::ffn_gate_inp.name;
  static constexpr std::array<dim_fn, 4> expert_in = {d::embd, d::ff_expert, d::expert},
                                         expert_out = {d::ff_expert, d::embd, d::expert};
  static constexpr tensor_tag<"blk.{}.ffn_gate_inp.scale"> router_scale{};
  static constexpr tensor_tag<"blk.{}.pre_ffw_norm_2"> expert_norm{};
  static constexpr tensor_tag<"blk.{}.post_ffw_norm_1"> dense_post_norm{};
  static constexpr tensor_tag<"blk.{}.post_ffw_norm_2"> expert_post_norm{};

  static constexpr auto keys = join(
      keys::decoder, keys::rms_norm, keys::rope, keys::window, keys::softcaps, keys::experts, keys::more_experts,
      std::array{key_row{"attention.key_length_swa", &hparams::dim_k_window, need::required, 1, 1 << 14},
                 key_row{"attention.value_length_swa", &hparams::dim_v_window, need::required, 1, 1 << 14},
                 key_row{"attention.shared_kv_layers", &hparams::n_shared_kv, need::optional, 0, 2048},
                 key_row{"embedding_length_per_layer_input", &hparams::n_layer_input, need::optional, 0, 1 << 16}});
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::rope_factors, tensors::layer_inputs, tensors::norm("blk.{}.attn_norm"),
      tensors::shared_kv_attention, tensors::norm("blk.{}.post_attention_norm"), tensors::norm("blk.{}.ffn_norm"),
      tensors::gated(), tensors::norm("blk.{}.post_ffw_norm"),
      std::array{numbers("blk.{}.layer_output_scale", {d::one}, nullptr, ".weight", bias::none, need::optional),
                 unscaled(matrix(router, {d::embd, d::expert}, has_experts, need::optional)),
                 beside(router, numbers(router_scale.name, {d::embd}, has_experts, "")),
                 beside(router, numbers(expert_norm.name, {d::embd}, has_experts)),
                 beside(router, numbers(dense_post_norm.name, {d::embd}, has_experts)),
                 beside(router, numbers(expert_post_norm.name, {d::embd}, has_experts)),
                 matrix(fused, {d::embd, d::ff_expert_twice, d::expert}, has_experts, need::optional),
                 unless(fused, beside(router, matrix("blk.{}.ffn_gate_exps", expert_in, has_experts))),
                 unless(fused, beside(router, matrix("blk.{}.ffn_up_exps", expert_in, has_experts))),
                 beside(router, matrix("blk.{}.ffn_down_exps", expert_out, has_experts))});
  static constexpr decoder_spec spec{
      .rope = rope_kind::neox, .act = activation::gelu, .windowed = windowed, .window_unscaled = true};

  static result<void> complete(hparams& hp) noexcept {
    hp.embedding_scale = std::sqrt(static_cast<f32>(hp.n_embd));
    hp.attn_scale = 1.0f;
    if (!hp.window_pattern.varies()) return fail(errc::inconsistent, "gemma4.attention.sliding_window_pattern");
    if (hp.dim_k != hp.dim_v) return fail(errc::inconsistent, "gemma4.attention.value_length").got(hp.dim_v);
    if (hp.dim_k_window != hp.dim_v_window)
      return fail(errc::inconsistent, "gemma4.attention.value_length_swa").got(hp.dim_v_window);
    if (hp.n_rot_window % 2 != 0 || hp.n_rot_window > hp.dim_k_window)
      return fail(errc::inconsistent, "gemma4.rope.dimension_count_swa").got(hp.n_rot_window);
    if (hp.n_rot_window == 0) hp.n_rot_window = hp.dim_k_window;
    return check_shared_kv<gemma4>(hp);
  }
  static constexpr bool attends(const hparams& hp, u32 il) { return owns_kv(hp, il); }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    return shared_kv_attention(x, spec, m, b, il, n, tables);
  }

  /// Dense feed-forward of n and experts that read h, each normed: the router reads h, too, normed without weights.
  template <class X, class M>
  static constexpr value feed(X& x, const M& m, u32 il, const mat& h, const mat& n) {
    const hparams& hp = m.hp();
    value y = dense(x, spec, m, il, n);
    const linear gate = m.get(t::ffn_gate_inp, il);
    if (!gate) return y;
    const auto normed_by = [&](const mat& v, const weight& w) {
      return norm_args{.eps = hp.norm_eps, .group = v.cols, .w = w};
    };
    x.norm_inplace(y, normed_by(y, m.get(dense_post_norm, il).w));
    const value in = x.norm(h, normed_by(h, {}));
    x.scale(in, inverse_sqrt(hp.n_embd));
    x.multiply(in, row_of(m.get(router_scale, il).w, h.rows));
    const value logits = x.matmul(in, gate);
    value e = x.norm(h, normed_by(h, m.get(expert_norm, il).w));
    e = routed_experts(x, spec, m, il, e, logits);
    x.norm_inplace(e, normed_by(e, m.get(expert_post_norm, il).w));
    x.add(y, e);
    return y;
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      value inputs;
      if (hp.n_layer_input != 0) inputs = make_layer_inputs(x, m, b, h);
      for (u32 il = 0; il < hp.n_layer; ++il) {
        decoder_layer(x, spec, m, b, il, h, tables,
                      [&](u32 layer, const mat& n, const value&) { return feed(x, m, layer, h, n); });
        if (hp.n_layer_input != 0) {
          const value y = layer_input_branch(x, m, il, h, inputs);
          x.add(h, y);
        }
        if (const weight scale = m.get(t::layer_output_scale, il).w) x.multiply(h, row_of(scale, h.rows()));
        x.name("l_out", il, h);
      }
    });
  }
};

}  // namespace jig::arch
