#pragma once
// Tensor tables: which tensors an architecture has, their shapes as functions of the hyperparameters, and when
// they are there.
//
// A row names a tensor without its ".weight" ending; "{}" stands for the layer. A matrix may come with ".bias" (if
// the row says so) and with ".scale" (always allowed: a factor of the product). Tables are constexpr arrays, put
// together from the groups below with `join`; from them follow validation, the weight slots, the memory plan and
// the synthetic test models. Names and shapes are those of the GGUF files.

#include <array>
#include <string_view>

#include "jig/arch/keys.hpp"

namespace jig {

/// A name as a type, so that `m.get(t::attn_q, il)` finds its slot at compile time.
template <usize N>
struct fixed_name {
  char text[N];
  constexpr fixed_name(const char (&s)[N]) noexcept {
    for (usize i = 0; i < N; ++i) text[i] = s[i];
  }
};
/// One name behind the other.
template <usize A, usize B>
constexpr auto operator+(const fixed_name<A>& a, const fixed_name<B>& b) noexcept {
  char both[A + B - 1];  // the first name's end goes
  for (usize i = 0; i < A - 1; ++i) both[i] = a.text[i];
  for (usize i = 0; i < B; ++i) both[A - 1 + i] = b.text[i];
  return fixed_name<A + B - 1>(both);
}
template <fixed_name Name>
struct tensor_tag {
  static constexpr std::string_view name{Name.text, sizeof(Name.text) - 1};
};

/// The tensors by their names in the file, as tags.
namespace t {
inline constexpr tensor_tag<"token_embd"> token_embd{};
inline constexpr tensor_tag<"token_embd_norm"> token_embd_norm{};
inline constexpr tensor_tag<"per_layer_token_embd"> per_layer_token_embd{};
inline constexpr tensor_tag<"position_embd"> position_embd{};
inline constexpr tensor_tag<"token_types"> token_types{};
inline constexpr tensor_tag<"output_norm"> output_norm{};
inline constexpr tensor_tag<"output"> output{};
inline constexpr tensor_tag<"cls"> cls{};
inline constexpr tensor_tag<"cls.output"> cls_output{};
inline constexpr tensor_tag<"rope_freqs"> rope_freqs{};
inline constexpr tensor_tag<"rope_factors_long"> rope_factors_long{};
inline constexpr tensor_tag<"rope_factors_short"> rope_factors_short{};
inline constexpr tensor_tag<"blk.{}.attn_norm"> attn_norm{};
inline constexpr tensor_tag<"blk.{}.attn_norm_2"> attn_norm_2{};
inline constexpr tensor_tag<"blk.{}.attn_qkv"> attn_qkv{};
inline constexpr tensor_tag<"blk.{}.attn_q"> attn_q{};
inline constexpr tensor_tag<"blk.{}.attn_k"> attn_k{};
inline constexpr tensor_tag<"blk.{}.attn_v"> attn_v{};
inline constexpr tensor_tag<"blk.{}.attn_q_a"> attn_q_a{};
inline constexpr tensor_tag<"blk.{}.attn_q_a_norm"> attn_q_a_norm{};
inline constexpr tensor_tag<"blk.{}.attn_q_b"> attn_q_b{};
inline constexpr tensor_tag<"blk.{}.attn_kv_a_mqa"> attn_kv_a_mqa{};
inline constexpr tensor_tag<"blk.{}.attn_kv_a_norm"> attn_kv_a_norm{};
inline constexpr tensor_tag<"blk.{}.attn_kv_b"> attn_kv_b{};
inline constexpr tensor_tag<"blk.{}.attn_k_b"> attn_k_b{};
inline constexpr tensor_tag<"blk.{}.attn_v_b"> attn_v_b{};
inline constexpr tensor_tag<"blk.{}.attn_q_norm"> attn_q_norm{};
inline constexpr tensor_tag<"blk.{}.attn_k_norm"> attn_k_norm{};
inline constexpr tensor_tag<"blk.{}.attn_sub_norm"> attn_sub_norm{};
inline constexpr tensor_tag<"blk.{}.attn_sinks"> attn_sinks{};
inline constexpr tensor_tag<"blk.{}.attn_gate"> attn_gate{};
inline constexpr tensor_tag<"blk.{}.attn_output"> attn_output{};
inline constexpr tensor_tag<"blk.{}.post_attention_norm"> post_attention_norm{};
inline constexpr tensor_tag<"blk.{}.attn_output_norm"> attn_output_norm{};
inline constexpr tensor_tag<"blk.{}.layer_output_norm"> layer_output_norm{};
inline constexpr tensor_tag<"blk.{}.layer_output_scale"> layer_output_scale{};
inline constexpr tensor_tag<"blk.{}.ffn_norm"> ffn_norm{};
inline constexpr tensor_tag<"blk.{}.ffn_norm_exps"> ffn_norm_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_gate"> ffn_gate{};
inline constexpr tensor_tag<"blk.{}.ffn_up"> ffn_up{};
inline constexpr tensor_tag<"blk.{}.ffn_down"> ffn_down{};
inline constexpr tensor_tag<"blk.{}.ffn_sub_norm"> ffn_sub_norm{};
inline constexpr tensor_tag<"blk.{}.post_ffw_norm"> post_ffw_norm{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_inp"> ffn_gate_inp{};
inline constexpr tensor_tag<"blk.{}.exp_probs_b"> exp_probs_b{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_exps"> ffn_gate_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_up_exps"> ffn_up_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_up_exps"> ffn_gate_up_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_down_exps"> ffn_down_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_latent_down"> ffn_latent_down{};
inline constexpr tensor_tag<"blk.{}.ffn_latent_up"> ffn_latent_up{};
inline constexpr tensor_tag<"blk.{}.ffn_routed_down"> ffn_routed_down{};
inline constexpr tensor_tag<"blk.{}.ffn_routed_norm"> ffn_routed_norm{};
inline constexpr tensor_tag<"blk.{}.ffn_routed_up"> ffn_routed_up{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_inp_shexp"> ffn_gate_inp_shexp{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_shexp"> ffn_gate_shexp{};
inline constexpr tensor_tag<"blk.{}.ffn_up_shexp"> ffn_up_shexp{};
inline constexpr tensor_tag<"blk.{}.ffn_down_shexp"> ffn_down_shexp{};
}  // namespace t

/// A dimension of layer il, from the hyperparameters.
using dim_fn = u64 (*)(const hparams& hp, u32 il);

namespace d {
constexpr u64 one(const hparams&, u32) { return 1; }
constexpr u64 vocab(const hparams& hp, u32) { return hp.n_vocab; }
constexpr u64 embd(const hparams& hp, u32) { return hp.n_embd; }
constexpr u64 q(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.head_k(il); }
constexpr u64 k(const hparams& hp, u32 il) { return u64{hp.n_head_kv[il]} * hp.head_k(il); }
constexpr u64 v(const hparams& hp, u32 il) { return u64{hp.n_head_kv[il]} * hp.head_v(il); }
constexpr u64 qkv(const hparams& hp, u32 il) { return q(hp, il) + k(hp, il) + v(hp, il); }
constexpr u64 attn_out(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.head_v(il); }
constexpr u64 ff(const hparams& hp, u32 il) { return hp.n_ff[il]; }
constexpr u64 ff_twice(const hparams& hp, u32 il) { return u64{2} * hp.n_ff[il]; }
constexpr u64 expert(const hparams& hp, u32) { return hp.n_expert; }
constexpr u64 latent_expert(const hparams& hp, u32) { return hp.n_latent_expert; }
constexpr u64 expert_in(const hparams& hp, u32) { return hp.n_latent_expert ? hp.n_latent_expert : hp.n_embd; }
constexpr u64 ff_expert(const hparams& hp, u32 il) { return hp.n_ff_expert ? hp.n_ff_expert : hp.n_ff[il]; }
constexpr u64 ff_expert_twice(const hparams& hp, u32 il) { return 2 * ff_expert(hp, il); }
constexpr u64 ff_shared(const hparams& hp, u32 il) {
  return hp.n_ff_shared ? hp.n_ff_shared : ff_expert(hp, il) * (hp.n_expert_shared ? hp.n_expert_shared : 1);
}
constexpr u64 ff_shared_twice(const hparams& hp, u32 il) { return 2 * ff_shared(hp, il); }
constexpr u64 head_k(const hparams& hp, u32 il) { return hp.head_k(il); }
constexpr u64 head(const hparams& hp, u32 il) { return hp.n_head[il]; }
constexpr u64 head_kv(const hparams& hp, u32 il) { return hp.n_head_kv[il]; }
constexpr u64 token_types(const hparams& hp, u32) { return hp.n_token_types; }
constexpr u64 context(const hparams& hp, u32) { return hp.n_ctx_train; }
constexpr u64 half_rot(const hparams& hp, u32) { return hp.n_rot / 2; }
}  // namespace d

/// Whether layer il has the tensor at all.
using layer_test = bool (*)(const hparams& hp, u32 il);
constexpr bool every_layer(const hparams&, u32) { return true; }
/// Two tests as one.
template <layer_test A, layer_test B>
constexpr bool both(const hparams& hp, u32 il) {
  return A(hp, il) && B(hp, il);
}
constexpr bool is_moe(const hparams& hp, u32 il) {
  return hp.n_expert != 0 && il >= hp.n_dense_first && (hp.moe_step <= 1 || (il + 1) % hp.moe_step == 0);
}
constexpr bool is_dense(const hparams& hp, u32 il) { return !is_moe(hp, il); }
constexpr bool has_experts(const hparams& hp, u32) { return hp.n_expert != 0; }
constexpr bool has_shared(const hparams& hp, u32 il) {
  return is_moe(hp, il) && (hp.n_ff_shared != 0 || hp.n_expert_shared != 0);
}

enum class bias : u8 { none, optional, required };

/// One tensor. shape: ne[0] to ne[3], as far as they are not null; ne[0] is the input side of a matrix.
struct tensor_row {
  std::string_view name;
  std::array<dim_fn, 4> shape;
  bias with_bias = bias::none;
  need presence = need::required;
  layer_test when = nullptr;            ///< null: in every layer
  std::string_view unless = {};         ///< absent if this tensor is there instead
  std::string_view with = {};           ///< absent unless this tensor is there
  std::string_view ending = ".weight";  ///< of the tensor itself in the file
  bool plain_numbers = false;           ///< f32 values that no product reads, whatever the shape
  bool with_scale = true;               ///< a matrix may have a scale
  bool or_more_rows = false;            ///< files may have more rows than are read
  bool tall = false;                    ///< stacked matrices may be one matrix in the file
  dim_fn ids_below = nullptr;           ///< i32 numbers from 0 up to this that no product reads; null: none

  constexpr bool per_layer() const noexcept { return name.find("{}") != name.npos; }
  /// Read by matrix products: may be quantised and have a scale.
  constexpr bool is_matrix() const noexcept { return shape[1] != nullptr && !plain_numbers && !ids_below; }
  constexpr bool has_scale() const noexcept { return is_matrix() && with_scale; }
  constexpr u32 slots() const noexcept { return 1 + (with_bias != bias::none) + has_scale(); }
};

/// A row of f32 numbers that no product reads, whatever the shape.
constexpr tensor_row numbers(std::string_view name, std::array<dim_fn, 4> shape, layer_test when = nullptr,
                             std::string_view ending = ".weight", bias b = bias::none, need presence = need::required) {
  return {name, shape, b, presence, when, {}, {}, ending, true};
}

/// A row of a matrix, or of stacked ones, in the layers that `when` names.
constexpr tensor_row matrix(std::string_view name, std::array<dim_fn, 4> shape, layer_test when = nullptr,
                            need presence = need::required, bias b = bias::none) {
  return {name, shape, b, presence, when};
}

/// The row, absent if another tensor is there instead.
constexpr tensor_row unless(std::string_view other, tensor_row row) {
  row.unless = other;
  return row;
}

/// The row of a matrix whose ".scale", if there is one, is something else.
constexpr tensor_row unscaled(tensor_row row) {
  row.with_scale = false;
  return row;
}

/// The row of a table whose last rows may be padding.
constexpr tensor_row padded(tensor_row row) {
  row.or_more_rows = true;
  return row;
}

/// The row of stacked matrices that may be one matrix in the file.
constexpr tensor_row stacked(tensor_row row) {
  row.tall = true;
  return row;
}

/// A row of i32 numbers from 0 up to `end` that no product reads.
constexpr tensor_row id_table(std::string_view name, std::array<dim_fn, 4> shape, dim_fn end,
                              layer_test when = nullptr) {
  tensor_row row{name, shape, bias::none, need::required, when};
  row.ids_below = end;
  return row;
}

/// The row, absent unless another tensor is there. Rows of one name share their slots: shapes may depend on the file.
constexpr tensor_row beside(std::string_view other, tensor_row row) {
  row.with = other;
  return row;
}

namespace tensors {

/// One row as a group, for tensors that only some families have.
constexpr std::array<tensor_row, 1> one(const tensor_row& row) { return {row}; }

/// The embedding alone, for families whose ends are special.
inline constexpr std::array embedding = {tensor_row{"token_embd", {d::embd, d::vocab}}};

/// Embedding, final norm, and an output matrix that may be tied to the embedding.
constexpr std::array<tensor_row, 3> decoder(bias norm = bias::none, bias output = bias::none) {
  return {tensor_row{"token_embd", {d::embd, d::vocab}}, tensor_row{"output_norm", {d::embd}, norm},
          tensor_row{"output", {d::embd, d::vocab}, output, need::optional}};
}

/// Per-pair divisors of the rope frequencies (Llama 3).
inline constexpr std::array rope_factors = {
    tensor_row{"rope_freqs", {d::half_rot}, bias::none, need::optional},
};

/// LongRoPE's two sets of divisors.
inline constexpr std::array longrope_factors = {
    tensor_row{"rope_factors_long", {d::half_rot}, bias::none, need::optional},
    tensor_row{"rope_factors_short", {d::half_rot}, bias::none, need::optional},
};

/// A norm over the hidden state, in every layer.
constexpr std::array<tensor_row, 1> norm(std::string_view name, bias with_bias = bias::none,
                                         need presence = need::required, std::string_view ending = ".weight") {
  return {tensor_row{name, {d::embd}, with_bias, presence, nullptr, {}, {}, ending}};
}

/// Attention: separate q, k, v or one fused matrix, and the output projection.
constexpr std::array<tensor_row, 5> attention(bias qkv = bias::none, bias out = bias::none, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.attn_qkv", {d::embd, d::qkv}, qkv, need::optional, when},
          tensor_row{"blk.{}.attn_q", {d::embd, d::q}, qkv, need::required, when, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_k", {d::embd, d::k}, qkv, need::required, when, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_v", {d::embd, d::v}, qkv, need::required, when, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_output", {d::attn_out, d::embd}, out, need::required, when}};
}

/// Norms of queries and keys: over each head, or over all heads together.
constexpr std::array<tensor_row, 2> head_norms(need presence = need::required, bias with_bias = bias::none) {
  return {tensor_row{"blk.{}.attn_q_norm", {d::head_k}, with_bias, presence},
          tensor_row{"blk.{}.attn_k_norm", {d::head_k}, with_bias, presence}};
}
inline constexpr std::array wide_qk_norms = {
    tensor_row{"blk.{}.attn_q_norm", {d::q}},
    tensor_row{"blk.{}.attn_k_norm", {d::k}},
};

/// Norms with weights of their own for each head.
inline constexpr std::array norms_per_head = {
    numbers("blk.{}.attn_q_norm", {d::head_k, d::head}, nullptr, ".weight", bias::none, need::optional),
    numbers("blk.{}.attn_k_norm", {d::head_k, d::head_kv}, nullptr, ".weight", bias::none, need::optional),
};

/// Attention sinks: a score per head.
constexpr std::array<tensor_row, 1> sinks(need presence = need::required, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.attn_sinks", {d::head}, bias::none, presence, when}};
}

/// Gated feed-forward, in the layers that `when` names.
constexpr std::array<tensor_row, 3> gated(bias with_bias = bias::none, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.ffn_gate", {d::embd, d::ff}, with_bias, need::required, when},
          tensor_row{"blk.{}.ffn_up", {d::embd, d::ff}, with_bias, need::required, when},
          tensor_row{"blk.{}.ffn_down", {d::ff, d::embd}, with_bias, need::required, when}};
}

/// Plain feed-forward: up, activation, down.
constexpr std::array<tensor_row, 2> plain(bias with_bias = bias::none, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.ffn_up", {d::embd, d::ff}, with_bias, need::required, when},
          tensor_row{"blk.{}.ffn_down", {d::ff, d::embd}, with_bias, need::required, when}};
}

/// A whole decoder in llama's manner: RMS norms in front of attention and of a gated feed-forward.
inline constexpr auto gated_decoder =
    join(decoder(), norm(t::attn_norm.name), attention(), norm(t::ffn_norm.name), gated());

/// A whole decoder with layer norms in front of attention and of a plain feed-forward.
inline constexpr auto plain_decoder =
    join(decoder(bias::required), norm(t::attn_norm.name, bias::required), attention(bias::optional, bias::optional),
         norm(t::ffn_norm.name, bias::required), plain(bias::optional));

/// Gated feed-forward whose gate and up matrices are one, gate first.
inline constexpr std::array fused_gated = {
    tensor_row{"blk.{}.ffn_up", {d::embd, d::ff_twice}},
    tensor_row{"blk.{}.ffn_down", {d::ff, d::embd}},
};

/// Gated experts with their router, in the layers that the hyperparameters name.
constexpr std::array<tensor_row, 4> experts_with(bias b) {
  return {tensor_row{"blk.{}.ffn_gate_inp", {d::embd, d::expert}, b, need::required, is_moe},
          tensor_row{"blk.{}.ffn_gate_exps", {d::expert_in, d::ff_expert, d::expert}, b, need::required, is_moe},
          tensor_row{"blk.{}.ffn_up_exps", {d::expert_in, d::ff_expert, d::expert}, b, need::required, is_moe},
          tensor_row{"blk.{}.ffn_down_exps", {d::ff_expert, d::expert_in, d::expert}, b, need::required, is_moe}};
}
inline constexpr std::array experts = experts_with(bias::none);

/// Layers that are dense or have experts, as the file's tensors say.
constexpr std::array<tensor_row, 8> dense_or_experts_by(std::string_view router) {
  return {tensor_row{router, {d::embd, d::expert}, bias::none, need::optional},
          unless(router, {"blk.{}.ffn_gate", {d::embd, d::ff}}),
          unless(router, {"blk.{}.ffn_up", {d::embd, d::ff}}),
          unless(router, {"blk.{}.ffn_down", {d::ff, d::embd}}),
          numbers("blk.{}.exp_probs_b", {d::expert}, nullptr, ".bias", bias::none, need::optional),
          beside(router, {"blk.{}.ffn_gate_exps", {d::embd, d::ff_expert, d::expert}}),
          beside(router, {"blk.{}.ffn_up_exps", {d::embd, d::ff_expert, d::expert}}),
          beside(router, {"blk.{}.ffn_down_exps", {d::ff_expert, d::embd, d::expert}})};
}
inline constexpr std::array dense_or_experts = dense_or_experts_by(t::ffn_gate_inp.name);

/// The bias of the choice of experts. In most files it is a bias without a weight.
constexpr std::array<tensor_row, 1> selection_bias(need presence, std::string_view ending = ".bias") {
  return {tensor_row{"blk.{}.exp_probs_b", {d::expert}, bias::none, presence, is_moe, {}, {}, ending}};
}

/// Experts that every token uses, as one gated feed-forward.
constexpr std::array<tensor_row, 3> shared_experts(layer_test when = is_moe, std::string_view with = {}) {
  return {beside(with, matrix("blk.{}.ffn_gate_shexp", {d::embd, d::ff_shared}, when)),
          beside(with, matrix("blk.{}.ffn_up_shexp", {d::embd, d::ff_shared}, when)),
          beside(with, matrix("blk.{}.ffn_down_shexp", {d::ff_shared, d::embd}, when))};
}

}  // namespace tensors
}  // namespace jig
