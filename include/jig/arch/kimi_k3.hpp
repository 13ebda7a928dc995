#pragma once
// kimi_k3: Kimi K3.

#include "jig/arch/blocks/attention_residuals.hpp"
#include "jig/arch/kimi_linear.hpp"

namespace jig::arch {

/// Kimi K3: Kimi Linear with a bounded decay, gates of full rank, attention residuals, experts in a latent space, SiTU.
struct kimi_k3 : kimi_linear {
  static constexpr std::string_view name = "kimi-k3";
  static constexpr bool situ = true;
  static constexpr bool negated_rates = true;
  static constexpr bool has_latent(const hparams& hp, u32 il) { return is_moe(hp, il) && hp.n_latent_expert != 0; }
  static constexpr tensor_tag<"blk.{}.attn_res_score"> attn_score{};
  static constexpr tensor_tag<"blk.{}.ffn_res_score"> ffn_score{};
  static constexpr tensor_tag<"output_res_score"> output_score{};

  static constexpr auto keys =
      join(kimi_linear::keys,
           std::array{key_row{"kda.gate_lower_bound", &hparams::kda_lower_bound, need::optional, -1e6, -1e-6},
                      key_row{"attn_res.block_size", &hparams::attn_res_block, need::required, 1, 2048},
                      key_row{"expert_latent_length", &hparams::n_latent_expert, need::optional, 0, 1 << 18},
                      key_row{"activation.situ_beta", &hparams::situ_beta, need::required, 1e-3, 1e6},
                      key_row{"activation.situ_linear_beta", &hparams::situ_linear_beta, need::required, 0, 1e6}});
  static constexpr auto tensors =
      join(shared,
           std::array{numbers("blk.{}.ssm_a", {d::head}, is_kda, ""),
                      matrix("blk.{}.ssm_f_a", {d::embd, d::kda_head}, is_kda),
                      matrix("blk.{}.ssm_f_b", {d::kda_head, d::kda_inner}, is_kda),
                      matrix("blk.{}.ssm_g", {d::embd, d::kda_inner}, is_kda),
                      matrix("blk.{}.attn_gate", {d::embd, d::out_latent}, is_not_kda, need::optional),
                      matrix(t::ffn_routed_down.name, {d::embd, d::latent_expert}, has_latent),
                      matrix(t::ffn_routed_up.name, {d::latent_expert, d::embd}, has_latent),
                      tensor_row{t::ffn_routed_norm.name, {d::latent_expert}, bias::none, need::optional, has_latent}},
           tensors::norm(attn_score.name), tensors::norm(ffn_score.name), tensors::norm(output_score.name));
  static constexpr decoder_spec spec{.rope = rope_kind::none, .router = gating::sigmoid, .router_norm_from_file = true};
  static constexpr auto complete = complete_kda;

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      residual_streams<X> streams(x, std::move(h));
      for (u32 il = 0; il < hp.n_layer; ++il) {
        value n = streams.mixed(m.get(attn_score, il).w, hp.norm_eps);
        if (il % hp.attn_res_block == 0) streams.begin();
        n = normed(x, spec, hp, n, m.get(t::attn_norm, il));
        n = mix(x, m, b, il, n, tables);
        x.add(streams.last(), n);
        n = streams.mixed(m.get(ffn_score, il).w, hp.norm_eps);
        n = normed(x, spec, hp, n, m.get(t::ffn_norm, il));
        n = feed_forward(x, spec, m, il, n, {});
        x.add(streams.last(), n);
        x.name("l_out", il, streams.last());
      }
      h = streams.mixed(m.get(output_score).w, hp.norm_eps);
    });
  }
};

}  // namespace jig::arch
