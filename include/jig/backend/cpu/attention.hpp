#pragma once
// Attention over paged key/value memory: one pass over the cells with a running softmax (M. Milakov, N. Gimelshein:
// Online normalizer calculation for softmax, https://arxiv.org/abs/1805.02867).
//
// The unit of work is a token and a key/value head: all query heads that share the head are served while its rows
// are at hand as f32. Cells come in blocks of 16, counted from the first that the token sees, so the result depends
// neither on the other tokens of the batch nor on the number of threads.

#include "jig/backend/cpu/math.hpp"
#include "jig/backend/cpu/sizes.hpp"
#include "jig/ops/compression.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/ops/tensor.hpp"
#include "jig/quant/rows.hpp"

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

/// The first n values of a stored row as f32: where they lie, or decoded into `buffer` (whole blocks).
template <class V, class T>
const f32* row_floats(const u8* bytes, u32 n, f32* buffer) noexcept {
  const T* blocks = reinterpret_cast<const T*>(bytes);
  if constexpr (std::is_same_v<T, f32_block> && std::endian::native == std::endian::little) {
    return reinterpret_cast<const f32*>(bytes);
  } else if constexpr (T::size == 1) {
    u32 i = 0;
    for (; i + V::size <= n; i += V::size) store(buffer + i, load_numbers<V>(blocks + i));
    for (; i < n; ++i) buffer[i] = blocks[i].value;
  } else {
    decode_row(blocks, (n + T::size - 1) / T::size, buffer);
  }
  return buffer;
}

/// The state of one token and key/value head: `group` query heads.
template <class V>
struct attend_state {
  const attend_args& a;
  u32 group;
  const f32* q;  ///< [group][dim_k]
  f32* out;      ///< [group][dim_v], the weighted sum so far
  f32* decoded;  ///< [block_cells][decoded_stride]
  f32 *scores, *top, *total;  ///< [group][block_cells], [group], [group]
  u32 first_head, own;  ///< the first query head; the token's cell
  const f32* rows[block_cells] = {};

  /// scores = q . k, scaled and capped; cells past n get the lowest number, whose weight is nothing.
  template <class Cells>
  void score(u32 n, const Cells& cells, u32 from) noexcept {
    for (u32 g = 0; g < group; ++g) {
      f32* s = scores + g * block_cells;
      for (u32 j = 0; j < block_cells; ++j)
        s[j] = j < n ? dot_of<V>(q + g * a.dim_k, rows[j], a.dim_k) * a.scale : std::numeric_limits<f32>::lowest();
      if (a.softcap != 0.0f)
        for (u32 j = 0; j < n; ++j) s[j] = a.softcap * tanh(one_float(s[j] / a.softcap)).v;
      if (a.distances.data)
        for (u32 j = 0; j < n; ++j) s[j] += a.distances.row(first_head + g)[distance_column(cells[from + j], own)];
      if (a.alibi_bias != 0.0f) {
        const f32 slope = exp(one_float(alibi_exponent(a.alibi_bias, a.n_head, first_head + g) * -0.693147181f)).v;
        for (u32 j = 0; j < n; ++j) s[j] -= slope * std::abs(static_cast<f32>(own) - static_cast<f32>(cells[from + j]));
      }
    }
  }

  /// Turns scores into weights relative to the new top, and rescales what has been summed up under the old one.
  void weigh(u32 n) noexcept {
    for (u32 g = 0; g < group; ++g) {
      f32* s = scores + g * block_cells;
      f32 best = top[g];
      for (u32 j = 0; j < n; ++j) best = s[j] > best ? s[j] : best;
      transform<V>(s, block_cells, [&](V v) { return exp(v - V(best)); });
      f32 sum = 0.0f;
      for (u32 j = 0; j < n; ++j) sum += s[j];
      if (best > top[g]) {
        const f32 factor = exp(one_float(top[g] - best)).v;
        transform<V>(out + g * a.dim_v, a.dim_v, [&](V v) { return v * V(factor); });
        total[g] *= factor;
        top[g] = best;
      }
      total[g] += sum;
    }
  }

