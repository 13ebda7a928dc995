#pragma once
// Hosted: hyperparameters as C++ text: the designated initialisers of a constexpr jig::hparams.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "jig/arch/keys.hpp"

namespace jig::host::detail {

/// A member of hparams with its name.
struct hparams_member {
  const char* name;
  key_field field;
};

/// All members but `scaling`, in the order of their declaration.
inline constexpr hparams_member hparams_members[] = {
    {"n_vocab", &hparams::n_vocab},
    {"n_ctx_train", &hparams::n_ctx_train},
    {"n_embd", &hparams::n_embd},
    {"causal", &hparams::causal},
    {"pooling_type", &hparams::pooling_type},
    {"n_token_types", &hparams::n_token_types},
    {"n_layer_encoder", &hparams::n_layer_encoder},
    {"n_layer_decoder", &hparams::n_layer_decoder},
    {"decoder_start", &hparams::decoder_start},
    {"n_distances", &hparams::n_distances},
    {"n_labels", &hparams::n_labels},
    {"dense_2_out", &hparams::dense_2_out},
    {"dense_3_in", &hparams::dense_3_in},
    {"activation_name", &hparams::activation_name},
    {"act_silu", &hparams::act_silu},
    {"n_layer", &hparams::n_layer},
    {"n_layer_next", &hparams::n_layer_next},
    {"n_ff", &hparams::n_ff},
    {"n_head", &hparams::n_head},
    {"n_head_kv", &hparams::n_head_kv},
    {"dim_k", &hparams::dim_k},
    {"dim_v", &hparams::dim_v},
    {"dim_k_window", &hparams::dim_k_window},
    {"dim_v_window", &hparams::dim_v_window},
    {"norm_eps", &hparams::norm_eps},
    {"n_rot", &hparams::n_rot},
    {"rope_base", &hparams::rope_base},
    {"rope_scaling_name", &hparams::rope_scaling_name},
    {"rope_factor", &hparams::rope_factor},
    {"rope_attn_factor", &hparams::rope_attn_factor},
    {"rope_ext_factor", &hparams::rope_ext_factor},
    {"rope_beta_fast", &hparams::rope_beta_fast},
    {"rope_beta_slow", &hparams::rope_beta_slow},
    {"rope_sections", &hparams::rope_sections},
    {"rope_alpha", &hparams::rope_alpha},
    {"rope_interleaved", &hparams::rope_interleaved},
    {"rope_finetuned", &hparams::rope_finetuned},
    {"n_ctx_orig", &hparams::n_ctx_orig},
    {"n_expert", &hparams::n_expert},
    {"n_expert_used", &hparams::n_expert_used},
    {"window", &hparams::window},
    {"chunk", &hparams::chunk},
    {"window_pattern", &hparams::window_pattern},
    {"rope_base_window", &hparams::rope_base_window},
    {"attn_scale", &hparams::attn_scale},
    {"attn_softcap", &hparams::attn_softcap},
    {"clamp_qkv", &hparams::clamp_qkv},
    {"alibi_bias", &hparams::alibi_bias},
    {"temperature_length", &hparams::temperature_length},
    {"temperature_scale", &hparams::temperature_scale},
    {"yarn_log_multiplier", &hparams::yarn_log_multiplier},
    {"n_lora_q", &hparams::n_lora_q},
    {"n_lora_kv", &hparams::n_lora_kv},
    {"dim_k_head", &hparams::dim_k_head},
    {"dim_v_head", &hparams::dim_v_head},
    {"values_in_keys", &hparams::values_in_keys},
    {"n_lora_kv_window", &hparams::n_lora_kv_window},
    {"dim_k_head_window", &hparams::dim_k_head_window},
    {"dim_v_head_window", &hparams::dim_v_head_window},
    {"n_index_head", &hparams::n_index_head},
    {"dim_index", &hparams::dim_index},
    {"index_top_k", &hparams::index_top_k},
    {"index_block", &hparams::index_block},
    {"index_local", &hparams::index_local},
    {"index_shared", &hparams::index_shared},
    {"index_layers", &hparams::index_layers},
    {"cell_groups", &hparams::cell_groups},
    {"n_out_groups", &hparams::n_out_groups},
    {"n_lora_out", &hparams::n_lora_out},
    {"n_shared_kv", &hparams::n_shared_kv},
    {"n_layer_input", &hparams::n_layer_input},
    {"n_altup", &hparams::n_altup},
    {"ngram_layer_count", &hparams::ngram_layer_count},
    {"ngram_layers", &hparams::ngram_layers},
    {"ngram_size", &hparams::ngram_size},
    {"ngram_heads", &hparams::ngram_heads},
    {"n_ngram_tables", &hparams::n_ngram_tables},
    {"ngram_factors", {&hparams::ngram_factors, &hparams::ngram_size}},
    {"ngram_offsets", &hparams::ngram_offsets},
    {"ngram_rows", &hparams::ngram_rows},
    {"ngram_taps", &hparams::ngram_taps},
    {"ngram_separator", &hparams::ngram_separator},
    {"sparsity", &hparams::sparsity},
    {"n_loops", &hparams::n_loops},
    {"skip_loop_norm", &hparams::skip_loop_norm},
    {"ssm_taps", &hparams::ssm_taps},
    {"ssm_inner", &hparams::ssm_inner},
    {"ssm_state", &hparams::ssm_state},
    {"ssm_rank", &hparams::ssm_rank},
    {"ssm_groups", &hparams::ssm_groups},
    {"ssm_norm", &hparams::ssm_norm},
    {"attention_interval", &hparams::attention_interval},
    {"recurrent_layers", &hparams::recurrent_layers},
    {"attending", &hparams::attending},
    {"kda_head", &hparams::kda_head},
    {"kda_lower_bound", &hparams::kda_lower_bound},
    {"attn_res_block", &hparams::attn_res_block},
    {"wkv_head", &hparams::wkv_head},
    {"wkv_heads_kv", &hparams::wkv_heads_kv},
    {"n_shifts", &hparams::n_shifts},
    {"n_lora_mix", &hparams::n_lora_mix},
    {"n_lora_decay", &hparams::n_lora_decay},
    {"n_lora_rate", &hparams::n_lora_rate},
    {"n_lora_value", &hparams::n_lora_value},
    {"n_lora_gate", &hparams::n_lora_gate},
    {"rescale_every", &hparams::rescale_every},
    {"attn_output_scale", &hparams::attn_output_scale},
    {"n_rot_window", &hparams::n_rot_window},
    {"rope_pattern", &hparams::rope_pattern},
    {"clamp_expert", &hparams::clamp_expert},
    {"clamp_shared", &hparams::clamp_shared},
    {"xielu_alpha_n", &hparams::xielu_alpha_n},
    {"xielu_alpha_p", &hparams::xielu_alpha_p},
    {"xielu_beta", &hparams::xielu_beta},
    {"xielu_eps", &hparams::xielu_eps},
    {"situ_beta", &hparams::situ_beta},
    {"situ_linear_beta", &hparams::situ_linear_beta},
    {"post_norm_eps", &hparams::post_norm_eps},
    {"qk_norm_eps", &hparams::qk_norm_eps},
    {"norm_behind", &hparams::norm_behind},
    {"parallel", &hparams::parallel},
    {"n_streams", &hparams::n_streams},
    {"n_lora_stream", &hparams::n_lora_stream},
    {"sinkhorn_iterations", &hparams::sinkhorn_iterations},
    {"connection_eps", &hparams::connection_eps},
    {"n_adapters", &hparams::n_adapters},
    {"n_lora_adapter", &hparams::n_lora_adapter},
    {"adapter_tokens", &hparams::adapter_tokens},
    {"adapter_substitutes", &hparams::adapter_substitutes},
    {"adapter_gain", &hparams::adapter_gain},
    {"embedding_scale", &hparams::embedding_scale},
    {"residual_scale", &hparams::residual_scale},
    {"logit_scale", &hparams::logit_scale},
    {"final_softcap", &hparams::final_softcap},
    {"n_ff_expert", &hparams::n_ff_expert},
    {"n_ff_shared", &hparams::n_ff_shared},
    {"n_expert_shared", &hparams::n_expert_shared},
    {"n_dense_first", &hparams::n_dense_first},
    {"moe_step", &hparams::moe_step},
    {"expert_gating", &hparams::expert_gating},
    {"expert_norm", &hparams::expert_norm},
    {"expert_scale", &hparams::expert_scale},
    {"n_expert_groups", &hparams::n_expert_groups},
    {"n_expert_groups_used", &hparams::n_expert_groups_used},
    {"experts_per_group", &hparams::experts_per_group},
    {"n_ff_chunk", &hparams::n_ff_chunk},
    {"expert_group_scale", &hparams::expert_group_scale},
    {"n_token_routed", &hparams::n_token_routed},
    {"n_latent_expert", &hparams::n_latent_expert},
};

/// Converts to whatever a member is.
struct any_member {
  template <class T>
  operator T() const;
};
template <usize... I>
constexpr bool has_members(std::index_sequence<I...>) {
  return requires { hparams{(static_cast<void>(I), any_member{})...}; };
}
// The next member makes a list with its name necessary: without it an embedded model would silently lack its value.
static_assert(has_members(std::make_index_sequence<std::size(hparams_members) + 1>()));
static_assert(!has_members(std::make_index_sequence<std::size(hparams_members) + 2>()));

/// One value as C++; a float as a literal that gives the same float.
inline std::string value_text(f32 v) {
  const std::string text = fmt::format("{}", v);
  return text + (text.find_first_of(".e") == text.npos ? ".0f" : "f");
}
inline std::string value_text(u32 v) { return fmt::format("{}", v); }
inline std::string value_text(u64 v) { return fmt::format("{}", v); }
inline std::string value_text(bool v) { return v ? "true" : "false"; }
inline std::string value_text(const std::array<u32, 4>& v) { return fmt::format("{{{}}}", fmt::join(v, ", ")); }

/// `.name = value,` if it differs from the default.
template <class T>
std::string member_text(const char* name, const T& v, const T& otherwise) {
  return v == otherwise ? "" : fmt::format("      .{} = {},\n", name, value_text(v));
}

/// The same for a value per layer. Errors: not_supported, with the key (layers differ, and the constants have one value
/// for all).
template <class T>
result<std::string> layers_text(const hparams_member& e, per_layer<T>& (key_field::*get)(hparams&) const noexcept,
                                std::span<const key_row> keys, hparams& hp) {
  const per_layer<T>& v = (e.field.*get)(hp);
  for (u32 il = 1; il < hp.n_layer; ++il) {
    if (v[il] == v[0]) continue;
    const auto row = std::find_if(keys.begin(), keys.end(), [&](const key_row& r) {
      return r.field.type() == e.field.type() && &(r.field.*get)(hp) == &v;
    });
    const std::string_view key = row == keys.end() ? e.name : row->name;
    if constexpr (std::is_integral_v<T>) return fail(errc::not_supported, key).got(v[il]);
    else return fail(errc::not_supported, key);
  }
  hparams d;
  return member_text(e.name, v[0], (e.field.*get)(d)[0]);
}

/// The line of one member, empty if it is the default.
inline result<std::string> line_text(const hparams_member& e, std::span<const key_row> keys, hparams& hp) {
  constexpr std::string_view scalings[] = {"none", "linear", "dynamic", "yarn", "longrope"};
  hparams d;
  switch (e.field.type()) {
    case key_field::kind::number:
    case key_field::kind::count: return member_text(e.name, e.field.number(hp), e.field.number(d));
    case key_field::kind::real: return member_text(e.name, e.field.real(hp), e.field.real(d));
    case key_field::kind::flag: return member_text(e.name, e.field.flag(hp), e.field.flag(d));
    case key_field::kind::four: return member_text(e.name, e.field.four(hp), e.field.four(d));
    case key_field::kind::numbers: return layers_text<u32>(e, &key_field::numbers, keys, hp);
    case key_field::kind::wide: return layers_text<u64>(e, &key_field::wide, keys, hp);
    case key_field::kind::reals: return layers_text<f32>(e, &key_field::reals, keys, hp);
    case key_field::kind::text: break;
  }
  // Texts serve to find kinds. That of the scaling is the next member; the activation's is a member of its own.
  if (std::string_view(e.name) != "rope_scaling_name" || hp.scaling == d.scaling) return std::string();
  return fmt::format("      .scaling = jig::rope_scaling::{},\n", scalings[static_cast<usize>(hp.scaling)]);
}

/// The lines of everything that differs from the defaults. `keys`: the table of the architecture.
/// Errors: not_supported, with the key.
inline result<std::string> hparams_text(std::span<const key_row> keys, hparams hp) {
  // One number would mean a period here, and not the flag of every layer.
  if (hp.window_pattern.varies()) return fail(errc::not_supported, "attention.sliding_window_pattern");
  // Nor do lists that do not go by layers stand in constants.
  if (hp.adapter_tokens.varies()) return fail(errc::not_supported, "adapters.token_ids_activate");
  if (hp.ngram_factors.varies()) return fail(errc::not_supported, "ple.layer_multipliers");
  std::string out;
  for (const hparams_member& e : hparams_members) {
    JIG_TRY(const std::string line, line_text(e, keys, hp));
    out += line;
  }
  return out;
}

}  // namespace jig::host::detail
