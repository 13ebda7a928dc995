// Part of jig::compiled: sessions and generation. Nothing here depends on the architecture.

#include "jig/host/compiled.hpp"

namespace jig::host {

template class text_session<compiled_model>;
template class generation<compiled_model>;

}  // namespace jig::host
