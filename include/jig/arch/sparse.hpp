#pragma once
// sparse: decoders with latent attention that sees only what an indexer has chosen: DeepSeek V3.2, GLM 5, dots 3 note.

#include "jig/arch/latent.hpp"

namespace jig::arch {

/// Base of those with latent attention. A layer without an indexer sees what the one before it has seen.
struct sparse_latent_arch {
  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    constexpr const decoder_spec& spec = M::architecture::spec;
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      const u32 n_layer = m.hp().n_layer;
      cell_choice chosen;
      const auto between = [&](u32 il, const mat& n) {
        return latent_attention(x, spec, m, b, il, n, tables, &chosen);
      };
      const auto ffn = [&](u32 il, const mat& n, const value& scores) {
        if (il + 1 == n_layer || selects(m, il + 1)) chosen = cell_choice();
        return feed_forward(x, spec, m, il, n, scores);
      };
      for (u32 il = 0; il < n_layer; ++il) layer_around(x, spec, m, il, h, between, ffn);
    });
  }

  /// What all of them need: absorbed matrices, queries made in two steps. Errors: missing_key, inconsistent.
  static result<void> complete(std::string_view arch, hparams& hp) noexcept {
    JIG_CHECK(complete_latent(arch, hp));
    if (!hp.values_in_keys) return fail(errc::missing_key, key_name(arch, "attention.key_length_mla").view());
    if (hp.n_lora_q == 0) return fail(errc::inconsistent, key_name(arch, "attention.q_lora_rank").view()).got(0);
    return check_indexer(arch, hp);
  }
};

/// DeepSeek V3.2 (https://arxiv.org/abs/2512.02556): V3 with an indexer in every layer.
struct deepseek32 : sparse_latent_arch {
  static constexpr std::string_view name = "deepseek32";
  static constexpr bool selects(const hparams&, u32) { return true; }
  static constexpr auto keys = join(deepseek::keys, keys::latent, keys::indexer);
  static constexpr auto tensors = join(deepseek2::tensors, tensors::latent_indexer());
  static constexpr decoder_spec spec{.router_norm_from_file = true};
};

/// GLM 5 (https://huggingface.co/zai-org/GLM-5.2): some layers have an indexer, whose choice serves those behind, too.
struct glm_dsa : sparse_latent_arch {
  static constexpr std::string_view name = "glm-dsa";
  /// Files that do not say it: GLM 5 has an indexer in every layer, 5.2 (known by its context) in every fourth.
  static constexpr bool selects(const hparams& hp, u32 il) {
    if (hp.index_layers[il] < 2) return hp.index_layers[il] != 0;
    return hp.n_ctx_train < (1u << 20) || il < 2 || il % 4 == 2;
  }
  static constexpr bool follows(const hparams& hp, u32 il) { return !selects(hp, il); }
  static constexpr auto keys = join(deepseek::keys, keys::latent, keys::indexer, keys::indexer_types(need::optional));
  static constexpr auto tensors = join(deepseek2::tensors, tensors::latent_indexer(need::required, selects),
                                       tensors::latent_indexer(need::optional, follows));
  static constexpr decoder_spec spec{
      .router = gating::sigmoid, .router_norm_from_file = true, .index_rope = rope_kind::norm};
  static result<void> complete(hparams& hp) noexcept {
    if (!selects(hp, 0)) return fail(errc::inconsistent, "glm-dsa.attention.indexer.types").got(0);
    return sparse_latent_arch::complete(name, hp);
  }
};

/// dots 3 note: windowed layers whose heads and latent have other sizes; an indexer in the others; a norm of the
/// rotated key, a gate per head.
struct dots3note : sparse_latent_arch {
  static constexpr std::string_view name = "dots3note";
  static constexpr bool windowed(const hparams& hp, u32 il) { return hp.window_pattern[il] != 0; }
  static constexpr bool selects(const hparams& hp, u32 il) { return !windowed(hp, il); }
  static constexpr u64 rotated(const hparams& hp, u32) { return hp.n_rot; }
  static constexpr auto keys = join(
      deepseek::keys, keys::latent, keys::indexer, keys::indexer_types(need::required),
      std::array{key_row{"attention.sliding_window", &hparams::window, need::required, 1, 1 << 30},
                 key_row{"attention.sliding_window_pattern", &hparams::window_pattern, need::required, 0, 1},
                 key_row{"rope.freq_base_swa", &hparams::rope_base_window, need::required, 1, 1e12},
                 key_row{"attention.kv_lora_rank_swa", &hparams::n_lora_kv_window, need::required, 1, 1 << 16},
                 key_row{"attention.key_length_mla_swa", &hparams::dim_k_head_window, need::required, 1, 1 << 14},
                 key_row{"attention.value_length_mla_swa", &hparams::dim_v_head_window, need::required, 1, 1 << 14}});
  static constexpr auto tensors =
      join(deepseek2::tensors, tensors::latent_indexer(need::required, selects),
           std::array{tensor_row{"blk.{}.attn_k_norm", {rotated}}, tensor_row{"blk.{}.attn_gate", {d::embd, d::head}}});
  static constexpr decoder_spec spec{.windowed = windowed, .router_norm_from_file = true};
  static result<void> complete(hparams& hp) noexcept {
    if (!hp.window_pattern.varies()) return fail(errc::inconsistent, "dots3note.attention.sliding_window_pattern");
    for (u32 il = 0; il < hp.n_layer; ++il)
      if ((hp.index_layers[il] != 0) != selects(hp, il))
        return fail(errc::inconsistent, "dots3note.attention.indexer.types").got(hp.index_layers[il]);
    JIG_CHECK(sparse_latent_arch::complete(name, hp));
    if (hp.dim_k_head_window <= hp.n_rot)
      return fail(errc::inconsistent, "dots3note.attention.key_length_mla_swa").got(hp.dim_k_head_window);
    hp.dim_k_window = hp.n_lora_kv_window + hp.n_rot;
    hp.dim_v_window = hp.n_lora_kv_window;
    hp.attn_scale = inverse_sqrt(hp.dim_k_head);
    return {};
  }
};

}  // namespace jig::arch
