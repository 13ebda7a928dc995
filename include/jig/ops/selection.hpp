#pragma once
// Sparse attention: an indexer chooses the cells that attention sees, for every token anew (DeepSeek V3.2,
// https://arxiv.org/abs/2512.02556). How it chooses, and the lists that come of it.
//
// Small query heads score the indexer's keys. There is one key per cell, or one for several neighbours; it lies in the
// sequence's memory behind the layer's keys and values. The cells with the largest scores are chosen, the lower one of
// equals: a list depends on nothing but the token's own past.

#include "jig/core/arena.hpp"
#include "jig/ops/args.hpp"

namespace jig {

/// The choice of cells, or of blocks of neighbouring ones. Tokens with no more than top_k blocks before them see all.
struct select_args {
  u32 n_head = 0, dim = 0;  ///< the indexer's query heads and their size
  u64 page_offset = 0;      ///< bytes from a page's start to this layer's index keys
  u32 top_k = 0;            ///< blocks that are chosen
  u32 block = 1;            ///< cells of a block; its score is the largest of theirs
  u32 n_local = 0;          ///< blocks up to the token's own that are chosen whatever their scores, at most top_k
  bool one_key = false;     ///< blocks have one key each, with their last cell, and are chosen when they are complete
  bool per_head = false;    ///< each head has a list of its own, by q k; else one list, by sum_h weight_h max(q_h k, 0)
  /// Neighbouring cells with one key, which lies in the last one's place. Blocks are then single cells, and those that
  /// have no such key yet are chosen whatever their scores; they are fewer than top_k.
  u32 shared = 1;

  constexpr u32 lists() const noexcept { return per_head ? n_head : 1; }
  /// Whether sequences of at most `context` cells (0: not known) always see all of them.
  constexpr bool sees_all(u32 context) const noexcept { return context != 0 && u64{top_k} * block >= context; }
  /// The index keys as the keys of an attention without values.
  constexpr attend_args keys() const noexcept {
    return {.n_head = 1, .n_head_kv = 1, .dim_k = dim, .values_in_keys = true, .page_offset = page_offset};
  }
};

/// What was chosen for the tokens of a batch: `lists` lists for each, a list being the number of its entries and then
/// the numbers of blocks, ascending. Key/value head h sees what list h says, or the only one.
struct chosen_blocks {
  u32* data = nullptr;
  u32 lists = 0, stride = 0;  ///< lists of a token; words of a list
  u32 block = 1;              ///< cells of a block

  constexpr u32* list(u32 t, u32 l) const noexcept { return data + (u64{t} * lists + l) * stride; }
  constexpr u32* list_of_head(u32 t, u32 head_kv) const noexcept { return list(t, lists == 1 ? 0 : head_kv); }
};

/// Numbers of 4 bytes that one thread needs to choose: see select_token; then lists of its own, and a decoded key.
constexpr u64 select_scratch_words(const select_args& a) noexcept {
  return u64{a.lists()} * (3 + 2 * u64{a.top_k}) + round_up(a.dim, 32);
}
/// Scratch of `select` on at most `threads` threads, for any kernel set.
constexpr u64 select_scratch_bytes(const select_args& a, u32 threads) noexcept {
  return threads * round_up(select_scratch_words(a) * sizeof(f32), 64);
}

}  // namespace jig
