// Part of jig::compiled: the memory plan without loading, every architecture's forward pass on the planner.

#include "jig/host/compiled.hpp"

namespace jig::host {

template result<memory_plan> plan_memory<compiled_model>(const std::string&, const session_options&, u32);

}  // namespace jig::host
