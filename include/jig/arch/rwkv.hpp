#pragma once
// rwkv: RWKV 6 and 7, and the models that put their time mixing into Qwen 2's layers.

#include "jig/arch/blocks/rwkv.hpp"

namespace jig::arch {

/// RWKV 6 Finch (https://arxiv.org/abs/2404.05892).
struct rwkv6 {
  static constexpr std::string_view name = "rwkv6";
  static constexpr auto keys = join(keys::body(1), keys::layer_norm, keys::wkv, keys::rwkv6);
  static constexpr tensor_tag<"blk.{}.time_mix_lerp_w"> lerp_w{};
  static constexpr tensor_tag<"blk.{}.time_mix_lerp_k"> lerp_k{};
  static constexpr tensor_tag<"blk.{}.time_mix_lerp_v"> lerp_v{};
  static constexpr tensor_tag<"blk.{}.time_mix_lerp_r"> lerp_r{};
  static constexpr tensor_tag<"blk.{}.time_mix_lerp_g"> lerp_g{};
  /// Older files have five vectors in place of the fused one.
  static constexpr std::string_view fused = t::time_mix_lerp_fused.name;
  static constexpr auto tensors = join(
      tensors::decoder(bias::required), tensors::norm("token_embd_norm", bias::required),
      tensors::norm("blk.{}.attn_norm", bias::required), tensors::norm("blk.{}.attn_norm_2", bias::required),
      tensors::time_mix6, tensors::time_mix_ln, tensors::channel_mix,
      std::array{numbers("blk.{}.time_mix_lerp_fused", {d::embd, d::one, d::one, d::five}, nullptr, ".weight",
                         bias::none, need::optional),
                 unless(fused, numbers(lerp_w.name, {d::embd})), unless(fused, numbers(lerp_k.name, {d::embd})),
                 unless(fused, numbers(lerp_v.name, {d::embd})), unless(fused, numbers(lerp_r.name, {d::embd})),
                 unless(fused, numbers(lerp_g.name, {d::embd})),
                 numbers("blk.{}.time_mix_first", {d::wkv_head, d::wkv_heads}),
                 numbers("blk.{}.channel_mix_lerp_r", {d::embd}),
                 tensor_row{"blk.{}.channel_mix_receptance", {d::embd, d::embd}}});
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none};
  static constexpr void defaults(hparams& hp) noexcept { hp.n_shifts = 2; }
  static result<void> complete(hparams& hp) noexcept { return complete_wkv(name, hp); }
  static constexpr recurrent_state state(const hparams& hp, u32) { return wkv_state(hp); }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const auto time = [&](u32 il, const mat& n) {
      const weight fused = m.get(t::time_mix_lerp_fused, il).w;
      return time_mix6(x, m, b, il, n, [&](u32 i) {
        if (fused) return detail::slice(fused, i, n.cols);
        const linear each[] = {m.get(lerp_w, il), m.get(lerp_k, il), m.get(lerp_v, il), m.get(lerp_r, il),
                               m.get(lerp_g, il)};
        return each[i].w;
      });
    };
    return rwkv_decoder(x, spec, m, b, time, [&](u32 il, const mat& n) { return channel_mix(x, m, b, il, n); });
  }
};

/// QRWKV 6: Qwen 2 with gated linear attention.
struct rwkv6qwen2 {
  static constexpr std::string_view name = "rwkv6qwen2";
  static constexpr auto keys =
      join(keys::body(1), keys::rms_norm, keys::wkv, keys::rwkv6,
           std::array{key_row{"attention.head_count_kv", &hparams::wkv_heads_kv, need::optional, 0, 4096}});
  static constexpr auto tensors =
      join(tensors::decoder(bias::optional), tensors::norm("blk.{}.attn_norm"), tensors::time_mix6,
           std::array{numbers("blk.{}.time_mix_lerp_fused", {d::embd, d::one, d::one, d::five})},
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::none};
  static constexpr void defaults(hparams& hp) noexcept { hp.n_shifts = 1; }
  static result<void> complete(hparams& hp) noexcept { return complete_wkv(name, hp); }
  static constexpr recurrent_state state(const hparams& hp, u32) { return wkv_state(hp); }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const auto time = [&](u32 il, const mat& n) {
      const weight fused = m.get(t::time_mix_lerp_fused, il).w;
      return time_mix6(x, m, b, il, n, [&](u32 i) { return detail::slice(fused, i, n.cols); });
    };
    return rwkv_decoder(x, spec, m, b, time, [&](u32 il, const mat& n) { return dense(x, spec, m, il, n); });
  }
};

/// RWKV 7 Goose (https://arxiv.org/abs/2503.14456).
struct rwkv7 {
  static constexpr std::string_view name = "rwkv7";
  static constexpr auto keys = join(keys::body(1), keys::layer_norm, keys::wkv, keys::rwkv7);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("token_embd_norm", bias::required),
           tensors::norm("blk.{}.attn_norm", bias::required), tensors::norm("blk.{}.attn_norm_2", bias::required),
           tensors::time_mix7, tensors::time_mix_ln, tensors::channel_mix);
  static constexpr decoder_spec spec = rwkv6::spec;
  static constexpr void defaults(hparams& hp) noexcept { hp.n_shifts = 2; }
  static result<void> complete(hparams& hp) noexcept { return complete_wkv(name, hp); }
  static constexpr recurrent_state state(const hparams& hp, u32) { return wkv_state(hp); }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    value first;
    return rwkv_decoder(
        x, spec, m, b, [&](u32 il, const mat& n) { return time_mix7(x, m, b, il, n, first); },
        [&](u32 il, const mat& n) { return channel_mix(x, m, b, il, n); });
  }
};

/// ARWKV 7: Qwen 2 with the time mixing of RWKV 7.
struct arwkv7 {
  static constexpr std::string_view name = "arwkv7";
  static constexpr auto keys = join(keys::body(1), keys::rms_norm, keys::wkv, keys::rwkv7);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::time_mix7,
           std::array{tensor_row{"blk.{}.time_mix_ln", {d::embd}, bias::optional, need::optional}},
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec = rwkv6qwen2::spec;
  static constexpr void defaults(hparams& hp) noexcept { hp.n_shifts = 1; }
  static result<void> complete(hparams& hp) noexcept { return complete_wkv(name, hp); }
  static constexpr recurrent_state state(const hparams& hp, u32) { return wkv_state(hp); }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    value first;
    return rwkv_decoder(
        x, spec, m, b, [&](u32 il, const mat& n) { return time_mix7(x, m, b, il, n, first); },
        [&](u32 il, const mat& n) { return dense(x, spec, m, il, n); });
  }
};

}  // namespace jig::arch
