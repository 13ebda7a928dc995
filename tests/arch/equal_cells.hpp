#pragma once
// Sparse attention where cells share a key, as the kit's reference computes it: some of the cells with one key are seen
// and others not, and which of those equals is left to std::partial_sort of the GNU library. Ours sees the lower ones.

#include <algorithm>
#include <numeric>

#include "arch/runner.hpp"

namespace equal_cells {

/// The reference kernels with such a choice, for f32 memory and heads without weights.
struct kernels : reference_kernels<quants<f32>> {
  void select(const parallel& p, const select_args& a, const batch& b, const mat& q, const mat& weights, u8* scratch,
              const chosen_blocks& chosen) const {
    if (a.shared == 1) return reference_kernels::select(p, a, b, q, weights, scratch, chosen);
    for (u32 t = 0; t < b.n_tokens; ++t) {
      const std::vector<f32> scores = scores_of(a, b, t, q.row(t));
      const auto end = static_cast<u32>(scores.size()), n = std::min(end, a.top_k);
      std::vector<u32> cells(end);
      std::iota(cells.begin(), cells.end(), 0u);
      std::partial_sort(cells.begin(), cells.begin() + n, cells.end(),
                        [&](u32 i, u32 j) { return scores[i] > scores[j]; });
      std::sort(cells.begin(), cells.begin() + n);
      chosen.list(t, 0)[0] = n;
      std::copy(cells.begin(), cells.begin() + n, chosen.list(t, 0) + 1);
    }
  }

 private:
  static std::vector<f32> scores_of(const select_args& a, const batch& b, u32 t, const f32* q) {
    const kv_rows<f32_block> rows(a.keys(), b, b.sequence[t]);
    std::vector<f32> scores;
    for (u32 cell = 0; cell <= b.cell[t]; ++cell) {
      const u32 last = cell / a.shared * a.shared + a.shared - 1;
      f64 sum = last <= b.cell[t] ? 0.0 : 1e9;
      for (u32 h = 0; h < a.n_head && last <= b.cell[t]; ++h) {
        const f32* k = reinterpret_cast<const f32*>(rows.key(last, 0));
        f64 s = 0.0;
        for (u32 i = 0; i < a.dim; ++i) s += f64(q[h * a.dim + i]) * f64(k[i]);
        sum += s > 0.0 ? s : 0.0;
      }
      scores.push_back(static_cast<f32>(sum));
    }
    return scores;
  }
};

inline kernel_set table() {
  static constexpr cpu::kernel_table t = cpu::table_of<kernels, quants<f32>>("equal cells");
  return kernel_set(t);
}

}  // namespace equal_cells
