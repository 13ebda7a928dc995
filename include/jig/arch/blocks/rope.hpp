#pragma once
// How queries and keys rotate with their positions (RoPE, https://arxiv.org/abs/2104.09864): by which tables, and which
// layers do.

#include "jig/arch/blocks/norm.hpp"
#include "jig/arch/names.hpp"
#include "jig/ops/rope_angle.hpp"

namespace jig {

/// The divisors of the rope frequencies: one set (Llama 3), or a short and a long one (LongRoPE,
/// https://arxiv.org/abs/2402.13753), chosen by whether the session may grow beyond the original context.
template <class M>
constexpr weight rope_factors(const M& m, const batch& b) {
  if (const weight all = m.get(t::rope_freqs).w) return all;
  return b.context > m.hp().n_ctx_orig ? m.get(t::rope_factors_long).w : m.get(t::rope_factors_short).w;
}

/// The rope parameters of a batch. LongRoPE and dynamic scaling depend on how long the session may grow.
template <class M>
constexpr rope_args rope_args_of(const M& m, const batch& b) {
  const hparams& hp = m.hp();
  rope_args args = make_rope_args(hp, rope_factors(m, b));
  if (hp.scaling == rope_scaling::dynamic && !std::is_constant_evaluated())
    args.freq_base = dynamic_rope_base(hp.rope_base, hp.n_rot, f64(hp.rope_factor),
                                       f64(b.context) / f64(hp.n_ctx_orig));
  return args;
}

/// The rope tables of a batch: of global layers and, if they differ, of windowed ones.
struct rope_tables {
  value all, windowed;
};

/// make(rope_args) gives a table.
template <class M, class F>
constexpr rope_tables make_rope_tables(const decoder_spec& spec, const M& m, const batch& b, F&& make) {
  const hparams& hp = m.hp();
  rope_tables tables;
  if (spec.rope == rope_kind::none) return tables;
  const rope_args args = rope_args_of(m, b);
  tables.all = make(args);
  if (spec.windowed && (spec.window_unscaled || hp.rope_base_window != 0.0f || hp.n_rot_window != 0)) {
    rope_args own = args;
    if (spec.window_unscaled) own = {.n_rot = hp.n_rot, .freq_base = hp.rope_base};
    if (hp.n_rot_window != 0) own.n_rot = hp.n_rot_window;
    if (hp.rope_base_window != 0.0f) own.freq_base = hp.rope_base_window;
    tables.windowed = make(own);
  }
  return tables;
}

/// How the queries and keys of layer il rotate, if they do. Models with several positions per token pair halves,
/// whatever the family does otherwise.
constexpr rope_kind rope_of(const decoder_spec& spec, const hparams& hp, u32 il) noexcept {
  if (spec.rope == rope_kind::none || (spec.rope_in && !spec.rope_in(hp, il))) return rope_kind::none;
  return hp.rope_sections[0] != 0 && hp.rope_sections[1] != 0 ? rope_kind::neox : spec.rope;
}

/// By which table.
constexpr const value& table_of(const rope_tables& tables, const decoder_spec& spec, const hparams& hp, u32 il) {
  return tables.windowed.cols() != 0 && spec.windowed(hp, il) ? tables.windowed : tables.all;
}

}  // namespace jig
