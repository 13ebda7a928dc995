#pragma once
// MXFP4 and NVFP4: twice the value of each 4-bit E2M1 float, 16 bytes.
//
// Code = s e e m: value = (-1)^s * (e == 0 ? m/2 : 2^(e-1) * (1 + m/2)). Doubled, all are integers; code 8 (minus
// zero) is stored as 0.

#include "jig/core/types.hpp"

namespace jig::codebook {

inline constexpr i8 e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace jig::codebook
