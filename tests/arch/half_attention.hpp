#pragma once
// Attention in halves, as the kit's reference computes it where it ran with flash attention: queries, keys and values
// are rounded to f16, and so is the sum of the values after every cell. The choice of cells and attention to what was
// chosen are in f32 there, too.

#include "arch/runner.hpp"

namespace half_attention {

inline f32 half(f32 v) { return f16_to_f32(f32_to_f16(v)); }

/// The reference kernels with such attention, for f32 memory and tokens that see all cells before them.
struct kernels : reference_kernels<quants<f32>> {
  void attend(const parallel&, const attend_args& a, const batch& b, const mat& q, u8*, const mat& out) const {
    for (u32 t = 0; t < b.n_tokens; ++t)
      for (u32 h = 0; h < a.n_head; ++h)
        head(a, b, t, h / (a.n_head / a.n_head_kv), q.row(t) + h * a.dim_k, out.row(t) + h * a.dim_v);
  }

 private:
  static void head(const attend_args& a, const batch& b, u32 t, u32 head_kv, const f32* q, f32* out) {
    const kv_rows<f32_block> rows(a, b, b.sequence[t]);
    f32 top = -std::numeric_limits<f32>::infinity(), total = 0.0f;
    std::fill(out, out + a.dim_v, 0.0f);
    for (u32 cell = 0; cell <= b.cell[t]; ++cell) {
      const f32* k = reinterpret_cast<const f32*>(rows.key(cell, head_kv));
      const f32* v = reinterpret_cast<const f32*>(rows.value(cell, head_kv));
      f32 score = 0.0f;
      for (u32 i = 0; i < a.dim_k; ++i) score += half(q[i]) * half(k[i]);
      score *= a.scale;
      const f32 rescale = score > top ? std::exp(top - score) : 1.0f;
      top = std::max(top, score);
      const f32 weight = std::exp(score - top);
      for (u32 i = 0; i < a.dim_v; ++i) {
        if (rescale != 1.0f) out[i] = half(out[i] * rescale);
        out[i] = half(std::fma(half(v[i]), weight, out[i]));
      }
      total = total * rescale + weight;
    }
    for (u32 i = 0; i < a.dim_v; ++i) out[i] /= total;
  }
};

inline kernel_set table() {
  static constexpr cpu::kernel_table t = cpu::table_of<kernels, quants<f32>>("halves");
  return kernel_set(t);
}

}  // namespace half_attention
