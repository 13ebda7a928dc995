#pragma once
// minimax_m3: MiniMax M3, whose indexer chooses blocks of cells.

#include "jig/arch/deepseek.hpp"

namespace jig::arch {

/// MiniMax M3: M2 with norms per head and dense first layers; in the layers with experts the indexer chooses blocks of
/// cells, one head for each key/value head.
struct minimax_m3 : decoder_arch {
  static constexpr std::string_view name = "minimax-m3";
  static constexpr bool selects(const hparams& hp, u32 il) { return is_moe(hp, il); }
  static constexpr auto keys =
      join(deepseek::keys, keys::indexer,
           std::array{key_row{"attention.indexer.block_size", &hparams::index_block, need::required, 1, 1 << 20},
                      key_row{"attention.indexer.local_blocks", &hparams::index_local, need::required, 0, 1 << 20}});
  static constexpr auto tensors =
      join(tensors::decoder(), tensors::norm("blk.{}.attn_norm"), tensors::attention(), tensors::head_norms(),
           tensors::norm("blk.{}.ffn_norm"), tensors::gated(bias::none, is_dense), tensors::experts,
           tensors::selection_bias(need::required), tensors::shared_experts(),
           std::array{matrix("blk.{}.indexer.q_proj", {d::embd, d::index_q}, is_moe),
                      matrix("blk.{}.indexer.k_proj", {d::embd, d::dim_index}, is_moe),
                      numbers("blk.{}.indexer.q_norm", {d::dim_index}, is_moe),
                      numbers("blk.{}.indexer.k_norm", {d::dim_index}, is_moe)});
  static constexpr decoder_spec spec{.rope = rope_kind::neox,
                                     .act = activation::swiglu_oai,
                                     .router = gating::sigmoid,
                                     .router_norm_from_file = true,
                                     .index_norm = norm_kind::rms,
                                     .index_per_head = true};
  static result<void> complete(hparams& hp) noexcept {
    hp.clamp_expert = hp.clamp_shared = 7.0f;
    for (u32 il = 0; il < hp.n_layer; ++il)
      if (selects(hp, il) && hp.n_head_kv[il] != hp.n_index_head)
        return fail(errc::inconsistent, "minimax-m3.attention.indexer.head_count").got(hp.n_index_head);
    return check_indexer(name, hp);
  }
};

}  // namespace jig::arch
