#pragma once
// Engram (https://arxiv.org/abs/2601.07372): embeddings of n-grams. A token and those before it choose rows of a large
// table, by hashes; each stream of hyper connections takes what they give as far as a gate says, and a convolution over
// time follows. A sequence carries the tokens before and the convolution's inputs along in the layer's state, behind
// whatever else is there.

#include "jig/arch/blocks/attention.hpp"
#include "jig/arch/blocks/hyper_connections.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.ple_key"> ple_key{};
inline constexpr tensor_tag<"blk.{}.ple_value"> ple_value{};
inline constexpr tensor_tag<"blk.{}.ple_norm_key"> ple_norm_key{};
inline constexpr tensor_tag<"blk.{}.ple_norm_query"> ple_norm_query{};
inline constexpr tensor_tag<"blk.{}.ple_norm_conv"> ple_norm_conv{};
inline constexpr tensor_tag<"blk.{}.ple_conv1d"> ple_conv1d{};
}  // namespace t

namespace keys {
inline constexpr std::array engram = {
    key_row{"ple.layers", counted{&hparams::ngram_layer_count}, need::optional, 0, 1},
    key_row{"ple.layers", {&hparams::ngram_layers, &hparams::ngram_layer_count}, need::optional, 0, 2047},
    key_row{"ple.ngram_size", &hparams::ngram_size, need::optional, 2, 16},
    key_row{"ple.heads_per_ngram", &hparams::ngram_heads, need::optional, 1, 256},
    key_row{"ple.conv_kernel", &hparams::ngram_taps, need::optional, 2, 64},
    key_row{"ple.eos_token_id", &hparams::ngram_separator, need::optional},
    key_row{"ple.layer_multipliers", {&hparams::ngram_factors, &hparams::ngram_size}, need::optional},
    key_row{"ple.head_offsets", counted{&hparams::n_ngram_tables}, need::optional, 1, 4096},
    key_row{"ple.head_offsets", {&hparams::ngram_offsets, &hparams::n_ngram_tables}, need::optional, 0, 0x7fffffff},
    key_row{"ple.head_vocab_sizes", {&hparams::ngram_rows, &hparams::n_ngram_tables}, need::optional, 1, 0x7fffffff},
    key_row{"embedding_length_per_layer_input", &hparams::n_layer_input, need::optional, 1, 1 << 16},
};
}  // namespace keys

constexpr bool has_engram(const hparams& hp, u32) { return hp.ngram_layer_count != 0; }
constexpr bool reads_engram(const hparams& hp, u32 il) { return has_engram(hp, il) && hp.ngram_layers[0] == il; }

namespace d {
constexpr u64 ngram_part(const hparams& hp, u32) { return hp.n_layer_input; }
constexpr u64 ngram_all(const hparams& hp, u32) { return u64{hp.n_ngram_tables} * hp.n_layer_input; }
constexpr u64 ngram_taps(const hparams& hp, u32) { return hp.ngram_taps; }
/// Rows of all tables together.
constexpr u64 ngram_rows(const hparams& hp, u32) {
  u64 rows = 0;
  for (u32 i = 0; i < hp.n_ngram_tables; ++i) {
    const u64 end = u64{hp.ngram_offsets[i]} + hp.ngram_rows[i];
    rows = end > rows ? end : rows;
  }
  return rows;
}
}  // namespace d

namespace tensors {
inline constexpr std::array engram = {
    padded(unscaled(matrix(t::per_layer_token_embd.name, {d::ngram_part, d::ngram_rows}, has_engram))),
    matrix(t::ple_key.name, {d::ngram_all, d::all_streams}, reads_engram),
    matrix(t::ple_value.name, {d::ngram_all, d::embd}, reads_engram),
    numbers(t::ple_norm_key.name, {d::all_streams}, reads_engram),
    numbers(t::ple_norm_query.name, {d::all_streams}, reads_engram),
    numbers(t::ple_norm_conv.name, {d::all_streams}, reads_engram),
    unscaled(matrix(t::ple_conv1d.name, {d::ngram_taps, d::all_streams}, reads_engram)),
};
}  // namespace tensors

/// Checks what was read of the tables. Errors: missing_key, inconsistent, with the key.
inline result<void> check_engram(std::string_view arch, const hparams& hp) noexcept {
  if (!has_engram(hp, 0)) return {};
  const struct {
    std::string_view key;
    bool there;
  } needed[] = {{"ple.ngram_size", hp.ngram_size != 0},
                {"ple.heads_per_ngram", hp.ngram_heads != 0},
                {"ple.conv_kernel", hp.ngram_taps != 0},
                {"ple.layer_multipliers", hp.ngram_factors.varies()},
                {"ple.head_offsets", hp.ngram_offsets.varies()},
                {"ple.head_vocab_sizes", hp.ngram_rows.varies()},
                {"embedding_length_per_layer_input", hp.n_layer_input != 0}};
  for (const auto& [key, there] : needed)
    if (!there) return fail(errc::missing_key, key_name(arch, key).view());
  const auto bad = [&](std::string_view key, u64 got) {
    return fail(errc::inconsistent, key_name(arch, key).view()).got(got);
  };
  if (hp.ngram_layers[0] >= hp.n_layer) return bad("ple.layers", hp.ngram_layers[0]);
  if (hp.n_ngram_tables != (hp.ngram_size - 1) * hp.ngram_heads) return bad("ple.heads_per_ngram", hp.ngram_heads);
  if (const u64 rows = d::ngram_rows(hp, 0); rows > 0x7fffffff) return bad("ple.head_offsets", rows);
  return {};
}

