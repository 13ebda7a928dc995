#pragma once
// The CPU as the backend of a `jig::model`, the instruction set chosen when the program runs (see dispatch.hpp).
// Hosted: looks at the machine and at the environment variable JIG_ISA.
// Hosted: asks the machine and the environment.
//
//   using model = jig::model<jig::all_archs, jig::all_quants, jig::backend::cpu_dispatch>;
//   jig_add_dispatch(my_program)   # CMake; without it there is one set, that of the compiler's flags

#include "jig/backend/cpu/dispatch.hpp"

namespace jig::backend {

struct cpu_dispatch {
  template <class Quants>
  using kernels = jig::cpu::default_kernels<Quants>;

  /// The best kernels for this machine, or those that JIG_ISA names. Errors: unknown_isa, missing_isa.
  template <class Quants>
  static result<kernels<Quants>> make() noexcept {
    return jig::cpu::choose_kernels<Quants>();
  }
};

}  // namespace jig::backend
