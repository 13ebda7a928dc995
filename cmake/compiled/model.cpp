// Part of jig::compiled: loading, every architecture's tables and checks.

#include "jig/host/compiled.hpp"

namespace jig::host {

template class loaded<compiled_model>;

}  // namespace jig::host