/// Floats of a layer's state: inputs of the convolution, then the tokens before, the latest first.
constexpr u64 engram_state(const hparams& hp, u32 il) noexcept {
  if (!reads_engram(hp, il)) return 0;
  const u64 before = hp.ngram_size - 1;
  return u64{hp.ngram_taps - 1} * hp.ngram_size * d::all_streams(hp, il) + before;
}

/// The rows of the tables that each token reads: rows [tokens, n_ngram_tables]. The tables of n tokens are read at
///   (t_0 f_0 xor t_1 f_1 ... xor t_{n-1} f_{n-1}) modulo their rows,
/// with t_i the token i places before and f its factor. What lies before a separator, or before the start, counts as
/// separators. The state holds numbers of tokens plus one (exact: there are at most 2^24), 0 before the start.
inline void hash_ngrams(const hparams& hp, const batch& b, u64 state_offset, u32* rows) noexcept {
  const u32 before = hp.ngram_size - 1;
  for (u32 t = 0; t < b.n_tokens; ++t) {
    f32* past = b.states.of(b.sequence[t]) + state_offset;
    u64 hash = static_cast<u64>(b.tokens[t]) * hp.ngram_factors[0];
    bool cut = false;
    for (u32 i = 0; i < before; ++i) {
      const u32 kept = static_cast<u32>(past[i]);
      cut = cut || kept == 0 || kept - 1 == hp.ngram_separator;
      hash ^= u64{cut ? hp.ngram_separator : kept - 1} * hp.ngram_factors[i + 1];
      for (u32 table = i * hp.ngram_heads; table < (i + 1) * hp.ngram_heads; ++table)
        *rows++ = static_cast<u32>(hash % hp.ngram_rows[table]) + hp.ngram_offsets[table];
    }
    for (u32 i = before; i-- > 1;) past[i] = past[i - 1];
    past[0] = static_cast<f32>(b.tokens[t] + 1);
  }
}

namespace detail {
/// Rows of a table: fill(ids) writes which ones, n of them. In a plan nobody asks.
template <class X, class F>
constexpr value rows_of(X& x, const weight& table, u32 n, F&& fill) {
  const value ids = x.make(n, 1);
  batch rows;
  rows.n_tokens = n;
  if (u32* numbers = ids.numbers()) {
    fill(numbers);
    rows.tokens = reinterpret_cast<const i32*>(numbers);
  }
  return x.embed(table, rows);
}
}  // namespace detail

/// Adds what the n-grams give in layer il to the streams.
template <class X, class M>
constexpr void add_engram(X& x, const M& m, const batch& b, u32 il, hyper_streams<X>& streams) {
  const hparams& hp = m.hp();
  const u32 n = hp.n_streams, width = hp.n_embd, size = static_cast<u32>(d::ngram_all(hp, il));
  const recurrent_state own = state_of(m, il);
  const u64 conv_at = state_floats_in(m, il) + own.conv + own.scan;
  const u64 tokens_at = conv_at + own.other - (hp.ngram_size - 1);
  value key, v;
  {
    const value found = detail::rows_of(x, m.get(t::per_layer_token_embd).w, b.n_tokens * hp.n_ngram_tables,
                                        [&](u32* ids) { hash_ngrams(hp, b, tokens_at, ids); });
    const mat all = {mat(found).data, b.n_tokens, size, size};
    key = x.matmul(all, m.get(t::ple_key, il));
    v = x.matmul(all, m.get(t::ple_value, il));
  }
  x.norm_inplace(key, norm_of_streams(hp, m.get(t::ple_norm_key, il).w));
  value gate;
  {
    const value query = x.norm(streams.all(), norm_of_streams(hp, m.get(t::ple_norm_query, il).w));
    gate = x.dot_groups(key, query, n);
  }
  x.scale(gate, inverse_sqrt(width));
  activation_args root = activation::signed_sqrt;
  root.eps = 1e-6f;
  x.activate(gate, root);
  x.activate(gate, activation::sigmoid);
  x.name("ple_gate", il, gate);
  const value given = x.expand(v, gate);
  const mat by_token = {mat(given).data, b.n_tokens, n * width, n * width};
  const value unit = x.norm(by_token, norm_of_streams(hp, m.get(t::ple_norm_conv, il).w));
  const value taps = detail::rows_of(x, m.get(t::ple_conv1d, il).w, n * width, [&](u32* ids) {
    for (u32 i = 0; i < n * width; ++i) ids[i] = i;
  });
  const weight w{reinterpret_cast<const u8*>(taps.numbers()), f32_block::id, hp.ngram_taps, n * width, 1};
  const value y = x.conv(unit, {hp.ngram_taps, conv_at, w, hp.ngram_size}, b);
  x.activate(y, activation::silu);
  x.add(streams.all(), by_token);
  x.add(streams.all(), y);
}

}  // namespace jig
