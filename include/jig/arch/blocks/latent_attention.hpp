#pragma once
// Multi-head latent attention (DeepSeek V2, https://arxiv.org/abs/2405.04434): keys and values of all heads are made
// from one short vector per token, the latent, beside a rotated key that the heads share.
//
// Absorbed form: the matrix that would make keys from the latent is applied to the queries instead, and the one for the
// values to the result, so that memory holds the latent and the rotated key once per token: [latent | rotated]. Older
// files have both matrices in one (attn_kv_b) and are computed head by head, with keys [plain | rotated].

#include "jig/arch/blocks/attention.hpp"
#include "jig/arch/names.hpp"

namespace jig {

namespace d {
constexpr u64 lora_q(const hparams& hp, u32) { return hp.n_lora_q; }
constexpr u64 lora_kv(const hparams& hp, u32 il) { return hp.lora_kv(il); }
constexpr u64 kv_a(const hparams& hp, u32 il) { return u64{hp.lora_kv(il)} + hp.n_rot; }
constexpr u64 plain_k(const hparams& hp, u32 il) { return hp.latent_head_k(il) - hp.n_rot; }
constexpr u64 head_v(const hparams& hp, u32 il) { return hp.latent_head_v(il); }
constexpr u64 q_latent(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.latent_head_k(il); }
constexpr u64 kv_b(const hparams& hp, u32 il) { return hp.n_head[il] * (plain_k(hp, il) + hp.latent_head_v(il)); }
constexpr u64 out_latent(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.latent_head_v(il); }
}  // namespace d

namespace tensors {
constexpr bool low_rank_q(const hparams& hp, u32) { return hp.n_lora_q != 0; }
constexpr bool plain_q(const hparams& hp, u32) { return hp.n_lora_q == 0; }
constexpr bool absorbed(const hparams& hp, u32) { return hp.values_in_keys; }
constexpr bool not_absorbed(const hparams& hp, u32) { return !hp.values_in_keys; }

/// Latent attention in the layers that When names.
template <layer_test When>
inline constexpr std::array latent_attention_in = {
    matrix("blk.{}.attn_q", {d::embd, d::q_latent}, both<When, plain_q>),
    matrix("blk.{}.attn_q_a", {d::embd, d::lora_q}, both<When, low_rank_q>),
    tensor_row{"blk.{}.attn_q_a_norm", {d::lora_q}, bias::none, need::required, both<When, low_rank_q>},
    matrix("blk.{}.attn_q_b", {d::lora_q, d::q_latent}, both<When, low_rank_q>),
    matrix("blk.{}.attn_kv_a_mqa", {d::embd, d::kv_a}, When),
    tensor_row{"blk.{}.attn_kv_a_norm", {d::lora_kv}, bias::none, need::required, When},
    matrix("blk.{}.attn_kv_b", {d::lora_kv, d::kv_b}, both<When, not_absorbed>),
    matrix("blk.{}.attn_k_b", {d::plain_k, d::lora_kv, d::head}, both<When, absorbed>),
    matrix("blk.{}.attn_v_b", {d::lora_kv, d::head_v, d::head}, both<When, absorbed>),
    matrix("blk.{}.attn_output", {d::out_latent, d::embd}, When),
};
inline constexpr std::array latent_attention = latent_attention_in<every_layer>;

/// The indexer of DeepSeek V3.2 and relatives.
constexpr std::array<tensor_row, 4> latent_indexer(need presence = need::required, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.indexer.k_norm", {d::dim_index}, bias::required, presence, when},
          tensor_row{"blk.{}.indexer.proj", {d::embd, d::index_head}, bias::none, presence, when},
          tensor_row{"blk.{}.indexer.attn_k", {d::embd, d::dim_index}, bias::none, presence, when},
          tensor_row{"blk.{}.indexer.attn_q_b", {d::lora_q, d::index_q}, bias::none, presence, when}};
}
}  // namespace tensors

template <class M>
inline constexpr bool has_latent_attention = slots_of<typename M::architecture>.find(t::attn_kv_a_mqa.name).found;

/// Sizes and the scale of the scores, from the keys that were read; `complete` of the families with latent attention.
/// With YaRN the multiplier of the logarithm enters the scale squared. Errors: inconsistent, with the key.
inline result<void> complete_latent(std::string_view arch, hparams& hp) noexcept {
  const auto bad = [&](std::string_view key, u32 got) {
    return fail(errc::inconsistent, key_name(arch, key).view()).got(got);
  };
  hp.values_in_keys = hp.dim_k_head != 0 || hp.dim_v_head != 0;
  if (hp.values_in_keys) {
    if (hp.dim_k_head == 0 || hp.dim_v_head == 0) return bad("attention.key_length_mla", hp.dim_k_head);
    hp.dim_k = hp.n_lora_kv + hp.n_rot;
    hp.dim_v = hp.n_lora_kv;
    hp.n_head_kv = 1;
  } else {
    hp.dim_k_head = hp.dim_k;
    hp.dim_v_head = hp.dim_v;
    hp.n_head_kv = hp.n_head;
  }
  if (hp.dim_k_head <= hp.n_rot)
    return bad(hp.values_in_keys ? "attention.key_length_mla" : "attention.key_length", hp.dim_k_head);
  const bool yarn = hp.scaling == rope_scaling::yarn && hp.rope_factor > 1.0f;
  const f32 log = yarn ? 0.1f * std::log(hp.rope_factor) : 0.0f, multiplier = hp.yarn_log_multiplier / 0.1f;
  // Without a multiplier the angles' factor 1 + log stands in the scale, too.
  const f32 factor = hp.rope_attn_factor * (multiplier == 0.0f ? 1.0f + log : 1.0f + multiplier * log);
  hp.attn_scale = factor * factor * inverse_sqrt(hp.dim_k_head);
  if (multiplier != 0.0f) hp.yarn_log_multiplier = 1.0f;  // cancels the angles' factor
  return {};
}

