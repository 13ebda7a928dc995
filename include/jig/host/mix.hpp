#pragma once
// The named mixes of block types, Q4_K_M and its like: which tensor of a model gets which type. Mixes spend more bits
// on tensors that matter more, by role, by place in the model, and by its shape.
//
//   JIG_TRY(auto types, assign_types({.mix = find_mix("Q4_K_M")}, facts, tensors));   // one for each tensor
//
// Source of the rules: what llama.cpp v0.4.0 assigns (tests: 319,072 assignments, no difference).

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "jig/core/ascii.hpp"
#include "jig/core/result.hpp"
#include "jig/quant/all.hpp"

namespace jig::host {

/// The mixes, in the order of their table.
enum class mix : u8 {
  f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q2_k_s, q3_k_s, q3_k_m, q3_k_l, q4_k_s, q4_k_m, q5_k_s, q5_k_m,
  q6_k, iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq2_m, iq3_xxs, iq3_xs, iq3_s, iq3_m, iq4_nl, iq4_xs, tq1_0, tq2_0, q1_0,
  q2_0, mxfp4_moe,
};

struct mix_info {
  std::string_view name;
  u32 file_type;  ///< general.file_type of files that are made so
  u32 base;       ///< type of most tensors
};

inline constexpr mix_info mixes[] = {
    {"F32", 0, f32_block::id}, {"F16", 1, f16_block::id}, {"BF16", 32, bf16_block::id}, {"Q4_0", 2, q4_0::id},
    {"Q4_1", 3, q4_1::id}, {"Q5_0", 8, q5_0::id}, {"Q5_1", 9, q5_1::id}, {"Q8_0", 7, q8_0::id},
    {"Q2_K", 10, q2_k::id}, {"Q2_K_S", 21, q2_k::id}, {"Q3_K_S", 11, q3_k::id}, {"Q3_K_M", 12, q3_k::id},
    {"Q3_K_L", 13, q3_k::id}, {"Q4_K_S", 14, q4_k::id}, {"Q4_K_M", 15, q4_k::id}, {"Q5_K_S", 16, q5_k::id},
    {"Q5_K_M", 17, q5_k::id}, {"Q6_K", 18, q6_k::id}, {"IQ1_S", 24, iq1_s::id}, {"IQ1_M", 31, iq1_m::id},
    {"IQ2_XXS", 19, iq2_xxs::id}, {"IQ2_XS", 20, iq2_xs::id}, {"IQ2_S", 28, iq2_xs::id}, {"IQ2_M", 29, iq2_s::id},
    {"IQ3_XXS", 23, iq3_xxs::id}, {"IQ3_XS", 22, iq3_s::id}, {"IQ3_S", 26, iq3_s::id}, {"IQ3_M", 27, iq3_s::id},
    {"IQ4_NL", 25, iq4_nl::id}, {"IQ4_XS", 30, iq4_xs::id}, {"TQ1_0", 36, tq1_0::id}, {"TQ2_0", 37, tq2_0::id},
    {"Q1_0", 40, q1_0::id}, {"Q2_0", 41, q2_0::id}, {"MXFP4_MOE", 38, mxfp4::id},
};
constexpr const mix_info& info_of(mix m) noexcept { return mixes[static_cast<usize>(m)]; }

/// A mix by its name, in any case; Q3_K, Q4_K and Q5_K are their _M.
inline std::optional<mix> find_mix(std::string_view name) noexcept {
  const auto same = [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
  };
  for (usize i = 0; i < std::size(mixes); ++i)
    if (same(mixes[i].name)) return static_cast<mix>(i);
  if (same("Q3_K")) return mix::q3_k_m;
  if (same("Q4_K")) return mix::q4_k_m;
  if (same("Q5_K")) return mix::q5_k_m;
  return {};
}

/// What of a model the rules ask for.
struct mix_facts {
  std::string_view architecture;
  u32 n_layer = 0, n_head = 0, n_head_kv = 0, n_expert = 0;
};

struct mix_tensor {
  std::string_view name;
  std::array<u64, 4> ne = {1, 1, 1, 1};
  u32 type = 0;  ///< in the source
};

/// What the user asks for.
struct mix_request {
  host::mix mix = mix::q4_k_m;
  bool importance = false;    ///< an importance matrix is given
  bool pure = false;          ///< the base type wherever a rule would choose another
  bool leave_output = false;  ///< output.weight keeps its type
  std::optional<u32> output_type = {}, embedding_type = {};
  /// The type that the user wants for a tensor, before the rules.
  std::function<std::optional<u32>(std::string_view)> wanted = {};
};

namespace detail {

enum class role : u8 { output, embedding, qkv, kv_b, v, k, q, attn_output, up, gate, down, other };

/// The layer of "blk.N."; -1 for tensors outside the layers.
inline i32 layer_of(std::string_view name) noexcept {
  if (!name.starts_with("blk.")) return -1;
  i32 n = 0;
  usize at = 4;
  for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && n < 1 << 24; ++at) n = 10 * n + (name[at] - '0');
  return at > 4 && at < name.size() && name[at] == '.' ? n : -1;
}

inline role role_of(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, role> parts[] = {
      {"attn_qkv.weight", role::qkv}, {"attn_kv_b.weight", role::kv_b}, {"attn_v.weight", role::v},
      {"attn_k.weight", role::k},     {"attn_q.weight", role::q},       {"attn_output.weight", role::attn_output},
      {"ffn_up", role::up},           {"ffn_gate", role::gate},         {"ffn_down", role::down}};
  if (name == "output.weight") return role::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") return role::embedding;
  for (const auto& [part, r] : parts)
    if (name.find(part) != name.npos) return r;
  return role::other;
}

/// Tensors that are never quantised.
inline bool kept(const mix_tensor& t) noexcept {
  constexpr std::string_view parts[] = {
      "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "altup", "laurel", "per_layer_model_proj",
      "ssm_conv1d", "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight", "attn_rel_b.weight",
      "time_mix_first.weight", ".position_embd", "sam.pos_embd", "sam.neck.", "sam.net_", ".rel_pos", ".patch_embd",
      ".patch_merger", "a.rvq.codebook", "mm.a.code_embd"};
  constexpr std::string_view time_mix[] = {"w0", "w1", "w2", "v0", "v1", "v2", "a0",
                                           "a1", "a2", "g1", "g2", "decay_w1", "decay_w2", "lerp_fused"};
  const std::string_view name = t.name;
  if (t.ne[1] * t.ne[2] * t.ne[3] == 1 || !name.ends_with("weight")) return true;
  if (name == "position_embd.weight" || name == "token_types.weight") return true;
  for (std::string_view part : parts)
    if (name.find(part) != name.npos) return true;
  const usize at = name.find("time_mix_");
  if (at == name.npos) return false;
  std::string_view rest = name.substr(at + 9);
  if (!rest.ends_with(".weight")) return false;
  rest.remove_suffix(7);
  return std::find(std::begin(time_mix), std::end(time_mix), rest) != std::end(time_mix);
}

/// The first eighth, the last eighth, and every third layer between.
constexpr bool more(u32 i, u32 n) noexcept { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

constexpr bool any_of(mix m, std::initializer_list<mix> list) noexcept {
  return std::find(list.begin(), list.end(), m) != list.end();
}

constexpr u64 block_size(u32 type) noexcept {
  const block_info* const info = find_block_info(type);
  return info != nullptr ? info->size : 1;
}

/// Visits tensors in order and chooses their types; some rules count what was visited.
class mix_rules {
 public:
  mix_rules(const mix_request& r, const mix_facts& f, bool tied, u32 v_like)
      : r_(r), f_(f), m_(r.mix), base_(info_of(r.mix).base), n_v_(v_like), tied_(tied) {
    gqa_ = f.n_head_kv != 0 ? f.n_head / f.n_head_kv : 0;
    falcon_ = f.architecture == "falcon";
    big70_ = (f.architecture == "llama" && f.n_layer == 80 && f.n_head != f.n_head_kv) ||
             ((f.architecture == "qwen2" || f.architecture == "deci" || f.architecture == "olmo") && f.n_layer == 80) ||
             (f.architecture == "jais2" && f.n_layer == 68);
  }

  /// Errors: partial_block (the row fits no block of the type, and there is no other type to fall back to).
  result<u32> type_of(const mix_tensor& t) {
    const role kind = role_of(t.name);
    if (kept(t) || (kind == role::output && r_.leave_output)) return t.type;
    if (base_ == f32_block::id || base_ == f16_block::id || base_ == bf16_block::id) return base_;
    if (kind == role::embedding && r_.embedding_type) return *r_.embedding_type;
    if ((kind == role::output || (kind == role::embedding && tied_)) && r_.output_type) return *r_.output_type;
    if (r_.wanted)
      if (const auto type = r_.wanted(t.name)) return fitting(*type, t);
    return fitting(r_.pure ? base_ : by_role(t, kind), t);
  }

 private:
  static constexpr std::initializer_list<mix> tiny = {mix::iq1_s,  mix::iq1_m, mix::iq2_xxs,
                                                      mix::iq2_xs, mix::iq2_s, mix::iq2_m};
  bool is(std::initializer_list<mix> list) const noexcept { return any_of(m_, list); }

  u32 by_role(const mix_tensor& t, role kind) {
    if (kind == role::output || (kind == role::embedding && tied_)) return output(t);
    if (m_ == mix::mxfp4_moe) {
      const bool expert = kind == role::up || kind == role::gate || kind == role::down;
      const bool stacked = t.ne[2] > 1 && (expert || f_.architecture != "bailingmoe3");
      return stacked ? mxfp4::id : q8_0::id;
    }
    if (kind == role::embedding) return embedding();
    if (is(tiny)) return in_tiny(kind);
    switch (kind) {
      case role::qkv:
      case role::kv_b:
      case role::v: return v_like(n_seen_v_++);
      case role::k:
        if (f_.n_expert == 8) return q8_0::id;
        [[fallthrough]];
      case role::q: return m_ == mix::iq3_xs ? iq3_xxs::id : m_ == mix::iq3_xxs ? iq2_s::id : base_;
      case role::down: return down(place(t, n_seen_down_));
      case role::up: return up_or_gate(place(t, n_seen_up_));
      case role::gate: return up_or_gate(place(t, n_seen_gate_));
      case role::attn_output: return attention_output();
      default: return base_;
    }
  }

  u32 output(const mix_tensor& t) const {
    if (m_ == mix::mxfp4_moe || falcon_ || t.ne[0] % block_size(base_) != 0) return q8_0::id;
    if (is(tiny) || m_ == mix::iq3_xxs) return q5_k::id;
    return base_ == q8_0::id ? q8_0::id : q6_k::id;
  }

  u32 embedding() const {
    if (is({mix::iq1_s, mix::iq1_m, mix::iq2_xxs, mix::iq2_xs})) return q2_k::id;
    if (is({mix::iq2_s, mix::iq2_m, mix::iq3_xxs})) return iq3_s::id;
    return is({mix::tq1_0, mix::tq2_0, mix::q2_0}) ? q4_k::id : base_;
  }

  u32 in_tiny(role kind) {
    const bool larger = is({mix::iq2_s, mix::iq2_m});
    const u32 better = larger ? iq3_s::id : q2_k::id;
    switch (kind) {
      case role::qkv:
      case role::kv_b:
      case role::v: return gqa_ >= 4 || f_.n_expert >= 4 ? q4_k::id : better;
      case role::k: return f_.n_expert == 8 ? q4_k::id : base_;
      case role::down: return n_seen_down_++ < f_.n_layer / 8 ? better : base_;
      case role::attn_output:
        if (f_.n_expert == 8) return q5_k::id;
        return is({mix::iq1_s, mix::iq1_m}) ? iq2_xxs::id : larger ? iq3_s::id : base_;
      default: return base_;
    }
  }

  u32 v_like(u32 i) const {
    u32 type = base_;
    switch (m_) {
      case mix::q2_k: type = gqa_ >= 4 ? q4_k::id : q3_k::id; break;
      case mix::q2_k_s:
      case mix::iq3_xs:
      case mix::iq3_s: type = gqa_ >= 4 ? q4_k::id : base_; break;
      case mix::iq3_xxs: type = gqa_ >= 4 ? q4_k::id : r_.importance ? iq3_xxs::id : iq3_s::id; break;
      case mix::iq3_m: type = q4_k::id; break;
      case mix::q3_k_m: type = i < 2 ? q5_k::id : q4_k::id; break;
      case mix::q3_k_l: type = q5_k::id; break;
      case mix::iq4_nl:
      case mix::iq4_xs: type = gqa_ >= 4 ? q5_k::id : base_; break;
      case mix::q4_k_m:
      case mix::q5_k_m: type = more(i, n_v_) ? q6_k::id : base_; break;
      case mix::q4_k_s: type = i < 4 ? q5_k::id : base_; break;
      default: break;
    }
    if (big70_ && (type == q3_k::id || type == q4_k::id)) type = q5_k::id;
    return f_.n_expert == 8 ? q8_0::id : type;
  }

  u32 down(u32 i) const {
    const u32 n = f_.n_layer;
    switch (m_) {
      case mix::q2_k: return q3_k::id;
      case mix::q2_k_s: return i < n / 8 ? q4_k::id : base_;
      case mix::iq3_xxs: return r_.importance ? base_ : i < n / 8 ? q4_k::id : q3_k::id;
      case mix::q3_k_m: return i < n / 16 ? q5_k::id : !falcon_ || more(i, n) ? q4_k::id : q3_k::id;
      case mix::iq3_m: return i < n / 8 || (f_.n_expert == 8 && more(i, n)) ? q4_k::id : base_;
      case mix::q3_k_l: return falcon_ ? q4_k::id : q5_k::id;
      case mix::q4_k_m:
        if (falcon_) return i < n / 16 ? q6_k::id : more(i, n) ? q5_k::id : q4_k::id;
        [[fallthrough]];
      case mix::q5_k_m: return more(i, n) ? q6_k::id : base_;
      case mix::q4_k_s: return i < n / 8 && !falcon_ ? q5_k::id : base_;
      case mix::iq4_nl:
      case mix::iq4_xs: return i < n / 8 && !r_.importance ? q5_k::id : base_;
      case mix::q4_0: return i < n / 8 && r_.importance ? q4_1::id : base_;
      case mix::q5_0: return i < n / 8 && r_.importance ? q5_1::id : base_;
      default: return base_;
    }
  }

  u32 up_or_gate(u32 i) const {
    return m_ == mix::iq3_xs && f_.n_layer / 8 <= i && i < 7 * f_.n_layer / 8 ? iq3_xxs::id : base_;
  }

  u32 attention_output() const {
    if (falcon_) return m_ == mix::q3_k_l ? q4_k::id : base_;
    if (f_.n_expert == 8)
      return is({mix::q2_k, mix::q3_k_s, mix::q3_k_m, mix::q4_k_s, mix::q4_k_m, mix::iq3_xxs, mix::iq3_xs, mix::iq3_s,
                 mix::iq3_m, mix::iq4_nl, mix::iq4_xs})
                 ? q5_k::id
                 : base_;
    switch (m_) {
      case mix::q2_k: return q3_k::id;
      case mix::iq3_xxs: return iq3_s::id;
      case mix::q3_k_m:
      case mix::iq3_m: return q4_k::id;
      case mix::q3_k_l: return q5_k::id;
      default: return base_;
    }
  }

  /// The layer by which a feed-forward matrix is judged: its own among experts, else how many there were before.
  u32 place(const mix_tensor& t, u32& seen) const {
    const u32 i = seen++;
    return f_.n_expert > 1 ? static_cast<u32>(layer_of(t.name)) : i;
  }

  /// The type, or one with smaller blocks if rows are not whole blocks of it.
  static result<u32> fitting(u32 type, const mix_tensor& t) {
    const auto fits = [&](u32 id) { return t.ne[0] % block_size(id) == 0; };
    if (fits(type)) return type;
    u32 other = type;
    switch (type) {
      case iq1_s::id:
      case iq1_m::id:
      case iq2_xxs::id:
      case iq2_xs::id:
      case iq2_s::id:
      case iq3_xxs::id:
      case iq3_s::id:
      case iq4_xs::id: other = iq4_nl::id; break;
      case q2_k::id:
      case q3_k::id:
      case tq1_0::id:
      case tq2_0::id:
      case q2_0::id: other = q4_0::id; break;
      case q4_k::id: other = q5_0::id; break;
      case q5_k::id: other = q5_1::id; break;
      case q6_k::id: other = q8_0::id; break;
      default:
        if (block_size(type) > 32) return fail(errc::partial_block, t.name).got(t.ne[0]);
    }
    return fits(other) ? other : f16_block::id;
  }

  const mix_request& r_;
  const mix_facts& f_;
  mix m_;
  u32 base_, gqa_ = 0, n_v_;
  bool tied_, falcon_ = false, big70_ = false;
  u32 n_seen_v_ = 0, n_seen_down_ = 0, n_seen_up_ = 0, n_seen_gate_ = 0;
};

}  // namespace detail

/// The type of each tensor, in the order given. Errors: partial_block (the tensor's name; got: its row length).
inline result<std::vector<u32>> assign_types(const mix_request& request, const mix_facts& facts,
                                             std::span<const mix_tensor> tensors) {
  bool tied = true;
  u32 v_like = 0;
  std::vector<usize> order(tensors.size());
  for (usize i = 0; i < tensors.size(); ++i) {
    const detail::role kind = detail::role_of(tensors[i].name);
    tied = tied && kind != detail::role::output;
    v_like += kind == detail::role::qkv || kind == detail::role::kv_b || kind == detail::role::v;
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](usize a, usize b) {
    const i32 la = detail::layer_of(tensors[a].name), lb = detail::layer_of(tensors[b].name);
    return la != lb ? la < lb : tensors[a].name < tensors[b].name;
  });
  detail::mix_rules rules(request, facts, tied, v_like);
  std::vector<u32> types(tensors.size());
  for (const usize i : order) {
    JIG_TRY(types[i], rules.type_of(tensors[i]));
  }
  return types;
}

/// Whether a tensor of this type can only be made with an importance matrix.
inline bool needs_importance(mix m, std::string_view name, u32 type) noexcept {
  const detail::role kind = detail::role_of(name);
  if (kind == detail::role::output || kind == detail::role::embedding) return false;
  return type == iq1_s::id || type == iq1_m::id || type == iq2_xxs::id || type == iq2_xs::id || type == iq2_s::id ||
         type == iq3_xxs::id || (type == q2_k::id && m == mix::q2_k_s);
}

}  // namespace jig::host
