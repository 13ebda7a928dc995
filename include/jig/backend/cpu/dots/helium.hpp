#pragma once
// Integer dot products for Cortex-M with Helium (MVE): Q8_0 and Q4_0, 16 products an instruction.
// Integer sums are exact; the blocks are summed in f32 in their order, as the plain loops do.

#include "jig/backend/cpu/dots/dot.hpp"
#include "jig/quant/q4_0.hpp"

#if defined(JIG_HAS_HELIUM)
#include <arm_mve.h>

namespace jig::cpu {

/// Q8_0 weights.
struct q8_0_helium {
  static f32 row(const q8_0* w, const u8* a, u32 blocks) noexcept {
    const q8_0* y = reinterpret_cast<const q8_0*>(a);
    f32 total = 0.0f;
    for (u32 i = 0; i < blocks; ++i) {
      i32 s = vmladavq_s8(vldrbq_s8(w[i].qs), vldrbq_s8(y[i].qs));
      s = vmladavaq_s8(s, vldrbq_s8(w[i].qs + 16), vldrbq_s8(y[i].qs + 16));
      total += f32(w[i].d) * (f32(y[i].d) * static_cast<f32>(s));
    }
    return total;
  }
};

/// Q4_0 weights.
struct q4_0_helium {
  static f32 row(const q4_0* w, const u8* a, u32 blocks) noexcept {
    const q8_0* y = reinterpret_cast<const q8_0*>(a);
    f32 total = 0.0f;
    for (u32 i = 0; i < blocks; ++i) {
      const uint8x16_t q = vldrbq_u8(w[i].qs);
      const int8x16_t low = vsubq_n_s8(vreinterpretq_s8_u8(vandq_u8(q, vdupq_n_u8(15))), 8);
      const int8x16_t high = vsubq_n_s8(vreinterpretq_s8_u8(vshrq_n_u8(q, 4)), 8);
      i32 s = vmladavq_s8(low, vldrbq_s8(y[i].qs));
      s = vmladavaq_s8(s, high, vldrbq_s8(y[i].qs + 16));
      total += f32(w[i].d) * (f32(y[i].d) * static_cast<f32>(s));
    }
    return total;
  }
};

q8_0_helium dot_kernel(isa::helium, type_tag<q8_0>) noexcept;
q4_0_helium dot_kernel(isa::helium, type_tag<q4_0>) noexcept;

}  // namespace jig::cpu
#endif
