#pragma once
// rwkv: RWKV 6 and 7, and the models that put their time mixing into Qwen 2's layers.

#include "jig/arch/blocks/rwkv.hpp"

namespace jig::arch {

/// RWKV 6 Finch (https://arxiv.org/abs/2404.05892).
struct rwkv6 : rwkv_arch {
  static constexpr std::string_view name = "rwkv6";
  static constexpr auto keys = join(keys::body(1), keys::layer_norm, keys::wkv, keys::rwkv6);
  /// Older files have five vectors in place of the fused one.
  static constexpr std::string_view fused = t::time_mix_lerp_fused.name;
  static constexpr auto tensors = join(
      tensors::decoder(bias::required), tensors::norm("token_embd_norm", bias::required),
      tensors::norm("blk.{}.attn_norm", bias::required), tensors::norm("blk.{}.attn_norm_2", bias::required),
      tensors::time_mix6, tensors::time_mix_ln, tensors::channel_mix,
      std::array{numbers(fused, {d::embd, d::one, d::one, d::five}, nullptr, ".weight", bias::none, need::optional),
                 unless(fused, numbers("blk.{}.time_mix_lerp_w", {d::embd})),
                 unless(fused, numbers("blk.{}.time_mix_lerp_k", {d::embd})),
                 unless(fused, numbers("blk.{}.time_mix_lerp_v", {d::embd})),
                 unless(fused, numbers("blk.{}.time_mix_lerp_r", {d::embd})),
                 unless(fused, numbers("blk.{}.time_mix_lerp_g", {d::embd})),
                 numbers("blk.{}.time_mix_first", {d::wkv_head, d::wkv_heads}),
                 numbers("blk.{}.channel_mix_lerp_r", {d::embd}),
                 matrix("blk.{}.channel_mix_receptance", {d::embd, d::embd})});
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::none};
  static constexpr void defaults(hparams& hp) noexcept { hp.n_shifts = 2; }
};

/// QRWKV 6: Qwen 2 with gated linear attention.
struct rwkv6qwen2 : rwkv_arch {
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
};

/// RWKV 7 Goose (https://arxiv.org/abs/2503.14456).
struct rwkv7 : rwkv_arch {
  static constexpr std::string_view name = "rwkv7";
  static constexpr auto keys = join(keys::body(1), keys::layer_norm, keys::wkv, keys::rwkv7);
  static constexpr auto tensors =
      join(tensors::decoder(bias::required), tensors::norm("token_embd_norm", bias::required),
           tensors::norm("blk.{}.attn_norm", bias::required), tensors::norm("blk.{}.attn_norm_2", bias::required),
           tensors::time_mix7, tensors::time_mix_ln, tensors::channel_mix);
  static constexpr decoder_spec spec = rwkv6::spec;
  static constexpr auto defaults = rwkv6::defaults;
};

/// ARWKV 7: Qwen 2 with the time mixing of RWKV 7.
struct arwkv7 : rwkv_arch {
  static constexpr std::string_view name = "arwkv7";
  static constexpr auto keys = join(keys::body(1), keys::rms_norm, keys::wkv, keys::rwkv7);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::time_mix7,
           std::array{tensor_row{"blk.{}.time_mix_ln", {d::embd}, bias::optional, need::optional}},
           tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec = rwkv6qwen2::spec;
  static constexpr auto defaults = rwkv6qwen2::defaults;
};

}  // namespace jig::arch
