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
template <fixed_name Name>
struct tensor_tag {
  static constexpr std::string_view name{Name.text, sizeof(Name.text) - 1};
};

/// The tensors by their names in the file, as tags.
namespace t {
inline constexpr tensor_tag<"token_embd"> token_embd{};
inline constexpr tensor_tag<"output_norm"> output_norm{};
inline constexpr tensor_tag<"output"> output{};
inline constexpr tensor_tag<"rope_freqs"> rope_freqs{};
inline constexpr tensor_tag<"blk.{}.attn_norm"> attn_norm{};
inline constexpr tensor_tag<"blk.{}.attn_qkv"> attn_qkv{};
inline constexpr tensor_tag<"blk.{}.attn_q"> attn_q{};
inline constexpr tensor_tag<"blk.{}.attn_k"> attn_k{};
inline constexpr tensor_tag<"blk.{}.attn_v"> attn_v{};
inline constexpr tensor_tag<"blk.{}.attn_output"> attn_output{};
inline constexpr tensor_tag<"blk.{}.ffn_norm"> ffn_norm{};
inline constexpr tensor_tag<"blk.{}.ffn_gate"> ffn_gate{};
inline constexpr tensor_tag<"blk.{}.ffn_up"> ffn_up{};
inline constexpr tensor_tag<"blk.{}.ffn_down"> ffn_down{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_inp"> ffn_gate_inp{};
inline constexpr tensor_tag<"blk.{}.ffn_gate_exps"> ffn_gate_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_up_exps"> ffn_up_exps{};
inline constexpr tensor_tag<"blk.{}.ffn_down_exps"> ffn_down_exps{};
}  // namespace t

/// A dimension of layer il, from the hyperparameters.
using dim_fn = u64 (*)(const hparams& hp, u32 il);

namespace d {
constexpr u64 vocab(const hparams& hp, u32) { return hp.n_vocab; }
constexpr u64 embd(const hparams& hp, u32) { return hp.n_embd; }
constexpr u64 q(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.dim_k; }
constexpr u64 k(const hparams& hp, u32 il) { return u64{hp.n_head_kv[il]} * hp.dim_k; }
constexpr u64 v(const hparams& hp, u32 il) { return u64{hp.n_head_kv[il]} * hp.dim_v; }
constexpr u64 qkv(const hparams& hp, u32 il) { return q(hp, il) + k(hp, il) + v(hp, il); }
constexpr u64 attn_out(const hparams& hp, u32 il) { return u64{hp.n_head[il]} * hp.dim_v; }
constexpr u64 ff(const hparams& hp, u32 il) { return hp.n_ff[il]; }
constexpr u64 expert(const hparams& hp, u32) { return hp.n_expert; }
constexpr u64 half_rot(const hparams& hp, u32) { return hp.n_rot / 2; }
}  // namespace d

/// Whether layer il has the tensor at all.
using layer_test = bool (*)(const hparams& hp, u32 il);
constexpr bool is_dense(const hparams& hp, u32) { return hp.n_expert == 0; }
constexpr bool is_moe(const hparams& hp, u32) { return hp.n_expert != 0; }

enum class bias : u8 { none, optional, required };

/// One tensor. shape: ne[0], ne[1], ne[2], as far as they are not null; ne[0] is the input side of a matrix.
struct tensor_row {
  std::string_view name;
  std::array<dim_fn, 3> shape;
  bias with_bias = bias::none;
  need presence = need::required;
  layer_test when = nullptr;     ///< null: in every layer
  std::string_view unless = {};  ///< absent if this tensor is there instead

  constexpr bool per_layer() const noexcept { return name.find("{}") != name.npos; }
  constexpr bool is_matrix() const noexcept { return shape[1] != nullptr; }
  constexpr u32 slots() const noexcept { return 1 + (with_bias != bias::none) + is_matrix(); }
};

namespace tensors {

/// Embedding, final norm, and an output matrix that may be tied to the embedding.
inline constexpr std::array decoder = {
    tensor_row{"token_embd", {d::embd, d::vocab}},
    tensor_row{"output_norm", {d::embd}},
    tensor_row{"output", {d::embd, d::vocab}, bias::none, need::optional},
};

/// Per-pair divisors of the rope frequencies (Llama 3).
inline constexpr std::array rope_factors = {
    tensor_row{"rope_freqs", {d::half_rot}, bias::none, need::optional},
};

/// Attention with its norm: separate q, k, v or one fused matrix.
constexpr std::array<tensor_row, 6> attention(bias qkv, bias out) {
  return {tensor_row{"blk.{}.attn_norm", {d::embd}},
          tensor_row{"blk.{}.attn_qkv", {d::embd, d::qkv}, qkv, need::optional},
          tensor_row{"blk.{}.attn_q", {d::embd, d::q}, qkv, need::required, nullptr, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_k", {d::embd, d::k}, qkv, need::required, nullptr, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_v", {d::embd, d::v}, qkv, need::required, nullptr, "blk.{}.attn_qkv"},
          tensor_row{"blk.{}.attn_output", {d::attn_out, d::embd}, out}};
}

/// Gated feed-forward with its norm, in the layers that `when` names.
constexpr std::array<tensor_row, 4> gated_feed_forward(bias with_bias, layer_test when = nullptr) {
  return {tensor_row{"blk.{}.ffn_norm", {d::embd}},
          tensor_row{"blk.{}.ffn_gate", {d::embd, d::ff}, with_bias, need::required, when},
          tensor_row{"blk.{}.ffn_up", {d::embd, d::ff}, with_bias, need::required, when},
          tensor_row{"blk.{}.ffn_down", {d::ff, d::embd}, with_bias, need::required, when}};
}

/// Gated experts with their router.
inline constexpr std::array experts = {
    tensor_row{"blk.{}.ffn_gate_inp", {d::embd, d::expert}, bias::none, need::required, is_moe},
    tensor_row{"blk.{}.ffn_gate_exps", {d::embd, d::ff, d::expert}, bias::none, need::required, is_moe},
    tensor_row{"blk.{}.ffn_up_exps", {d::embd, d::ff, d::expert}, bias::none, need::required, is_moe},
    tensor_row{"blk.{}.ffn_down_exps", {d::ff, d::embd, d::expert}, bias::none, need::required, is_moe},
};

}  // namespace tensors
}  // namespace jig
