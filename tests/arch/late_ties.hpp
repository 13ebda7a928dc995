#pragma once
// The choice of groups as in the kit's reference where scores are equal. It takes those that its sorting leaves in
// front; jig takes the earlier ones. In deepseek4-long it matters once: at token 113 two groups score 0 (no head's
// product is positive), and the reference takes the later one.

#include "arch/runner.hpp"

namespace late_ties {

/// The reference kernels with the later group chosen of those that score 0.
struct kernels : reference_kernels<quants<f32>> {
  void select(const parallel&, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
              const chosen_blocks& chosen) const {
    for (u32 t = 0; t < b.n_tokens; ++t) {
      const kv_rows<f32_block> rows(a.keys(), b, b.sequence[t]);
      select_token(a, b, t, chosen, reinterpret_cast<f32*>(scratch), [&](u32 cell, f32* scores) {
        const f32* k = reinterpret_cast<const f32*>(rows.key(cell, 0));
        f64 sum = 0.0;
        for (u32 h = 0; h < a.n_head; ++h) {
          f64 s = 0.0;
          for (u32 i = 0; i < a.dim; ++i) s += f64(q.row(t)[h * a.dim + i]) * f64(k[i]);
          if (s > 0.0) sum += s * f64(weights.row(t)[h]);
        }
        scores[0] = sum == 0.0 ? 1e-30f * static_cast<f32>(cell) : static_cast<f32>(sum);
      });
    }
  }
};

inline kernel_set table() {
  static constexpr cpu::kernel_table t = cpu::table_of<kernels, quants<f32>>("late ties");
  return kernel_set(t);
}

}  // namespace late_ties
