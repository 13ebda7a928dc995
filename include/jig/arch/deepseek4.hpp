#pragma once
// deepseek4: DeepSeek V4.

#include "jig/arch/blocks/compressed_attention.hpp"
#include "jig/arch/blocks/hyper_connections.hpp"
#include "jig/arch/latent.hpp"

namespace jig::arch {

/// DeepSeek V4 (https://huggingface.co/deepseek-ai/DeepSeek-V4-Flash): hyper connections in place of one residual
/// stream, compressed attention, experts that the token itself chooses in the first layers.
struct deepseek4 {
  static constexpr std::string_view name = "deepseek4";
  static constexpr u32 small_group = 4, large_group = 128;
  static constexpr bool limits_gate = true;
  static constexpr u32 group(const hparams& hp, u32 il) { return hp.cell_groups[il]; }
  static constexpr bool grouped(const hparams& hp, u32 il) { return group(hp, il) != 0; }
  static constexpr bool plain(const hparams& hp, u32 il) { return group(hp, il) == 0; }
  static constexpr bool selects(const hparams& hp, u32 il) { return group(hp, il) == small_group; }
  static constexpr bool by_token(const hparams& hp, u32 il) { return il < hp.n_token_routed; }
  static constexpr bool by_router(const hparams& hp, u32 il) { return !by_token(hp, il); }
  static constexpr u64 n_used(const hparams& hp, u32) { return hp.n_expert_used; }

  static constexpr auto keys = join(
      keys::decoder, keys::rms_norm, keys::rope, keys::experts, keys::more_experts, keys::clamps, keys::indexer,
      keys::streams, keys::sinkhorn,
      std::array{key_row{"attention.q_lora_rank", &hparams::n_lora_q, need::required, 1, 1 << 16},
                 key_row{"attention.sliding_window", &hparams::window, need::required, 1, 1 << 30},
                 key_row{"attention.output_group_count", &hparams::n_out_groups, need::required, 1, 4096},
                 key_row{"attention.output_lora_rank", &hparams::n_lora_out, need::required, 1, 1 << 16},
                 key_row{"attention.compress_ratios", &hparams::cell_groups, need::required, 0, large_group},
                 key_row{"attention.compress_rope_freq_base", &hparams::rope_base_window, need::required, 1, 1e12},
                 key_row{"hash_layer_count", &hparams::n_token_routed, need::required, 0, 2048}});

  using around_attention = connection_tags<"blk.{}.hc_attn">;
  using around_experts = connection_tags<"blk.{}.hc_ffn">;
  using behind_layers = connection_tags<"output_hc">;
  static constexpr tensor_tag<"blk.{}.ffn_gate_tid2eid"> expert_table{};

  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::compressed_attention<grouped, selects>,
           tensors::norm("blk.{}.ffn_norm"), tensors::experts, tensors::shared_experts(),
           tensors::connection<around_attention>(), tensors::connection<around_experts>(),
           tensors::connection<behind_layers>(false),
           std::array{id_table(expert_table.name, {n_used, d::vocab}, d::expert, by_token),
                      numbers("blk.{}.exp_probs_b", {d::expert}, by_router, ".bias"),
                      numbers("blk.{}.exp_probs_b_vl", {d::expert}, nullptr, ".bias", bias::none, need::optional)});
  static constexpr decoder_spec spec{
      .windowed = plain, .window_unscaled = true, .router = gating::sqrt_softplus, .router_norm_from_file = true};

  /// The shared experts have the others' limits unless the file says.
  static void defaults(hparams& hp) noexcept { hp.clamp_shared = -1.0f; }

  static result<void> complete(hparams& hp) noexcept {
    const auto bad = [](std::string_view key, u32 got) {
      return fail(errc::inconsistent, key_name(name, key).view()).got(got);
    };
    for (u32 il = 0; il < hp.n_layer; ++il) {
      const u32 group = hp.cell_groups[il];
      if (group != 0 && group != small_group && group != large_group) return bad("attention.compress_ratios", group);
      if (hp.n_head[il] % hp.n_out_groups != 0) return bad("attention.output_group_count", hp.n_out_groups);
      if (hp.n_head_kv[il] != 1) return bad("attention.head_count_kv", hp.n_head_kv[il]);
    }
    if (hp.dim_v != hp.dim_k) return bad("attention.value_length", hp.dim_v);
    if (hp.n_expert == 0) return bad("expert_count", 0);
    if (!hp.clamp_shared.varies() && hp.clamp_shared[0] < 0.0f) hp.clamp_shared = hp.clamp_expert;
    hp.n_dense_first = hp.moe_step = 0;
    hp.values_in_keys = true;
    hp.index_block = small_group;
    hp.rope_attn_factor = hp.yarn_log_multiplier = 1.0f;  // angles are not magnified
    std::swap(hp.rope_base, hp.rope_base_window);
    if (hp.scaling == rope_scaling::yarn && !(hp.rope_base > 1.0f))  // YaRN divides by its logarithm
      return bad("attention.compress_rope_freq_base", 1);
    return check_indexer(name, hp);
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const compressed_ropes ropes = make_compressed_ropes(x, m, b, tables);
      hyper_streams<X> streams(x, h, hp.n_streams);
      h = value();
      const auto branch = [&](u32 il, const connection& c, const linear& norm, auto&& f) {
        stream_weights back;
        value n = read_branch(x, hp, streams, c, &back);
        n = normed(x, spec, hp, n, norm);
        n = f(n);
        write_branch(streams, n, back);
        x.name("l_out", il, streams.all());
      };
      for (u32 il = 0; il < hp.n_layer; ++il) {
        branch(il, connection_of<around_attention>(m, il), m.get(t::attn_norm, il),
               [&](const mat& n) { return compressed_attention(x, spec, m, b, il, n, ropes); });
        branch(il, connection_of<around_experts>(m, il), m.get(t::ffn_norm, il),
               [&](const mat& n) { return experts(x, m, b, il, n); });
      }
      h = read_branch(x, hp, streams, connection_of<behind_layers>(m, 0), nullptr);
    });
  }

 private:
  /// The experts of layer il, chosen by its router or by the token.
  template <class X, class M>
  static constexpr value experts(X& x, const M& m, const batch& b, u32 il, const mat& n) {
    if (by_router(m.hp(), il)) return mixture(x, spec, m, il, n, {});
    const value logits = x.matmul(n, m.get(t::ffn_gate_inp, il));
    value y = x.experts_of_tokens(n, logits, m.get(expert_table, il).w, m.get(t::ffn_gate_exps, il),
                                  m.get(t::ffn_up_exps, il), m.get(t::ffn_down_exps, il),
                                  expert_activation(spec, m, il), make_route_args(spec, m, il), b);
    const value s = shared_experts(x, spec, m, il, n);
    x.add(y, s);
    return y;
  }
};

}  // namespace jig::arch
