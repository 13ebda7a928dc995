#pragma once
// Activations as wide products take them: for each 32 values one cache line with their codes and with all that does not
// depend on the weights.

#include "jig/backend/cpu/sizes.hpp"

namespace jig::cpu {

/// 32 activations: value = scale * code. In halves of 16, too, for weights that have a scale for each 16.
struct wide_group {
  i8 codes[32];
  f32 scale;
  i32 bias;       ///< -128 * the sum of the codes: what weights with 128 added count too much
  f32 sum;        ///< of the codes, for weights with a minimum; times scale where that may differ in the next group
  i32 biases[2];  ///< of the halves
  f32 sums[2];
  u32 unused;
};
static_assert(sizeof(wide_group) == wide_group_bytes);

/// Encoded activations, `cols` of them (a multiple of 32), as cols / 32 groups.
template <class A>
void widen(const A* blocks, u32 cols, wide_group* out) noexcept {
  for (u32 g = 0; g < cols / 32; ++g) {
    const A& b = blocks[g * 32 / A::size];
    const i8* q = b.qs + g * 32 % A::size;
    const f32 d = b.d;
    i32 sums[2] = {0, 0};
    for (u32 h = 0; h < 2; ++h)
      for (u32 i = 16 * h; i < 16 * h + 16; ++i) {
        out[g].codes[i] = q[i];
        sums[h] += q[i];
      }
    out[g].scale = d;
    const f32 unit = A::size == 256 ? 1.0f : d;
    out[g].bias = -128 * (sums[0] + sums[1]);
    out[g].sum = unit * static_cast<f32>(sums[0] + sums[1]);
    for (u32 h = 0; h < 2; ++h) {
      out[g].biases[h] = -128 * sums[h];
      out[g].sums[h] = unit * static_cast<f32>(sums[h]);
    }
  }
}

}  // namespace jig::cpu
