#pragma once
// Compressed attention of DeepSeek V4 (ops/compression.hpp). All heads share one key, which is the value, too: its
// rotation is undone in the result. Rows of groups are made by a compressor from the layer's input and rotated by their
// group's first position. In layers with small groups, which overlap, an indexer with a compressor of its own chooses
// the groups that are seen. Shapes: n is the layer's normed input [tokens, n_embd].

#include "jig/arch/blocks/latent_attention.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.attn_kv"> attn_kv{};
inline constexpr tensor_tag<"blk.{}.attn_output_a"> attn_output_a{};
inline constexpr tensor_tag<"blk.{}.attn_output_b"> attn_output_b{};
}  // namespace t

/// The names of a compressor's tensors.
template <fixed_name Prefix>
struct compressor_tags {
  static constexpr tensor_tag<Prefix + fixed_name("_kv")> kv{};
  static constexpr tensor_tag<Prefix + fixed_name("_gate")> gate{};
  static constexpr tensor_tag<Prefix + fixed_name("_ape")> ape{};
  static constexpr tensor_tag<Prefix + fixed_name("_norm")> norm{};
};
using attn_compressor = compressor_tags<"blk.{}.attn_compressor">;
using index_compressor = compressor_tags<"blk.{}.indexer_compressor">;

namespace d {
constexpr u64 group(const hparams& hp, u32 il) { return hp.cell_groups[il]; }
constexpr u64 out_group(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.dim_v / hp.n_out_groups; }
constexpr u64 out_groups(const hparams& hp, u32) { return hp.n_out_groups; }
constexpr u64 lora_out(const hparams& hp, u32) { return hp.n_lora_out; }
constexpr u64 out_low(const hparams& hp, u32) { return u64{hp.n_out_groups} * hp.n_lora_out; }
}  // namespace d

namespace tensors {
/// A compressor in the layers that When names, for rows of Dim numbers, twice as many inputs where groups overlap.
template <class Tags, dim_fn Dim, layer_test When, layer_test Overlaps>
inline constexpr std::array compressor = [] {
  constexpr dim_fn width = [](const hparams& hp, u32 il) { return Dim(hp, il) * (Overlaps(hp, il) ? 2 : 1); };
  return std::array{matrix(Tags::kv.name, {d::embd, width}, When), matrix(Tags::gate.name, {d::embd, width}, When),
                    unscaled(matrix(Tags::ape.name, {width, d::group}, When)),
                    numbers(Tags::norm.name, {Dim}, When)};
}();

/// Attention to windows and rows of groups.
template <layer_test Grouped, layer_test Indexed>
inline constexpr auto compressed_attention = join(
    std::array{tensor_row{"blk.{}.attn_q_a", {d::embd, d::lora_q}}, tensor_row{"blk.{}.attn_q_a_norm", {d::lora_q}},
               tensor_row{"blk.{}.attn_q_b", {d::lora_q, d::q}}, tensor_row{"blk.{}.attn_kv", {d::embd, d::head_k}},
               tensor_row{"blk.{}.attn_kv_a_norm", {d::head_k}},
               stacked(matrix("blk.{}.attn_output_a", {d::out_group, d::lora_out, d::out_groups})),
               tensor_row{"blk.{}.attn_output_b", {d::out_low, d::embd}},
               matrix("blk.{}.indexer.proj", {d::embd, d::index_head}, Indexed),
               matrix("blk.{}.indexer.attn_q_b", {d::lora_q, d::index_q}, Indexed)},
    sinks(), compressor<attn_compressor, d::head_k, Grouped, Indexed>,
    compressor<index_compressor, d::dim_index, Indexed, Indexed>);
}  // namespace tensors

/// The rope tables of a batch: of layers without groups and of those with them, forwards and back, and of the first
/// positions of groups, small and large.
struct compressed_ropes {
  const value &plain, &grouped;
  value plain_back, grouped_back, small, large;
};

/// tables: those of the spec's windowed layers, which have no groups, and of the others.
template <class X, class M>
constexpr compressed_ropes make_compressed_ropes(X& x, const M& m, const batch& b, const rope_tables& tables) {
  using arch = typename M::architecture;
  const auto back = [&](const value& table) {
    value v = x.make(table.rows(), table.cols());
    x.copy(v, table);
    x.scale(v.columns(v.cols() / 2, v.cols() / 2), -1.0f);
    return v;
  };
  const rope_args args = rope_args_of(m, b);
  return {tables.windowed, tables.all, back(tables.windowed), back(tables.all),
          x.rope_table_of_groups(args, arch::small_group, b), x.rope_table_of_groups(args, arch::large_group, b)};
}

