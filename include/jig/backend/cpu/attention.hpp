#pragma once
// Attention over paged key/value memory. The unit of work is a tile (attend_tile.hpp): a few neighbouring tokens of a
// sequence and a key/value head. Results depend neither on the other tokens of the batch nor on the number of threads.

#include "jig/backend/cpu/attend_tile.hpp"
#include "jig/ops/parallel.hpp"

namespace jig::cpu {

/// Encodes each token's keys and values ([tokens, n_head_kv * dim]) into its cell. Exact rounding of the format.
template <class Kv>
void store_kv(const parallel& p, const attend_args& a, const batch& b, const mat& k, const mat& v) noexcept {
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    p.for_rows(b.n_tokens, 16, [&](u64 begin, u64 end) {
      for (u32 t = static_cast<u32>(begin); t < end; ++t) {
        const kv_rows<T> rows(a, b, b.sequence[t]);
        for (u32 h = 0; h < a.n_head_kv; ++h) {
          encode_padded<T>(k.row(t) + h * a.dim_k, a.dim_k, rows.key(b.cell[t], h));
          if (!a.values_in_keys) encode_padded<T>(v.row(t) + h * a.dim_v, a.dim_v, rows.value(b.cell[t], h));
        }
      }
    });
  });
}

namespace detail {

/// How many tokens from t on are served together: neighbours of one sequence that see ranges of cells.
template <bool Ranges>
u32 tile_tokens(const batch& b, u32 t) noexcept {
  u32 n = 1;
  while (Ranges && n < attend_tokens_most && t + n < b.n_tokens && b.sequence[t + n] == b.sequence[t]) ++n;
  return n;
}

/// Attention of all tokens and heads; cells_of(t, h) is what token t and key/value head h see, `work` the multiply-adds
/// of all, to keep small jobs on the caller.
template <class V, class Kv, class F>
void attend_all(const parallel& p, const attend_args& a, const batch& b, u64 work, const mat& q, u8* scratch,
                const mat& out, F&& cells_of) noexcept {
  constexpr bool ranges = positions<decltype(cells_of(0u, 0u))>::shared;
  const u64 bytes = attend_scratch_bytes(a, 1);
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    auto share = [&](u32 index, u32 count) {  // every count-th item: late tokens see more cells
      f32* mine = reinterpret_cast<f32*>(scratch + index * bytes);
      u32 item = 0, n = 0;
      for (u32 t = 0; t < b.n_tokens; t += n) {
        n = tile_tokens<ranges>(b, t);
        for (u32 h = 0; h < a.n_head_kv; ++h)
          if (item++ % count == index)
            attend_tokens<V, T>(a, b, t, n, h, [&](u32 token) { return cells_of(token, h); }, q, mine, out);
      }
    };
    if (work < 65536) share(0, 1);
    else p.run(share);
  });
}

}  // namespace detail

/// softmax(scale * q K^T) V for every query head over the cells that each token sees (ops/args.hpp: window, softcap).
/// q: [tokens, n_head * dim_k] -> out: [tokens, n_head * dim_v]; scratch: attend_scratch_bytes(a, p.threads).
/// Error of a value below 1e-6 * (1 + largest |score|) * the largest |v| (f32 arithmetic on the stored elements).
template <class V, class Kv>
void attend(const parallel& p, const attend_args& a, const batch& b, const mat& q, u8* scratch,
            const mat& out) noexcept {
  u64 work = 0;
  for (u32 t = 0; t < b.n_tokens; ++t) work += (u64{b.cell[t]} + 1) * a.n_head * (a.dim_k + a.dim_v);
  detail::attend_all<V, Kv>(p, a, b, work, q, scratch, out, [&](u32 t, u32) { return visible_cells(a, b, t); });
}

}  // namespace jig::cpu
