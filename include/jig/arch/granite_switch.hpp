#pragma once
// granite_switch: Granite Switch (https://github.com/generative-computing/granite-switch): granite with adapters for
// every matrix of its layers; a control token switches one on for itself and the tokens behind it.

#include "jig/arch/blocks/adapter_switch.hpp"

namespace jig::arch {

struct graniteswitch {
  static constexpr std::string_view name = "graniteswitch";
  static constexpr auto keys = join(
      keys::decoder, keys::rms_norm, keys::rope, keys::scales,
      std::array{key_row{"rope.scaling.finetuned", &hparams::rope_finetuned},
                 key_row{"adapters.count", &hparams::n_adapters, need::required, 1, most_adapters},
                 key_row{"adapters.lora_rank", &hparams::n_lora_adapter, need::required, 1, 4096},
                 key_row{"adapters.router_gain", &hparams::adapter_gain, need::optional, 0, 1e6},
                 key_row{"adapters.token_ids_activate",
                         {&hparams::adapter_tokens, &hparams::n_adapters}, need::required, 0, 0x7fffffff},
                 key_row{"adapters.token_ids_substitute",
                         {&hparams::adapter_substitutes, &hparams::n_adapters}, need::required, 0, 0x7fffffff}});
  static constexpr auto tensors = join(
      tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::one({"blk.{}.attn_qkv", {d::embd, d::qkv}}),
      tensors::one({"blk.{}.attn_output", {d::attn_out, d::embd}}), tensors::norm("blk.{}.ffn_norm"), tensors::gated(),
      tensors::lora(t::attn_q, d::embd, d::q), tensors::lora(t::attn_k, d::embd, d::k),
      tensors::lora(t::attn_v, d::embd, d::v), tensors::lora(t::attn_output, d::attn_out, d::embd),
      tensors::lora(t::ffn_gate, d::embd, d::ff), tensors::lora(t::ffn_up, d::embd, d::ff),
      tensors::lora(t::ffn_down, d::ff, d::embd));
  static constexpr decoder_spec spec{.rope_in = [](const hparams& hp, u32) { return hp.rope_finetuned; },
                                     .logit_scale_divides = true};
  static constexpr u32 extra_head = switch_head;

  static constexpr void defaults(hparams& hp) noexcept { hp.adapter_gain = 15.0f; }
  static result<void> complete(hparams& hp) noexcept {
    for (u32 i = 0; i < hp.n_adapters; ++i)
      if (const u32 id = hp.adapter_substitutes[i]; id >= hp.n_vocab)
        return fail(errc::inconsistent, "graniteswitch.adapters.token_ids_substitute").got(id);
    return {};
  }

  /// n, result [tokens, n_embd].
  template <class X, class M>
  static constexpr value attention(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables,
                                   const value& scores) {
    const hparams& hp = m.hp();
    value mixed;
    {
      const qkv p = project_qkv(x, m, il, n);
      add_lora(x, m, il, t::attn_q, n, scores, p.q);
      add_lora(x, m, il, t::attn_k, n, scores, p.k);
      add_lora(x, m, il, t::attn_v, n, scores, p.v);
      const rope_kind kind = rope_of(spec, hp, il);
      x.rope(p.q, hp.n_head[il], kind, tables.all);
      x.rope(p.k, hp.n_head_kv[il], kind, tables.all);
      mixed = x.attend(p.q, p.k, p.v, make_attend_args(spec, m, b, il), b);
    }
    return lora_matmul(x, m, il, t::attn_output, mixed, scores);
  }

  template <class X, class M>
  static constexpr value feed(X& x, const M& m, u32 il, const mat& n, const value& scores) {
    const value g = lora_matmul(x, m, il, t::ffn_gate, n, scores);
    {
      const value u = lora_matmul(x, m, il, t::ffn_up, n, scores);
      x.gated(g, u, spec.act);
    }
    return lora_matmul(x, m, il, t::ffn_down, g, scores);
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const value scores = adapter_scores(x, m, b);
      substitute(x, m, b, h);
      for (u32 il = 0; il < hp.n_layer; ++il) {
        value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
        add_branch(x, spec, hp, h, attention(x, m, b, il, n, tables, scores), {});
        n = normed(x, spec, hp, h, m.get(t::ffn_norm, il));
        add_branch(x, spec, hp, h, feed(x, m, il, n, scores), {});
        x.name("l_out", il, h);
      }
    });
  }
};

}  // namespace jig::arch
