// Part of jig::compiled: sessions and generation, every architecture's forward pass.

#include "jig/host/compiled.hpp"

namespace jig::host {

template class text_session<compiled_model>;
template class generation<compiled_model>;

}  // namespace jig::host
