#pragma once
// What Gemma 3n and 4 add to a decoder (https://ai.google.dev/gemma/docs/gemma-3n): inputs of each layer's own, made of
// the token alone, and layers that attend to the keys and values of an earlier one.

#include "jig/arch/blocks/decoder.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"per_layer_model_proj"> per_layer_model_proj{};
inline constexpr tensor_tag<"per_layer_proj_norm"> per_layer_proj_norm{};
inline constexpr tensor_tag<"blk.{}.inp_gate"> inp_gate{};
inline constexpr tensor_tag<"blk.{}.proj"> layer_proj{};
inline constexpr tensor_tag<"blk.{}.post_norm"> layer_post_norm{};
}  // namespace t

namespace d {
constexpr u64 layer_input(const hparams& hp, u32) { return hp.n_layer_input; }
constexpr u64 layer_inputs(const hparams& hp, u32) { return u64{hp.n_layer_input} * hp.n_layer; }
}  // namespace d

/// Layers with keys and values of their own: all but the last hp.n_shared_kv.
constexpr bool owns_kv(const hparams& hp, u32 il) { return il + hp.n_shared_kv < hp.n_layer; }
constexpr bool shares_kv(const hparams& hp, u32 il) { return !owns_kv(hp, il); }
constexpr bool has_layer_inputs(const hparams& hp, u32) { return hp.n_layer_input != 0; }

namespace tensors {
inline constexpr std::array layer_inputs = {
    matrix("per_layer_token_embd", {d::layer_inputs, d::vocab}, has_layer_inputs),
    matrix("per_layer_model_proj", {d::embd, d::layer_inputs}, has_layer_inputs),
    numbers("per_layer_proj_norm", {d::layer_input}, has_layer_inputs),
    matrix("blk.{}.inp_gate", {d::embd, d::layer_input}, has_layer_inputs),
    matrix("blk.{}.proj", {d::layer_input, d::embd}, has_layer_inputs),
    numbers("blk.{}.post_norm", {d::embd}, has_layer_inputs),
};
/// Attention with norms of heads; keys and values in the layers that own them. Without a matrix for the values, they
/// are the keys before their norm. Layers that share may still have the tensors in the file; nothing reads them.
inline constexpr std::array shared_kv_attention = {
    tensor_row{"blk.{}.attn_q", {d::embd, d::q}},
    matrix("blk.{}.attn_k", {d::embd, d::k}, owns_kv),
    matrix("blk.{}.attn_v", {d::embd, d::v}, owns_kv, need::optional),
    tensor_row{"blk.{}.attn_output", {d::attn_out, d::embd}},
    tensor_row{"blk.{}.attn_q_norm", {d::head_k}},
    numbers("blk.{}.attn_k_norm", {d::head_k}, owns_kv),
    matrix("blk.{}.attn_k", {d::embd, d::k}, shares_kv, need::optional),
    matrix("blk.{}.attn_v", {d::embd, d::v}, shares_kv, need::optional),
    tensor_row{"blk.{}.attn_k_norm", {d::head_k}, bias::none, need::optional, shares_kv},
};
}  // namespace tensors

/// The inputs of all layers, made of token and embedding h: [tokens, n_layer_input * n_layer].
template <class X, class M>
constexpr value make_layer_inputs(X& x, const M& m, const batch& b, const mat& h) {
  const hparams& hp = m.hp();
  const u32 width = hp.n_layer_input;
  value own = x.embed(m.get(t::per_layer_token_embd).w, b);
  x.scale(own, 1.0f / inverse_sqrt(width));
  const value made = x.matmul(h, m.get(t::per_layer_model_proj));
  x.scale(made, inverse_sqrt(hp.n_embd));
  x.norm_inplace(made, {.eps = hp.norm_eps, .group = width, .w = m.get(t::per_layer_proj_norm).w});
  x.add(own, made);
  x.scale(own, inverse_sqrt(2));
  return own;
}

/// What layer il makes of its input: norm(proj(gelu(gate h) * input)): [tokens, n_embd].
template <class X, class M>
constexpr value layer_input_branch(X& x, const M& m, u32 il, const mat& h, const value& inputs) {
  const u32 width = m.hp().n_layer_input;
  const value g = x.matmul(h, m.get(t::inp_gate, il));
  x.activate(g, activation::gelu);
  x.multiply(g, inputs.columns(il * width, width));
  value y = x.matmul(g, m.get(t::layer_proj, il));
  x.norm_inplace(y, {.eps = m.hp().norm_eps, .group = y.cols(), .w = m.get(t::layer_post_norm, il).w});
  return y;
}

/// Attention whose heads are all normalised, values too; layers without keys and values of their own attend to those of
/// the last layer that has them and sees as far. n: [tokens, n_embd], normed.
template <class X, class M>
constexpr value shared_kv_attention(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                                    const rope_tables& tables) {
  const hparams& hp = m.hp();
  const bool windowed = spec.windowed(hp, il);
  const value& table = table_of(tables, spec, hp, il);
  attend_args args = make_attend_args(spec, m, b, il);
  const value q = x.matmul(n, m.get(t::attn_q, il));
  norm_heads(x, spec, hp, q, m.get(t::attn_q_norm, il));
  x.rope(q, args.n_head, spec.rope, table);
  value mixed;
  if (owns_kv(hp, il)) {
    const value k = x.matmul(n, m.get(t::attn_k, il));
    const linear own = m.get(t::attn_v, il);
    value v;
    if (own) {
      v = x.matmul(n, own);
    } else {
      v = x.make(k.rows(), k.cols());
      x.copy(v, k);
    }
    norm_heads(x, spec, hp, k, m.get(t::attn_k_norm, il));
    x.norm_inplace(v, {.eps = hp.norm_eps, .group = args.dim_v});
    x.rope(k, args.n_head_kv, spec.rope, table);
    mixed = x.attend(q, k, v, args, b);
  } else {
    const u32 source = hp.n_layer - hp.n_shared_kv - (windowed ? 2 : 1);
    args.n_head_kv = hp.n_head_kv[source];
    args.page_offset = kv_page_offset(m, b.memory, source);
    mixed = x.attend_again(q, args, b);
  }
  x.name("kqv_out", il, mixed);
  return x.matmul(mixed, m.get(t::attn_output, il));
}

/// Whether the layers that share keys and values can: their sources must exist, see as far, and have heads of the same
/// size. Errors: inconsistent, with the key.
template <class Arch>
result<void> check_shared_kv(const hparams& hp) noexcept {
  const auto bad = [&](u32 got) {
    return fail(errc::inconsistent, key_name(Arch::name, "attention.shared_kv_layers").view()).got(got);
  };
  if (hp.n_shared_kv == 0) return {};
  if (hp.n_shared_kv + 2 > hp.n_layer) return bad(hp.n_shared_kv);
  for (u32 il = hp.n_layer - hp.n_shared_kv; il < hp.n_layer; ++il) {
    const bool windowed = Arch::spec.windowed(hp, il);
    const u32 source = hp.n_layer - hp.n_shared_kv - (windowed ? 2 : 1);
    const u32 heads = hp.n_head_kv[source];
    if (Arch::spec.windowed(hp, source) != windowed || heads == 0 || hp.n_head[il] % heads != 0) return bad(il);
  }
  return {};
}

}  // namespace jig
