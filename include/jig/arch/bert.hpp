#pragma once
// bert: encoders: BERT (https://arxiv.org/abs/1810.04805) and its relatives, whose tokens see the whole sequence. They
// give states and, with a classification head, scores; not logits.

#include "jig/arch/blocks/decoder.hpp"

namespace jig::arch {

/// Layers whose norms stand behind the sums: h = norm(h + attention(h)), h = norm(h + feed_forward(h)).
struct bert_arch {
  static constexpr bool encodes = true;
  static constexpr void defaults(hparams& hp) noexcept { hp.causal = false; }

  /// Token ids -> see states().
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    constexpr const decoder_spec& spec = M::architecture::spec;
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      for (u32 il = 0; il < hp.n_layer; ++il) {
        value y = attention(x, spec, m, b, il, h, tables);
        const linear second = m.get(t::attn_norm_2, il);
        x.add(y, h);
        y = normed(x, spec, hp, y, m.get(t::attn_output_norm, il));
        if (second) {
          x.add(y, h);
          y = normed(x, spec, hp, y, second);
        }
        h = feed_forward(x, spec, m, il, y, {});
        x.add(h, y);
        h = normed(x, spec, hp, h, m.get(t::layer_output_norm, il));
        x.name("l_out", il, h);
      }
    });
  }
};

struct bert : bert_arch {
  static constexpr std::string_view name = "bert";
  static constexpr auto keys = join(keys::decoder, keys::layer_norm, keys::labels, keys::token_types);
  /// What all of them have.
  static constexpr auto body =
      join(tensors::embedding, tensors::norm("token_embd_norm", bias::required),
           std::array{
               numbers("token_types", {d::embd, d::token_types}, nullptr, ".weight", bias::none, need::optional)},
           tensors::attention(bias::optional, bias::optional),
           tensors::norm("blk.{}.attn_output_norm", bias::required),
           tensors::norm("blk.{}.layer_output_norm", bias::required));
  static constexpr auto tensors =
      join(body, tensors::classifier, tensors::one({"position_embd", {d::embd, d::context}}),
           tensors::plain(bias::optional));
  static constexpr decoder_spec spec{
      .norm = norm_kind::layer, .rope = rope_kind::none, .act = activation::gelu};
};

/// Nomic Embed 1 (https://arxiv.org/abs/2402.01613): rope, gated feed-forward.
struct nomic_bert : bert_arch {
  static constexpr std::string_view name = "nomic-bert";
  static constexpr auto keys = join(bert::keys, keys::rope);
  static constexpr auto tensors = join(bert::body, tensors::classifier, tensors::gated());
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox};
};

/// Nomic Embed 2 (https://arxiv.org/abs/2502.07972): plain experts in every second layer.
struct nomic_bert_moe : bert_arch {
  static constexpr std::string_view name = "nomic-bert-moe";
  static constexpr bool has_experts(const hparams& hp, u32 il) { return hp.moe_step > 1 && il % hp.moe_step == 1; }
  static constexpr bool has_dense(const hparams& hp, u32 il) { return !has_experts(hp, il); }

  static constexpr auto keys =
      join(nomic_bert::keys, keys::experts,
           std::array{key_row{"moe_every_n_layers", &hparams::moe_step, need::optional, 0, 2048}});
  static constexpr auto tensors =
      join(bert::body, tensors::classifier, tensors::plain(bias::optional, has_dense),
           std::array{matrix("blk.{}.ffn_gate_inp", {d::embd, d::expert}, has_experts),
                      matrix("blk.{}.ffn_up_exps", {d::embd, d::ff, d::expert}, has_experts),
                      matrix("blk.{}.ffn_down_exps", {d::ff, d::embd, d::expert}, has_experts)});
  static constexpr decoder_spec spec{.norm = norm_kind::layer,
                                     .rope = rope_kind::neox,
                                     .act = activation::gelu,
                                     .router_normalize = false};
};

/// Jina Embeddings 2 (https://arxiv.org/abs/2310.19923): ALiBi in both directions, gated feed-forward in one matrix or
/// two; the code model has norms of queries and keys and a second norm behind attention.
struct jina_bert_v2 : bert_arch {
  static constexpr std::string_view name = "jina-bert-v2";
  static constexpr std::string_view gate = t::ffn_gate.name;
  static constexpr auto keys = bert::keys;
  static constexpr auto tensors = join(
      bert::body, tensors::one({"cls", {d::embd, d::one}, bias::optional, need::optional}),
      std::array{tensor_row{"blk.{}.attn_q_norm", {d::q}, bias::optional, need::optional},
                 tensor_row{"blk.{}.attn_k_norm", {d::k}, bias::optional, need::optional},
                 tensor_row{gate, {d::embd, d::ff}, bias::none, need::optional},
                 beside(gate, {"blk.{}.ffn_up", {d::embd, d::ff}, bias::optional}),
                 unless(gate, {"blk.{}.ffn_up", {d::embd, d::ff_twice}, bias::optional}),
                 tensor_row{"blk.{}.ffn_down", {d::ff, d::embd}, bias::required}},
      tensors::norm("blk.{}.attn_norm_2", bias::optional, need::optional));
  static constexpr decoder_spec spec{.norm = norm_kind::layer,
                                     .rope = rope_kind::none,
                                     .act = activation::gelu,
                                     .qk_norm = norm_kind::layer};
  static result<void> complete(hparams& hp) noexcept {
    hp.alibi_bias = 8.0f;
    return {};
  }
};

/// Jina Embeddings 3 (https://arxiv.org/abs/2409.10173): rope, plain feed-forward.
struct jina_bert_v3 : bert_arch {
  static constexpr std::string_view name = "jina-bert-v3";
  static constexpr auto keys = nomic_bert::keys;
  static constexpr auto tensors = join(bert::body, tensors::classifier, tensors::plain(bias::optional));
  static constexpr decoder_spec spec{.norm = norm_kind::layer, .rope = rope_kind::neox, .act = activation::gelu};
};

}  // namespace jig::arch
