#pragma once
// qwen2: Qwen 1.5 to 2.5 (https://arxiv.org/abs/2407.10671). Differs from llama by the biases of q, k and v and by
// rope over halves of a head.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

struct qwen2 : decoder_arch {
  static constexpr std::string_view name = "qwen2";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope);
  static constexpr auto tensors =
      join(tensors::decoder(bias::none, bias::optional), tensors::norm("blk.{}.attn_norm"),
           tensors::attention(bias::required, bias::none), tensors::norm("blk.{}.ffn_norm"), tensors::gated());
  static constexpr decoder_spec spec{.rope = rope_kind::neox};
};

/// Qwen2-MoE (Qwen 1.5 MoE): experts without renormalisation and a shared expert behind a gate of its own.
struct qwen2moe : decoder_arch {
  static constexpr std::string_view name = "qwen2moe";
  static constexpr auto keys = join(keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts);
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(bias::required, bias::none),
           tensors::norm("blk.{}.ffn_norm"), tensors::experts, tensors::shared_experts(),
           tensors::one(matrix("blk.{}.ffn_gate_inp_shexp", {d::embd, d::one}, is_moe)));
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_normalize = false};
};

/// Qwen2-VL's language model: M-RoPE.
struct qwen2vl : qwen2 {
  static constexpr std::string_view name = "qwen2vl";
  static constexpr auto keys = join(qwen2::keys, keys::rope_sections);
};

/// Qwen 1: fused qkv with bias; the file's feed-forward width counts gate and up together.
struct qwen : qwen2 {
  static constexpr std::string_view name = "qwen";
  static constexpr result<void> complete(hparams& hp) noexcept {
    if (hp.n_ff[0] % 2 != 0) return fail(errc::inconsistent, "qwen.feed_forward_length").got(hp.n_ff[0]);
    hp.n_ff = hp.n_ff[0] / 2;
    return {};
  }
};

}  // namespace jig::arch
