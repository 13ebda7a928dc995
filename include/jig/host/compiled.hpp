#pragma once
// The model type that the CMake library jig::compiled holds ready: every architecture and block type, the kernels
// chosen when the program runs. A program that links jig::compiled does not instantiate it again (extern templates) and
// so rebuilds in seconds; with jig::host the same source compiles everything itself.
//
//   auto m = jig::host::load<jig::host::compiled_model>("model.gguf");

#include "jig/backend/cpu/dispatch_backend.hpp"
#include "jig/host/generation.hpp"
#include "jig/host/memory_plan.hpp"
#include "jig/host/throwing.hpp"

namespace jig::host {

using compiled_model = model<all_archs, all_quants, backend::cpu_dispatch>;

#if defined(JIG_COMPILED)
extern template class loaded<compiled_model>;
extern template class text_session<compiled_model>;
extern template class generation<compiled_model>;
#endif

}  // namespace jig::host