/// The rows of the groups that end with the batch's tokens, zeros for tokens in between: [tokens, dim].
template <class Tags, class X, class M>
constexpr value group_rows(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                           const value& table) {
  constexpr bool index = std::is_same_v<Tags, index_compressor>;
  compress_args args = make_compress_args(m, il, index);
  args.page_offset = inputs_page_offset(m, b.memory, il, index);
  auto [vectors, scores] = x.project(n, m.get(Tags::kv, il), m.get(Tags::gate, il));
  {
    const value place = x.places(m.get(Tags::ape, il).w, b);
    x.add(scores, place);
  }
  value rows = x.compress(vectors, scores, args, b);
  x.norm_inplace(rows, {.eps = m.hp().norm_eps, .group = args.dim, .w = m.get(Tags::norm, il).w});
  x.rope(rows, 1, spec.rope, table, args.dim - m.hp().n_rot);
  return rows;
}

/// The groups that layer il's indexer chooses. low: what attention's queries are made from.
template <class X, class M>
constexpr cell_choice select_groups(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                                    const mat& low, const compressed_ropes& ropes) {
  const hparams& hp = m.hp();
  const value q = x.matmul(low, m.get(t::indexer_attn_q_b, il));
  x.rope(q, hp.n_index_head, spec.rope, ropes.grouped, hp.dim_index - hp.n_rot);
  const value weights = x.matmul(n, m.get(t::indexer_proj, il));
  const value k = group_rows<index_compressor>(x, spec, m, b, il, n, ropes.small);
  x.name("indexer_q", il, q), x.name("indexer_k", il, k), x.name("indexer_weights", il, weights);
  const select_args args{.n_head = hp.n_index_head,
                         .dim = hp.dim_index,
                         .page_offset = index_page_offset(m, b.memory, il),
                         .top_k = hp.index_top_k,
                         .block = group_of(m, il),
                         .one_key = true};
  return x.select(q, weights, k, args, b);
}

/// Attention of layer il: n -> output projection's result [tokens, n_embd].
template <class X, class M>
constexpr value compressed_attention(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                                     const compressed_ropes& ropes) {
  const hparams& hp = m.hp();
  const u32 heads = hp.n_head[il], dim = hp.dim_k, first = dim - hp.n_rot, group = group_of(m, il);
  const auto norm = [&](const mat& v, const linear& w) {
    x.norm_inplace(v, {.eps = hp.norm_eps, .group = w ? v.cols : dim, .w = w.w});
  };
  const value& table = group != 0 ? ropes.grouped : ropes.plain;
  value low = x.matmul(n, m.get(t::attn_q_a, il));
  norm(low, m.get(t::attn_q_a_norm, il));
  value q = x.matmul(low, m.get(t::attn_q_b, il));
  norm(q, {});
  x.rope(q, heads, spec.rope, table, first);
  value kv = x.matmul(n, m.get(t::attn_kv, il));
  norm(kv, m.get(t::attn_kv_a_norm, il));
  x.rope(kv, 1, spec.rope, table, first);
  x.name("Qcur", il, q), x.name("Kcur", il, kv);

  attend_args args = make_attend_args(spec, m, b, il);
  args.window = hp.window;
  args.group = group;
  value mixed;
  if (group == 0) {
    mixed = x.attend(q, kv, kv, args, b);
  } else {
    cell_choice chosen;
    if (selects(m, il)) chosen = select_groups(x, spec, m, b, il, n, low, ropes);
    const value rows = group_rows<attn_compressor>(x, spec, m, b, il, n, selects(m, il) ? ropes.small : ropes.large);
    mixed = x.attend_compressed(q, kv, rows, args, chosen, b);
  }
  q = value(), kv = value(), low = value();
  x.rope(mixed, heads, spec.rope, group != 0 ? ropes.grouped_back : ropes.plain_back, first);
  x.name("kqv_out", il, mixed);
  value out = x.make(n.rows, hp.n_out_groups * hp.n_lora_out);
  const mat from = mixed, to = out;
  x.matmul_heads(from.heads(hp.n_out_groups, 0, mixed.cols() / hp.n_out_groups), m.get(t::attn_output_a, il),
                 to.heads(hp.n_out_groups, 0, hp.n_lora_out));
  return x.matmul(out, m.get(t::attn_output_b, il));
}

}  // namespace jig
