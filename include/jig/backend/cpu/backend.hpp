#pragma once
// The CPU as the backend of a `jig::model`: kernels for one instruction set, by default what the compiler's flags say.
// A program that shall run on every machine of a family takes cpu_dispatch (dispatch_backend.hpp) instead.

#include "jig/backend/cpu/kernels.hpp"
#include "jig/core/result.hpp"

namespace jig::backend {

template <class Isa = isa::native>
struct cpu {
  template <class Quants>
  using kernels = jig::cpu::kernels<Isa, Quants>;

  /// The kernels of a session. Never fails: a program whose flags the machine lacks does not get here.
  template <class Quants>
  static result<kernels<Quants>> make() noexcept {
    return kernels<Quants>{};
  }
};

}  // namespace jig::backend
