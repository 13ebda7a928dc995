// Part of jig::compiled: every architecture's forward pass.

#include "jig/host/compiled.hpp"

namespace jig::host {

template class loaded<compiled_model>;

}  // namespace jig::host
