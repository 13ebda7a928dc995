#pragma once
// How keys and values lie in a page of key/value memory (ops/batch.hpp), shared by every kernel set, the session
// and the planner.

#include <span>

#include "jig/core/type_list.hpp"
#include "jig/ops/args.hpp"
#include "jig/ops/batch.hpp"
#include "jig/ops/distance.hpp"
#include "jig/quant/bf16.hpp"
#include "jig/quant/f16.hpp"
#include "jig/quant/f32.hpp"
#include "jig/quant/q8_0.hpp"

namespace jig {

/// The element types that key/value memory may have.
using kv_types = type_list<f32_block, f16_block, bf16_block, q8_0>;

/// Bytes of one head's row of `dim` values: whole blocks, the last one padded. 0 if the type is not one of kv_types.
constexpr u64 kv_row_bytes(u32 type, u32 dim) noexcept {
  u64 bytes = 0;
  visit_id(kv_types{}, type, [&]<class T>(type_tag<T>) { bytes = (u64{dim} + T::size - 1) / T::size * sizeof(T); });
  return bytes;
}

/// Bytes that one token takes in one layer: keys and values of all heads.
constexpr u64 kv_token_bytes(u32 type, u32 n_head_kv, u32 dim_k, u32 dim_v) noexcept {
  return n_head_kv * (kv_row_bytes(type, dim_k) + kv_row_bytes(type, dim_v));
}

/// The cells [begin, end) that token t sees: source, causality, window and chunk. Without causality a window is
/// symmetric: half of it to either side.
struct cell_range {
  u32 begin, end;
  constexpr u32 size() const noexcept { return end - begin; }
  constexpr u32 operator[](u32 i) const noexcept { return begin + i; }
};
constexpr cell_range visible_cells(const attend_args& a, const batch& b, u32 t) noexcept {
  const sequence_view& s = b.sequences[b.sequence[t]];
  if (a.to_source) return {0, s.source};
  const u32 own = b.cell[t], length = s.length;
  if (!b.causal) {
    const u32 half = a.window / 2;
    if (a.window == 0) return {0, length};
    return {own > half ? own - half : 0, own + half + 1 < length ? own + half + 1 : length};
  }
  u32 begin = s.source;
  if (a.window != 0 && own + 1 > a.window + begin) begin = own + 1 - a.window;
  if (a.chunk != 0 && own / a.chunk * a.chunk > begin) begin = own / a.chunk * a.chunk;
  return {begin, own + 1};
}

/// Addresses of one layer's rows of one sequence.
template <class T>
struct kv_rows {
  kv_rows(const attend_args& a, const batch& b, u32 sequence) noexcept
      : memory(b.memory),
        pages(b.sequences[sequence].pages),
        n_head_kv(a.n_head_kv),
        key_bytes(kv_row_bytes(T::id, a.dim_k)),
        value_bytes(a.values_in_keys ? key_bytes : kv_row_bytes(T::id, a.dim_v)),
        keys(a.page_offset),
        values(a.values_in_keys ? keys : keys + memory.page_tokens * n_head_kv * key_bytes) {}

  u8* key(u32 cell, u32 head) const noexcept { return page(cell) + keys + row(cell, head) * key_bytes; }
  u8* value(u32 cell, u32 head) const noexcept { return page(cell) + values + row(cell, head) * value_bytes; }
  /// The row of the group that ends with the cell (ops/compression.hpp); they lie behind the keys.
  u8* group(u32 cell, u32 head) const noexcept {
    return page(cell) + keys + (u64{memory.page_tokens} * n_head_kv + row(cell, head)) * key_bytes;
  }

 private:
  u8* page(u32 cell) const noexcept {
    return memory.data + pages[cell / memory.page_tokens] * memory.page_bytes;
  }
  u64 row(u32 cell, u32 head) const noexcept { return u64{cell % memory.page_tokens} * n_head_kv + head; }

  kv_memory memory;
  const u32* pages;
  u64 n_head_kv, key_bytes, value_bytes;
  u64 keys, values;  ///< bytes from a page's start to the rows
};

/// Encodes n values into whole blocks of T, the last one padded with zeros.
template <class T>
void encode_padded(const f32* x, u32 n, u8* bytes) noexcept {
  T* blocks = reinterpret_cast<T*>(bytes);
  for (u32 c = 0; c < n; c += T::size) {
    f32 values[T::size] = {};
    for (u32 i = 0; i < T::size && c + i < n; ++i) values[i] = x[c + i];
    T::encode(std::span<const f32, T::size>(values), blocks[c / T::size]);
  }
}

/// The keys in the cells of the batch's tokens, or the means of the n keys up to there, of as many as there are:
/// out [tokens, n_head_kv * dim_k].
template <class Kv>
void load_keys(const attend_args& a, const batch& b, u32 n, const mat& out) noexcept {
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    for (u32 t = 0; t < b.n_tokens; ++t) {
      const kv_rows<T> rows(a, b, b.sequence[t]);
      const u32 own = b.cell[t], first = own + 1 > n ? own + 1 - n : 0;
      for (u32 h = 0; h < a.n_head_kv; ++h) {
        f32* to = out.row(t) + h * a.dim_k;
        for (u32 cell = first; cell <= own; ++cell) {
          const T* blocks = reinterpret_cast<const T*>(rows.key(cell, h));
          for (u32 c = 0; c < a.dim_k; c += T::size) {
            f32 values[T::size];
            T::decode(blocks[c / T::size], std::span<f32, T::size>(values));
            for (u32 i = 0; i < T::size && c + i < a.dim_k; ++i)
              to[c + i] = cell == first ? values[i] : to[c + i] + values[i];
          }
        }
        const f32 share = 1.0f / static_cast<f32>(own + 1 - first);
        for (u32 i = 0; n > 1 && i < a.dim_k; ++i) to[i] *= share;
      }
    }
  });
}

}  // namespace jig