  /// out += weights . v
  void mix(u32 n) noexcept {
    for (u32 g = 0; g < group; ++g) {
      const f32* s = scores + g * block_cells;
      f32* o = out + g * a.dim_v;
      u32 c = 0;
      for (; c + 4 * V::size <= a.dim_v; c += 4 * V::size) mix_columns<4>(s, o + c, c, n);
      for (; c + V::size <= a.dim_v; c += V::size) mix_columns<1>(s, o + c, c, n);
      for (; c < a.dim_v; ++c)
        for (u32 j = 0; j < n; ++j) o[c] += s[j] * rows[j][c];
    }
  }

  template <u32 N>
  void mix_columns(const f32* s, f32* o, u32 column, u32 n) noexcept {
    V sums[N];
    for (u32 i = 0; i < N; ++i) sums[i] = load<V>(o + i * V::size);
    for (u32 j = 0; j < n; ++j)
      for (u32 i = 0; i < N; ++i) sums[i] = madd(V(s[j]), load<V>(rows[j] + column + i * V::size), sums[i]);
    for (u32 i = 0; i < N; ++i) store(o + i * V::size, sums[i]);
  }
};

/// Token t and key/value head h over the cells [0, cells.size()) of a list; scratch: attend_scratch_bytes(a, 1).
template <class V, class T, class Cells>
void attend_token(const attend_args& a, const batch& b, u32 t, u32 h, const Cells& cells, const mat& q, f32* scratch,
                  const mat& out) noexcept {
  const u32 group = a.n_head / a.n_head_kv;
  const u64 stride = decoded_stride(a);
  attend_state<V> s{a, group, q.row(t) + h * group * a.dim_k, out.row(t) + h * group * a.dim_v, scratch,
                    scratch + block_cells * stride, nullptr, nullptr, h * group, b.cell[t]};
  s.top = s.scores + group * block_cells;
  s.total = s.top + group;
  for (u32 g = 0; g < group; ++g) {  // a sink is a key that only adds to the sum of the weights
    s.top[g] = a.sinks ? a.sinks.floats()[h * group + g] : std::numeric_limits<f32>::lowest();
    s.total[g] = a.sinks ? 1.0f : 0.0f;
  }
  for (u32 i = 0; i < group * a.dim_v; ++i) s.out[i] = 0.0f;

  const kv_rows<T> rows(a, b, b.sequence[t]);
  const u32 end = cells.size();
  for (u32 from = 0; from < end; from += block_cells) {
    const u32 n = end - from < block_cells ? end - from : block_cells;
    for (u32 j = 0; j < n; ++j)
      s.rows[j] = row_floats<V, T>(seen_key(rows, cells, from + j, h), a.dim_k, s.decoded + j * stride);
    s.score(n, cells, from);
    s.weigh(n);
    for (u32 j = 0; j < n && !a.values_in_keys; ++j)
      s.rows[j] = row_floats<V, T>(rows.value(cells[from + j], h), a.dim_v, s.decoded + j * stride);
    s.mix(n);
  }
  for (u32 g = 0; g < group; ++g) {
    const V factor(1.0f / s.total[g]);
    transform<V>(s.out + g * a.dim_v, a.dim_v, [&](V v) { return v * factor; });
  }
}

/// Attention of all tokens and heads; cells_of(t, h) is what token t and key/value head h see, `work` the multiply-adds
/// of all, to keep small jobs on the caller.
template <class V, class Kv, class F>
void attend_all(const parallel& p, const attend_args& a, const batch& b, u64 work, const mat& q, u8* scratch,
                const mat& out, F&& cells_of) noexcept {
  const u64 bytes = attend_scratch_bytes(a, 1), items = u64{b.n_tokens} * a.n_head_kv;
  visit_id(Kv{}, b.memory.type, [&]<class T>(type_tag<T>) {
    auto share = [&](u32 index, u32 count) {  // every count-th item: late tokens see more cells
      f32* mine = reinterpret_cast<f32*>(scratch + index * bytes);
      for (u64 i = index; i < items; i += count) {
        const u32 t = static_cast<u32>(i / a.n_head_kv), h = static_cast<u32>(i % a.n_head_kv);
        attend_token<V, T>(a, b, t, h, cells_of(t, h), q, mine, out);
      }
    };
    if (items == 1 || work < 65536) share(0, 1);
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
