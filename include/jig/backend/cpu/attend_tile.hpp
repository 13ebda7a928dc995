#pragma once
// Attention of a few tokens of one sequence and one key/value head: one pass over the cells with a running softmax
// (M. Milakov, N. Gimelshein: Online normalizer calculation for softmax, https://arxiv.org/abs/1805.02867).
//
// Cells come in blocks of 16. A block's keys and values are brought to f32 once for all query heads of all tokens; keys
// are turned, so that lanes are cells and no score is a sum across a vector. A token counts only the cells of a block
// that it sees, so its result does not depend on the tokens beside it.

#include "jig/backend/cpu/math.hpp"
#include "jig/backend/cpu/sizes.hpp"
#include "jig/backend/cpu/turn.hpp"
#include "jig/ops/compression.hpp"
#include "jig/ops/tensor.hpp"
#include "jig/quant/rows.hpp"

namespace jig::cpu::detail {

static_assert(block_cells == turned_rows);

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

/// What a token sees, by position: cells themselves for a range, so that tokens of one sequence share their blocks;
/// places in a list otherwise.
template <class Cells>
struct positions {
  static constexpr bool shared = std::is_same_v<Cells, cell_range>;
  Cells cells;

  u32 first() const noexcept {
    if constexpr (shared) return cells.begin;
    else return 0;
  }
  u32 last() const noexcept { return first() + cells.size(); }
  u32 cell(u32 p) const noexcept { return cells[p - first()]; }
  template <class Rows>
  const u8* key(const Rows& rows, u32 p, u32 head) const noexcept {
    return seen_key(rows, cells, p - first(), head);
  }
};

/// The state of the tokens [t, t + n) and a key/value head; each token has `group` query heads, a row each.
template <class V>
struct attend_state {
  const attend_args& a;
  const u32* own;  ///< cells of the tokens
  u32 n, group, first_head;
  mat q, out;    ///< of these tokens: [n, n_head * dim]
  f32* decoded;  ///< [block_cells][decoded_stride]
  f32* turned;   ///< [dim_k][block_cells]
  f32 *scores, *top, *total;  ///< [n * group][block_cells], [n * group], [n * group]
  const f32* rows[block_cells] = {};

  attend_state(const attend_args& args, const batch& b, u32 t, u32 count, u32 head, const mat& queries, f32* scratch,
               const mat& result) noexcept
      : a(args),
        own(b.cell + t),
        n(count),
        group(args.n_head / args.n_head_kv),
        first_head(head * group),
        q{queries.row(t), count, queries.cols, queries.stride},
        out{result.row(t), count, result.cols, result.stride},
        decoded(scratch),
        turned(decoded + block_cells * decoded_stride(a)),
        scores(turned + block_cells * decoded_stride(a)),
        top(scores + n * group * block_cells),
        total(top + n * group) {
    for (u32 r = 0; r < n * group; ++r) {  // a sink is a key that only adds to the sum of the weights
      top[r] = a.sinks ? a.sinks.floats()[first_head + r % group] : std::numeric_limits<f32>::lowest();
      total[r] = a.sinks ? 1.0f : 0.0f;
      for (u32 i = 0; i < a.dim_v; ++i) result_of(r)[i] = 0.0f;
    }
  }

  const f32* query_of(u32 r) const noexcept { return q.row(r / group) + (first_head + r % group) * a.dim_k; }
  f32* result_of(u32 r) const noexcept { return out.row(r / group) + (first_head + r % group) * a.dim_v; }

  /// scores = scale * q . k of all rows, for the cells [from, to) of a block.
  void score(u32 from, u32 to) noexcept {
    const u32 all = n * group;
    if constexpr (V::size == 1) {
      for (u32 r = 0; r < all; ++r)
        for (u32 j = from; j < to; ++j)
          scores[r * block_cells + j] = dot_of<V>(query_of(r), rows[j], a.dim_k) * a.scale;
    } else {
      turn(rows, a.dim_k, turned);
      u32 r = 0;
      for (; r + 4 <= all; r += 4) score_rows<4>(r);
      for (; r < all; ++r) score_rows<1>(r);
    }
  }
  /// R rows; even and odd values have sums of their own.
  template <u32 R>
  void score_rows(u32 r) noexcept {
    const f32* query[R];
    for (u32 i = 0; i < R; ++i) query[i] = query_of(r + i);
    for (u32 j = 0; j < block_cells; j += V::size) {
      V even[R], odd[R];
      for (u32 i = 0; i < R; ++i) even[i] = odd[i] = V(0.0f);
      u32 k = 0;
      for (; k + 2 <= a.dim_k; k += 2) {
        const V a0 = load<V>(turned + k * block_cells + j), a1 = load<V>(turned + (k + 1) * block_cells + j);
        for (u32 i = 0; i < R; ++i) {
          even[i] = madd(V(query[i][k]), a0, even[i]);
          odd[i] = madd(V(query[i][k + 1]), a1, odd[i]);
        }
      }
      if (k < a.dim_k)
        for (u32 i = 0; i < R; ++i) even[i] = madd(V(query[i][k]), load<V>(turned + k * block_cells + j), even[i]);
      for (u32 i = 0; i < R; ++i) store(scores + (r + i) * block_cells + j, (even[i] + odd[i]) * V(a.scale));
    }
  }

