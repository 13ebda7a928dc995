#pragma once
// The CPU as the backend of a `jig::model`: kernels for one instruction set, by default what the compiler's flags say.

#include "jig/backend/cpu/kernels.hpp"

namespace jig::backend {

template <class Isa = isa::native>
struct cpu {
  template <class Quants>
  using kernels = jig::cpu::kernels<Isa, Quants>;
};

}  // namespace jig::backend
