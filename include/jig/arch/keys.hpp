#pragma once
// Key tables: which metadata keys an architecture has, where their values go and what values make sense.
//
// A row names a key without its "<architecture>." prefix. Tables are constexpr arrays, put together from the groups
// below with `join`; from them follow reading, validation and the writer of synthetic test models.

#include <array>

#include "jig/arch/hparams.hpp"

namespace jig {

/// A member of hparams with its type.
class key_field {
 public:
  enum class kind : u8 { number, real, text, numbers };
  constexpr key_field(u32 hparams::*p) noexcept : kind_(kind::number), number_(p) {}
  constexpr key_field(f32 hparams::*p) noexcept : kind_(kind::real), real_(p) {}
  constexpr key_field(std::string_view hparams::*p) noexcept : kind_(kind::text), text_(p) {}
  constexpr key_field(per_layer<u32> hparams::*p) noexcept : kind_(kind::numbers), numbers_(p) {}

  constexpr kind type() const noexcept { return kind_; }
  constexpr u32& number(hparams& hp) const noexcept { return hp.*number_; }
  constexpr f32& real(hparams& hp) const noexcept { return hp.*real_; }
  constexpr std::string_view& text(hparams& hp) const noexcept { return hp.*text_; }
  constexpr per_layer<u32>& numbers(hparams& hp) const noexcept { return hp.*numbers_; }

 private:
  kind kind_;
  union {
    u32 hparams::*number_;
    f32 hparams::*real_;
    std::string_view hparams::*text_;
    per_layer<u32> hparams::*numbers_;
  };
};

enum class need : u8 { optional, required };

/// One key: name without the architecture, destination, presence, and the inclusive range of sensible values.
struct key_row {
  std::string_view name;
  key_field field;
  need presence = need::optional;
  f64 min = 0.0;
  f64 max = 0.0;  ///< 0 with min 0: any value that the type holds (reals: any finite value)
};

/// Concatenates constexpr arrays: tables are built from groups.
template <class T, usize... Ns>
constexpr auto join(const std::array<T, Ns>&... groups) noexcept {
  return [&]<usize... I>(std::index_sequence<I...>) {
    auto pick = [&](usize i) {
      const T* found = nullptr;
      usize seen = 0;
      ((i >= seen && i < seen + Ns ? (found = groups.data() + (i - seen)) : nullptr, seen += Ns), ...);
      return *found;
    };
    return std::array<T, (Ns + ...)>{pick(I)...};
  }(std::make_index_sequence<(Ns + ...)>{});
}

namespace keys {

/// What every decoder-only transformer has.
inline constexpr std::array decoder = {
    key_row{"vocab_size", &hparams::n_vocab, need::optional, 1, 1 << 24},
    key_row{"context_length", &hparams::n_ctx_train, need::required, 1, 1 << 30},
    key_row{"embedding_length", &hparams::n_embd, need::required, 1, 1 << 18},
    key_row{"block_count", &hparams::n_layer, need::required, 1, 2048},
    key_row{"feed_forward_length", &hparams::n_ff, need::required, 1, 1 << 22},
    key_row{"attention.head_count", &hparams::n_head, need::required, 1, 4096},
    key_row{"attention.head_count_kv", &hparams::n_head_kv, need::optional, 1, 4096},
    key_row{"attention.key_length", &hparams::dim_k, need::optional, 1, 1 << 14},
    key_row{"attention.value_length", &hparams::dim_v, need::optional, 1, 1 << 14},
};

inline constexpr std::array rms_norm = {
    key_row{"attention.layer_norm_rms_epsilon", &hparams::norm_eps, need::required, 0, 1},
};

inline constexpr std::array rope = {
    key_row{"rope.dimension_count", &hparams::n_rot, need::optional, 2, 1 << 14},
    key_row{"rope.freq_base", &hparams::rope_base, need::optional, 1, 1e12},
    key_row{"rope.scaling.type", &hparams::rope_scaling_name},
    key_row{"rope.scaling.factor", &hparams::rope_factor, need::optional, 1e-3, 1e6},
    key_row{"rope.scaling.attn_factor", &hparams::rope_attn_factor, need::optional, 1e-3, 1e3},
    key_row{"rope.scaling.original_context_length", &hparams::n_ctx_orig, need::optional, 1, 1 << 30},
    key_row{"rope.scaling.yarn_ext_factor", &hparams::rope_ext_factor, need::optional, 0, 1e3},
    key_row{"rope.scaling.yarn_attn_factor", &hparams::rope_attn_factor, need::optional, 1e-3, 1e3},
    key_row{"rope.scaling.yarn_beta_fast", &hparams::rope_beta_fast, need::optional, 1e-3, 1e6},
    key_row{"rope.scaling.yarn_beta_slow", &hparams::rope_beta_slow, need::optional, 1e-3, 1e6},
};

inline constexpr std::array experts = {
    key_row{"expert_count", &hparams::n_expert, need::optional, 0, 4096},
    key_row{"expert_used_count", &hparams::n_expert_used, need::optional, 0, 4096},
};

}  // namespace keys
}  // namespace jig