/// The absorbed form behind the projections. q: [tokens, heads * latent_head_k], kv: [latent | rotated] per token;
/// the result: [tokens, heads * latent_head_v]. chosen: the cells that are seen, or null.
template <class X, class M>
constexpr value attend_latents(X& x, const M& m, const batch& b, u32 il, value q, const mat& kv,
                               const attend_args& args, [[maybe_unused]] const cell_choice* chosen) {
  const u32 heads = args.n_head, lora = args.dim_v, rot = m.hp().n_rot;
  const u32 plain = m.hp().latent_head_k(il) - rot, dim_v = m.hp().latent_head_v(il);
  value wide = x.make(q.rows(), heads * args.dim_k);
  const mat from = q, to = wide;
  x.matmul_heads(from.heads(heads, 0, plain), m.get(t::attn_k_b, il), to.heads(heads, 0, lora));
  x.copy(to.heads(heads, lora, rot), from.heads(heads, plain, rot));
  q = value();
  value latents;
  if constexpr (has_indexer<M>)
    if (chosen != nullptr) latents = x.attend_chosen(wide, kv, kv.columns(0, lora), args, *chosen, b);
  if (latents.cols() == 0) latents = x.attend(wide, kv, kv.columns(0, lora), args, b);
  wide = value();
  value mixed = x.make(kv.rows, heads * dim_v);
  const mat in = latents, out = mixed;
  x.matmul_heads(in.heads(heads, 0, lora), m.get(t::attn_v_b, il), out.heads(heads, 0, dim_v));
  return mixed;
}

/// Attention of layer il: n (normed) [tokens, n_embd] -> output projection's result [tokens, n_embd]. A layer with an
/// indexer writes `chosen`; layers without a window see that.
template <class X, class M>
constexpr value latent_attention(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                                 const rope_tables& tables, [[maybe_unused]] cell_choice* chosen = nullptr) {
  const hparams& hp = m.hp();
  const u32 heads = hp.n_head[il], rot = hp.n_rot, lora = hp.lora_kv(il);
  const u32 plain = hp.latent_head_k(il) - rot, dim_v = hp.latent_head_v(il);
  const auto norm = [&](const mat& v, const linear& w) {
    x.norm_inplace(v, {.kind = spec.norm, .eps = hp.norm_eps, .group = v.cols, .w = w.w});
  };
  const bool windowed = spec.windowed && spec.windowed(hp, il);
  const value& table = windowed && tables.windowed.cols() != 0 ? tables.windowed : tables.all;
  value q;
  if (const linear down = m.get(t::attn_q_a, il)) {
    const value low = x.matmul(n, down);
    norm(low, m.get(t::attn_q_a_norm, il));
    if constexpr (has_indexer<M>)
      if (selects(m, il)) *chosen = select_cells(x, spec, m, b, il, n, low, tables.all);
    q = x.matmul(low, m.get(t::attn_q_b, il));
  } else {
    q = x.matmul(n, m.get(t::attn_q, il));
  }
  x.rope(q, heads, spec.rope, table, plain);
  if (hp.temperature_scale != 0.0f)
    x.temperature(q, {hp.temperature_scale, hp.temperature_length, spec.temperature_offset}, b);

  value kv = x.matmul(n, m.get(t::attn_kv_a_mqa, il));
  const mat latent = kv.columns(0, lora), rotated = kv.columns(lora, rot);
  norm(latent, m.get(t::attn_kv_a_norm, il));
  if (const linear w = m.get(t::attn_k_norm, il)) norm(rotated, w);
  x.rope(rotated, 1, spec.rope, table);

  attend_args args = make_attend_args(spec, m, b, il);
  if (windowed && hp.dim_k_head_window != 0) args.scale = inverse_sqrt(hp.dim_k_head_window);
  value mixed;
  if (hp.values_in_keys) {
    mixed = attend_latents(x, m, b, il, std::move(q), kv, args, windowed ? nullptr : chosen);
  } else {
    const value both = x.matmul(latent, m.get(t::attn_kv_b, il));
    const value k = x.make(n.rows, heads * hp.dim_k), v = x.make(n.rows, heads * dim_v);
    x.copy(mat(k).heads(heads, 0, plain), mat(both).heads(heads, 0, plain));
    for (u32 h = 0; h < heads; ++h) x.copy(k.columns(h * hp.dim_k + plain, rot), rotated);
    x.copy(mat(v).heads(heads, 0, dim_v), mat(both).heads(heads, plain, dim_v));
    mixed = x.attend(q, k, v, args, b);
  }
  x.name("kqv_out", il, mixed);
  gate_heads(x, spec, m, il, n, mixed);
  return x.matmul(mixed, m.get(t::attn_output, il));
}

}  // namespace jig