  /// Caps and biases of the scores of row r; cells outside [from, to) get the lowest number, whose weight is nothing.
  template <class Positions>
  void adjust(u32 r, const Positions& seen, u32 block, u32 from, u32 to) noexcept {
    f32* s = scores + r * block_cells;
    const u32 head = first_head + r % group, token = r / group;
    if (a.softcap != 0.0f)
      for (u32 j = from; j < to; ++j) s[j] = a.softcap * tanh(one_float(s[j] / a.softcap)).v;
    if (a.distances.data)
      for (u32 j = from; j < to; ++j) s[j] += a.distances.row(head)[distance_column(seen.cell(block + j), own[token])];
    if (a.alibi_bias != 0.0f) {
      const f32 slope = exp(one_float(alibi_exponent(a.alibi_bias, a.n_head, head) * -0.693147181f)).v;
      for (u32 j = from; j < to; ++j)
        s[j] -= slope * std::abs(static_cast<f32>(own[token]) - static_cast<f32>(seen.cell(block + j)));
    }
    for (u32 j = 0; j < from; ++j) s[j] = std::numeric_limits<f32>::lowest();
    for (u32 j = to; j < block_cells; ++j) s[j] = std::numeric_limits<f32>::lowest();
  }

  /// Turns the scores of row r into weights relative to the new top, and rescales what has been summed up under the old
  /// one.
  void weigh(u32 r) noexcept {
    f32* s = scores + r * block_cells;
    V most = load<V>(s);
    for (u32 j = V::size; j < block_cells; j += V::size) most = larger(load<V>(s + j), most);
    const f32 highest = largest(most), best = highest > top[r] ? highest : top[r];
    V sums(0.0f);
    for (u32 j = 0; j < block_cells; j += V::size) {
      const V weights = exp(load<V>(s + j) - V(best));
      store(s + j, weights);
      sums = sums + weights;
    }
    if (best > top[r]) {
      const f32 factor = exp(one_float(top[r] - best)).v;
      transform<V>(result_of(r), a.dim_v, [&](V v) { return v * V(factor); });
      total[r] *= factor;
      top[r] = best;
    }
    total[r] += sum(sums);
  }

  /// Row r of the result += its weights . v, for the cells [from, to) of the block.
  void mix(u32 r, u32 from, u32 to) noexcept {
    const f32* s = scores + r * block_cells;
    f32* o = result_of(r);
    u32 c = 0;
    for (; c + 4 * V::size <= a.dim_v; c += 4 * V::size) mix_columns<4>(s, o + c, c, from, to);
    for (; c + V::size <= a.dim_v; c += V::size) mix_columns<1>(s, o + c, c, from, to);
    for (; c < a.dim_v; ++c)
      for (u32 j = from; j < to; ++j) o[c] += s[j] * rows[j][c];
  }
  template <u32 N>
  void mix_columns(const f32* s, f32* o, u32 column, u32 from, u32 to) noexcept {
    V sums[N];
    for (u32 i = 0; i < N; ++i) sums[i] = load<V>(o + i * V::size);
    for (u32 j = from; j < to; ++j)
      for (u32 i = 0; i < N; ++i) sums[i] = madd(V(s[j]), load<V>(rows[j] + column + i * V::size), sums[i]);
    for (u32 i = 0; i < N; ++i) store(o + i * V::size, sums[i]);
  }

  /// Divides by the sums of the weights.
  void finish() noexcept {
    for (u32 r = 0; r < n * group; ++r) {
      const V factor(1.0f / total[r]);
      transform<V>(result_of(r), a.dim_v, [&](V v) { return v * factor; });
    }
  }
};

/// Tokens [t, t + n) and key/value head h; cells_of(t): what a token sees. More than one only of one sequence and with
/// ranges of cells. scratch: attend_scratch_bytes(a, 1).
template <class V, class T, class F>
void attend_tokens(const attend_args& a, const batch& b, u32 t, u32 n, u32 h, F&& cells_of, const mat& q, f32* scratch,
                   const mat& out) noexcept {
  using seen = positions<decltype(cells_of(t))>;
  attend_state<V> s(a, b, t, n, h, q, scratch, out);
  const kv_rows<T> rows(a, b, b.sequence[t]);
  const u64 stride = decoded_stride(a);
  u32 first = ~0u, last = 0;
  for (u32 i = 0; i < n; ++i) {
    const seen p{cells_of(t + i)};
    first = p.first() < first ? p.first() : first;
    last = p.last() > last ? p.last() : last;
  }
  const seen any{cells_of(t)};
  // The part of a block that lies in [begin, end), from the block's start.
  const auto within = [](u32 block, u32 begin, u32 end) {
    return cell_range{begin > block ? begin - block : 0, end < block + block_cells ? end - block : block_cells};
  };
  for (u32 block = first / block_cells * block_cells; block < last; block += block_cells) {
    const cell_range part = within(block, first, last);
    for (u32 j = 0; j < block_cells; ++j)
      s.rows[j] = j < part.begin || j >= part.end
                      ? s.decoded  // for nobody
                      : row_floats<V, T>(any.key(rows, block + j, h), a.dim_k, s.decoded + j * stride);
    s.score(part.begin, part.end);
    const auto each_row = [&](auto&& f) {
      for (u32 i = 0; i < n; ++i) {
        const seen p{cells_of(t + i)};
        if (p.first() >= block + block_cells || p.last() <= block) continue;
        const cell_range mine = within(block, p.first(), p.last());
        for (u32 r = i * s.group; r < (i + 1) * s.group; ++r) f(p, r, mine.begin, mine.end);
      }
    };
    each_row([&](const seen& p, u32 r, u32 from, u32 to) {
      s.adjust(r, p, block, from, to);
      s.weigh(r);
    });
    for (u32 j = part.begin; j < part.end && !a.values_in_keys; ++j)
      s.rows[j] = row_floats<V, T>(rows.value(any.cell(block + j), h), a.dim_v, s.decoded + j * stride);
    each_row([&](const seen&, u32 r, u32 from, u32 to) { s.mix(r, from, to); });
  }
  s.finish();
}

}  // namespace jig::cpu::detail
