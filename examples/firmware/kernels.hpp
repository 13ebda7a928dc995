#pragma once
// Which kernels the program runs on: those for the instructions that the compiler's flags allow, so Helium's 8-bit dot
// products on a Cortex-M55 and plain C++ on a Cortex-M7. JIG_FIRMWARE_SCALAR asks for plain C++ everywhere.

#include "jig/backend/cpu/kernels.hpp"

#if defined(JIG_FIRMWARE_SCALAR)
using firmware_isa = jig::isa::scalar;
#else
using firmware_isa = jig::isa::native;
#endif

template <class Quants, class Kv = jig::kv_types>
using firmware_kernels = jig::cpu::kernels<firmware_isa, Quants, Kv>;
