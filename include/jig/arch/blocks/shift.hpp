#pragma once
// Moving what a sequence remembers to earlier positions: keys that were rotated by their position are rotated back.

#include "jig/arch/blocks/latent_attention.hpp"
#include "jig/ops/rope_angle.hpp"

namespace jig {

/// Whether what the model remembers of a token can belong to another position: not a recurrent state, nor keys made of
/// learned positions, nor keys with a norm behind their rotation, whose weights do not rotate with them, nor rows and
/// keys of groups of cells, which are other groups then. Encoders see all tokens at once and have nothing to go on
/// from. A head beside the layers remembers tokens that must not be forgotten.
template <class M>
inline constexpr bool can_shift = !has_states<M> && !has_groups<M> && !shares_index_keys<M> &&
                                  !requires { M::architecture::encodes; } &&
                                  !requires { M::architecture::extra_head; } &&
                                  !M::architecture::spec.qk_norm_after_rope &&
                                  !slots_of<typename M::architecture>.find(t::position_embd.name).found;

/// Rotates the keys in the batch's cells back by the batch's positions, in all layers.
template <class X, class M>
constexpr void rotate_keys_back(X& x, const M& m, const batch& b) {
  constexpr const decoder_spec& spec = M::architecture::spec;
  const hparams& hp = m.hp();
  const rope_tables tables = make_rope_tables(spec, m, b, [&](rope_args args) {
    const f64 magnitude = rope_angle_at(args, 0, 0.0).magnitude;  // the keys have it already
    if (magnitude != 0.0) args.attn_factor = static_cast<f32>(f64(args.attn_factor) / magnitude);
    value table = x.rope_table(args, b);
    x.scale(table.columns(args.n_rot / 2, args.n_rot / 2), -1.0f);
    return table;
  });
  const auto rotate = [&](attend_args args, rope_kind kind, const value& table, u32 first) {
    const value k = x.load_keys(args, b);
    x.rope(k, args.n_head_kv, kind, table, first);
    args.values_in_keys = true;  // the values stay as they are
    x.store(k, {}, args, b);
  };
  for (u32 il = 0; il < hp.n_layer; ++il) {
    if constexpr (has_indexer<M>)
      if (selects(m, il)) {
        const select_args index{.dim = hp.dim_index, .page_offset = index_page_offset(m, b.memory, il)};
        rotate(index.keys(), spec.index_rope, tables.all, 0);
      }
    const rope_kind kind = rope_of(spec, hp, il);
    if (kind == rope_kind::none || !attends(m, il) || hp.n_head_kv[il] == 0) continue;
    const value& table = table_of(tables, spec, hp, il);
    const u32 first = has_latent_attention<M> ? hp.head_k(il) - hp.n_rot : 0;
    for (u32 loop = 0; loop < hp.n_loops; ++loop) {
      attend_args args = make_attend_args(spec, m, b, il);
      args.page_offset += loop * kv_page_offset(m, b.memory, hp.n_layer);
      rotate(args, kind, table, first);
    }
  }
}

}  // namespace jig
