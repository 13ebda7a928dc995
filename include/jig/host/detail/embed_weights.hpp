#pragma once
// Hosted: hyperparameters and weight slots as C++ text, and the weights' bytes.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jig/arch/load.hpp"
#include "jig/quant/all.hpp"

namespace jig::host::detail {

/// "q8_0" -> "q8_0"; plain numbers have block structs with longer names.
inline std::string block_type_name(u32 id) {
  std::string name(find_block_info(id)->name);
  for (char& c : name) c = c == 'K' ? 'k' : c;
  return name == "f16" || name == "bf16" ? name + "_block" : name;
}
inline std::string block_type_header(u32 id) {
  const std::string name = block_type_name(id);
  return name.substr(0, name.find("_block"));
}

/// A float as a literal that gives the same float.
inline std::string literal(f32 v) {
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text + "f";
}

/// Text for a one-line comment.
inline std::string comment_text(std::string_view s) {
  std::string text;
  for (char c : s) text += c >= ' ' && c < 127 && c != '\\' ? c : '?';
  return text;
}

inline bool is_identifier(std::string_view s) noexcept {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool good = !s.empty() && word(s[0]);
  for (char c : s) good = good && (word(c) || (c >= '0' && c <= '9'));
  return good;
}

/// The one value of all layers. Errors: not_supported (layers differ: the constants have one value for all).
inline result<u32> same_in_all_layers(const per_layer<u32>& values, u32 n_layer, std::string_view what) {
  for (u32 il = 1; il < n_layer; ++il)
    if (values[il] != values[0]) return fail(errc::not_supported, what).got(values[il]);
  return values[0];
}

/// The lines `.field = value,` of everything that differs from the defaults.
inline result<std::string> hparams_text(const hparams& hp) {
  std::string out;
  const auto number = [&](const char* field, u32 v, u32 otherwise = 0) {
    if (v != otherwise) out += fmt::format("      .{} = {},\n", field, v);
  };
  const auto real = [&](const char* field, f32 v, f32 otherwise) {
    if (v != otherwise) out += fmt::format("      .{} = {},\n", field, literal(v));
  };
  const hparams d;
  JIG_TRY(const u32 n_ff, same_in_all_layers(hp.n_ff, hp.n_layer, "feed_forward_length"));
  JIG_TRY(const u32 n_head, same_in_all_layers(hp.n_head, hp.n_layer, "attention.head_count"));
  JIG_TRY(const u32 n_head_kv, same_in_all_layers(hp.n_head_kv, hp.n_layer, "attention.head_count_kv"));
  number("n_vocab", hp.n_vocab), number("n_ctx_train", hp.n_ctx_train), number("n_embd", hp.n_embd);
  number("n_layer", hp.n_layer), number("n_ff", n_ff), number("n_head", n_head), number("n_head_kv", n_head_kv);
  number("dim_k", hp.dim_k), number("dim_v", hp.dim_v), real("norm_eps", hp.norm_eps, d.norm_eps);
  number("n_rot", hp.n_rot), real("rope_base", hp.rope_base, d.rope_base);
  constexpr std::string_view scalings[] = {"none", "linear", "yarn", "longrope"};
  if (hp.scaling != rope_scaling::none)
    out += fmt::format("      .scaling = jig::rope_scaling::{},\n", scalings[static_cast<usize>(hp.scaling)]);
  real("rope_factor", hp.rope_factor, d.rope_factor);
  real("rope_attn_factor", hp.rope_attn_factor, d.rope_attn_factor);
  real("rope_ext_factor", hp.rope_ext_factor, d.rope_ext_factor);
  real("rope_beta_fast", hp.rope_beta_fast, d.rope_beta_fast);
  real("rope_beta_slow", hp.rope_beta_slow, d.rope_beta_slow);
  number("n_ctx_orig", hp.n_ctx_orig), number("n_expert", hp.n_expert), number("n_expert_used", hp.n_expert_used);
  return out;
}

/// The weights of one model, laid out one after the other.
struct placed_weights {
  std::string slots;       ///< initialisers of the slot array
  std::vector<u8> bytes;
  std::vector<u32> types;  ///< block types in use, ascending
};

/// Errors: those of bind.
template <class Arch>
result<placed_weights> place_weights(const gguf::file_set& file, const hparams& hp, const std::string& symbol) {
  std::vector<weight> slots(slot_map<Arch>::count(hp));
  JIG_CHECK((bind<Arch, all_quants>(file, hp, slots)));
  std::vector<std::string> names(slots.size());
  JIG_CHECK((for_each_tensor<Arch>(hp, [&](const auto&, u32, std::string_view name, const auto&, u32 slot, bool,
                                           bool) -> result<void> {
    names[slot] = name;
    return {};
  })));
  placed_weights out;
  bool in_absent = false;
  for (usize i = 0; i < slots.size(); ++i) {
    const weight& w = slots[i];
    if (!w) {
      out.slots += in_absent ? " {}," : "      {},";
      in_absent = true;
      continue;
    }
    if (in_absent) out.slots += '\n';
    in_absent = false;
    while (out.bytes.size() % 32 != 0) out.bytes.push_back(0);
    JIG_TRY(const gguf::tensor_info info, file.find_tensor(names[i]));
    out.slots += fmt::format("      {{{} + {}, {}, {}, {}, {}}},  // {}, {}\n", symbol, out.bytes.size(), w.type,
                             w.cols, w.rows, w.count, names[i], find_block_info(w.type)->name);
    out.bytes.insert(out.bytes.end(), info.data.begin(), info.data.end());
    out.types.push_back(w.type);
  }
  if (in_absent) out.slots += '\n';
  std::sort(out.types.begin(), out.types.end());
  out.types.erase(std::unique(out.types.begin(), out.types.end()), out.types.end());
  return out;
}

}  // namespace jig::host::detail
