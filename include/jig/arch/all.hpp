#pragma once
// The list of architectures: adding one is its header and its line here.

#include "jig/arch/llama.hpp"
#include "jig/arch/qwen2.hpp"
#include "jig/core/type_list.hpp"

namespace jig {

/// The architectures that a program is built with.
template <class... Archs>
using archs = type_list<Archs...>;

using all_archs = archs<arch::llama, arch::qwen2>;

}  // namespace jig
