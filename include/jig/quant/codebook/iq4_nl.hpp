#pragma once
// IQ4_NL and IQ4_XS: the value of each 4-bit code, 16 bytes. Levels lie denser near zero; no rule.

#include "jig/core/types.hpp"

namespace jig::codebook {

inline constexpr i8 iq4_nl[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace jig::codebook
