#pragma once
// The indexer of sparse attention (ops/selection.hpp): small queries and one small key per token, made from the layer's
// input, normalised where the family has such norms, rotated in their first n_rot values.
//
// Neighbouring cells may share a key, the mean of theirs.
//
// DeepSeek's (https://arxiv.org/abs/2512.02556) makes its queries from the short vector that attention's are made from,
// and weighs its heads by a matrix. It also turns queries and keys by a Hadamard matrix, for the sake of small types;
// that changes no score and is not done here.

#include "jig/arch/blocks/rope.hpp"
#include "jig/arch/memory.hpp"
#include "jig/arch/names.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.indexer.attn_q_b"> indexer_attn_q_b{};
inline constexpr tensor_tag<"blk.{}.indexer.attn_k"> indexer_attn_k{};
inline constexpr tensor_tag<"blk.{}.indexer.q_proj"> indexer_q_proj{};
inline constexpr tensor_tag<"blk.{}.indexer.k_proj"> indexer_k_proj{};
inline constexpr tensor_tag<"blk.{}.indexer.q_norm"> indexer_q_norm{};
inline constexpr tensor_tag<"blk.{}.indexer.k_norm"> indexer_k_norm{};
inline constexpr tensor_tag<"blk.{}.indexer.proj"> indexer_proj{};
}  // namespace t

namespace d {
constexpr u64 index_head(const hparams& hp, u32) { return hp.n_index_head; }
constexpr u64 dim_index(const hparams& hp, u32) { return hp.dim_index; }
constexpr u64 index_q(const hparams& hp, u32) { return u64{hp.n_index_head} * hp.dim_index; }
}  // namespace d

/// Checks what was read of an indexer. Errors: inconsistent, with the key.
inline result<void> check_indexer(std::string_view arch, const hparams& hp) noexcept {
  const auto bad = [&](std::string_view key, u32 got) {
    return fail(errc::inconsistent, key_name(arch, key).view()).got(got);
  };
  if (hp.dim_index < hp.n_rot) return bad("attention.indexer.key_length", hp.dim_index);
  if (hp.index_local > hp.index_top_k) return bad("attention.indexer.local_blocks", hp.index_local);
  return {};
}

/// Families whose indexer has one key for hp.index_shared neighbouring cells say so:
/// `static constexpr bool shares_index_keys = true`.
template <class M>
inline constexpr bool shares_index_keys = requires { M::architecture::shares_index_keys; };

/// The keys k of the batch's tokens as they are kept where cells share one: the last cell's becomes the mean of all of
/// theirs, finished as at the first one's position; the others' stay what the mean is made of.
template <class X, class M, class F>
constexpr void share_keys(X& x, const M& m, const batch& b, const select_args& args, const value& k, F&& finish) {
  const attend_args keys = args.keys();
  x.store(k, {}, keys, b);
  const value mean = x.load_keys(keys, b, args.shared), positions = x.make(b.n_tokens, 1);
  batch first = b;
  if (u32* p = positions.numbers()) {
    const u32 back = args.shared - 1;
    for (u32 t = 0; t < b.n_tokens; ++t) p[t] = b.position[t] < back ? 0 : b.position[t] - back;
    first.position = p;
  }
  finish(mean, x.rope_table(rope_args_of(m, b), first));
  for (u32 t = 0; positions.numbers() != nullptr && t < b.n_tokens; ++t)
    if ((b.cell[t] + 1) % args.shared == 0) x.copy(mat(k).only(t), mat(mean).only(t));
}

/// What layer il's indexer chooses. n: the layer's normed input [tokens, n_embd]; low: what attention's queries are
/// made from if that is done in two steps, else n.
template <class X, class M>
constexpr cell_choice select_cells(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                                   const mat& low, const value& rope_table) {
  const hparams& hp = m.hp();
  const f32 eps = spec.index_norm == norm_kind::layer ? 1e-6f : hp.norm_eps;
  const auto finish = [&](const value& v, u32 heads, const linear& norm, const value& table) {
    if (norm)
      x.norm_inplace(v, {.kind = spec.index_norm, .eps = eps, .group = hp.dim_index, .w = norm.w, .b = norm.bias});
    x.rope(v, heads, spec.index_rope, table);
  };
  const linear q_low = m.get(t::indexer_attn_q_b, il), k_own = m.get(t::indexer_attn_k, il);
  const value q = x.matmul(q_low ? low : n, q_low ? q_low : m.get(t::indexer_q_proj, il));
  finish(q, hp.n_index_head, m.get(t::indexer_q_norm, il), rope_table);
  const value k = x.matmul(n, k_own ? k_own : m.get(t::indexer_k_proj, il));
  value weights;
  if (const linear w = m.get(t::indexer_proj, il)) weights = x.matmul(n, w);
  const select_args args{.n_head = hp.n_index_head,
                         .dim = hp.dim_index,
                         .page_offset = index_page_offset(m, b.memory, il),
                         .top_k = hp.index_top_k,
                         .block = hp.index_block,
                         .n_local = hp.index_local,
                         .per_head = spec.index_per_head,
                         .shared = hp.index_shared};
  const auto finish_key = [&](const value& v, const value& table) {
    finish(v, 1, m.get(t::indexer_k_norm, il), table);
  };
  if constexpr (shares_index_keys<M>) share_keys(x, m, b, args, k, finish_key);
  else finish_key(k, rope_table);
  x.name("indexer_q", il, q), x.name("indexer_k", il, k), x.name("indexer_weights", il, weights);
  return x.select(q, weights, k, args, b);
}

}  // namespace jig
