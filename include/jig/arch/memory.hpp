#pragma once
// What a model remembers of a sequence: keys and values per token in the layers that attend, and a state of fixed size
// in the layers that are recurrent. How much, and where in a page or state each layer has its part.
//
// An architecture has recurrent layers if it says their sizes: `static constexpr recurrent_state state(hp, il)`.
// If some layers of an architecture do not attend although they have heads: `static constexpr bool attends(hp, il)`.
// If some have an indexer (ops/selection.hpp), whose keys then lie behind their values: `selects(hp, il)`, likewise.
// If some see rows of groups of cells (ops/compression.hpp): `static constexpr u32 group(hp, il)`, the cells of a group
// or 0. The rows lie in place of values; behind the index keys lies what these rows, and the index keys, are made of.
// If a model attends once more, beside its layers: `static constexpr u32 extra_head = n`, the numbers of a key and of a
// value of that one head, which lie behind those of the layers.

#include "jig/arch/model.hpp"
#include "jig/ops/compression.hpp"

namespace jig {

/// Floats of one layer's state: the last inputs of its convolutions, what its scan carries, and what else there is.
/// All 0: not recurrent.
struct recurrent_state {
  u64 conv = 0, scan = 0, other = 0;
  constexpr u64 floats() const noexcept { return conv + scan + other; }
};

/// The model's architecture has recurrent layers.
template <class M>
inline constexpr bool has_states = requires { &M::architecture::state; };

template <class M>
constexpr recurrent_state state_of(const M& m, u32 il) noexcept {
  if constexpr (has_states<M>) return M::architecture::state(m.hp(), il);
  else return {};
}

template <class M>
constexpr bool attends(const M& m, u32 il) noexcept {
  if constexpr (requires { M::architecture::attends(m.hp(), il); }) return M::architecture::attends(m.hp(), il);
  else return true;
}

template <class M>
constexpr u32 extra_head(const M&) noexcept {
  if constexpr (requires { M::architecture::extra_head; }) return M::architecture::extra_head;
  else return 0;
}

/// What the windowed layers of a model see at most, themselves included; 0: there are none, or they see all.
template <class M>
constexpr u32 window_of(const M& m) noexcept {
  if constexpr (!M::architecture::spec.has_windows()) return 0;
  else return m.hp().causal ? m.hp().window > m.hp().chunk ? m.hp().window : m.hp().chunk : 0;
}

/// Whether layer il lies in the pages of windowed layers.
template <class M>
constexpr bool in_window_pages(const M& m, const kv_memory& memory, u32 il) noexcept {
  if constexpr (!M::architecture::spec.has_windows()) return false;
  else return memory.windows_apart && M::architecture::spec.windowed(m.hp(), il);
}

/// The model's architecture has layers with an indexer.
template <class M>
inline constexpr bool has_indexer = requires { &M::architecture::selects; };

/// Whether layer il has an indexer of its own.
template <class M>
constexpr bool selects(const M& m, u32 il) noexcept {
  if constexpr (has_indexer<M>) return M::architecture::selects(m.hp(), il);
  else return false;
}

/// The model's architecture has layers that see rows of groups.
template <class M>
inline constexpr bool has_groups = requires { &M::architecture::group; };

/// The cells of layer il's groups, or 0.
template <class M>
constexpr u32 group_of(const M& m, u32 il) noexcept {
  if constexpr (has_groups<M>) return M::architecture::group(m.hp(), il);
  else return 0;
}

/// How layer il makes rows of groups, or its indexer's. Groups overlap where there is an indexer.
template <class M>
constexpr compress_args make_compress_args(const M& m, u32 il, bool index) noexcept {
  return {.group = group_of(m, il), .overlaps = selects(m, il), .dim = index ? m.hp().dim_index : m.hp().head_k(il)};
}

/// Bytes of what a layer remembers of one token: keys and values of all heads, the indexer's key, and what rows of
/// groups and of the indexer are made of (vectors, and scores of the same size).
struct kv_sizes {
  u64 keys = 0, values = 0, index = 0, inputs = 0, index_inputs = 0;
  constexpr u64 sum() const noexcept { return keys + values + index + 2 * (inputs + index_inputs); }
};
template <class M>
constexpr kv_sizes kv_sizes_of(const M& m, u32 type, u32 il) noexcept {
  const hparams& hp = m.hp();
  kv_sizes s;
  if (attends(m, il)) {
    s.keys = hp.n_head_kv[il] * kv_row_bytes(type, hp.head_k(il));
    s.values = hp.n_head_kv[il] * kv_row_bytes(type, hp.stored_dim_v(il));
  }
  if constexpr (has_indexer<M>)
    if (selects(m, il)) s.index = kv_row_bytes(type, hp.dim_index);
  if constexpr (has_groups<M>) {
    const auto inputs = [&](bool index) {
      const attend_args a = make_compress_args(m, il, index).inputs();
      return a.n_head_kv * kv_row_bytes(type, a.dim_k);
    };
    if (group_of(m, il) != 0) s.values = s.keys, s.inputs = inputs(false);
    if (selects(m, il)) s.index_inputs = inputs(true);
  }
  return s;
}

/// Rows of one kind of one layer in a page: where they begin, and what a token takes of them.
struct kv_part {
  u64 offset = 0, bytes = 0;
  bool in_windows = false;  ///< in a page of windowed layers
};

/// Calls f(kv_part) for every layer's keys, values, index keys and inputs of groups, and for keys and values of an
/// extra head, in the order in which they lie in the pages.
template <class M, class F>
constexpr void each_kv_part(const M& m, const kv_memory& memory, F&& f) noexcept {
  u64 at[2] = {0, 0};
  const auto part = [&](u64 bytes, bool in_windows) {
    if (bytes != 0) f(kv_part{at[in_windows], bytes, in_windows});
    at[in_windows] += bytes * memory.page_tokens;
  };
  for (u32 loop = 0; loop < m.hp().n_loops; ++loop)
    for (u32 il = 0; il < m.hp().n_layer; ++il) {
      const kv_sizes s = kv_sizes_of(m, memory.type, il);
      const bool in_windows = in_window_pages(m, memory, il);
      for (const u64 bytes : {s.keys, s.values, s.index}) part(bytes, in_windows);
      if constexpr (has_groups<M>)
        for (const u64 bytes : {s.inputs, s.inputs, s.index_inputs, s.index_inputs}) part(bytes, in_windows);
    }
  for (u32 i = 0; i < 2; ++i) part(kv_row_bytes(memory.type, extra_head(m)), false);
}

/// Bytes that one token takes in those of the first n layers that lie in pages of this kind.
template <class M>
constexpr u64 kv_bytes_in(const M& m, const kv_memory& memory, u32 n, bool in_windows) noexcept {
  u64 bytes = 0;
  for (u32 il = 0; il < n; ++il)
    if (in_window_pages(m, memory, il) == in_windows) bytes += kv_sizes_of(m, memory.type, il).sum();
  return bytes;
}

/// Bytes from a page's start to the keys of layer il.
template <class M>
constexpr u64 kv_page_offset(const M& m, const kv_memory& memory, u32 il) noexcept {
  return kv_bytes_in(m, memory, il, in_window_pages(m, memory, il)) * memory.page_tokens;
}

/// Bytes from a page's start to the indexer's keys of layer il.
template <class M>
constexpr u64 index_page_offset(const M& m, const kv_memory& memory, u32 il) noexcept {
  const kv_sizes s = kv_sizes_of(m, memory.type, il);
  return kv_page_offset(m, memory, il) + (s.keys + s.values) * memory.page_tokens;
}

/// Bytes from a page's start to what layer il makes rows of groups of, or its indexer's.
template <class M>
constexpr u64 inputs_page_offset(const M& m, const kv_memory& memory, u32 il, bool index) noexcept {
  const kv_sizes s = kv_sizes_of(m, memory.type, il);
  return index_page_offset(m, memory, il) + (s.index + (index ? 2 * s.inputs : 0)) * memory.page_tokens;
}

/// Bytes from a page's start to the keys of the head beside the layers.
template <class M>
constexpr u64 extra_head_offset(const M& m, const kv_memory& memory) noexcept {
  return kv_bytes_in(m, memory, m.hp().n_layer, false) * m.hp().n_loops * memory.page_tokens;
}

/// Bytes that one token takes in all layers in pages of this kind; 0 if there are none or the type cannot be used.
template <class M>
constexpr u64 kv_bytes_per_token(const M& m, const kv_memory& memory, bool in_windows) noexcept {
  const u64 extra = in_windows ? 0 : 2 * kv_row_bytes(memory.type, extra_head(m));
  return kv_bytes_in(m, memory, m.hp().n_layer, in_windows) * m.hp().n_loops + extra;
}

/// Floats of the first n layers' states: where the state of layer n begins, or the size of all.
template <class M>
constexpr u64 state_floats_in(const M& m, u32 n) noexcept {
  u64 floats = 0;
  for (u32 il = 0; il < n; ++il) floats += state_of(m, il).floats();
  return floats;
}

}  // namespace jig
