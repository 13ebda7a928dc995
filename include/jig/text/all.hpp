#pragma once
// The tokenizer kinds that load_vocab() tries unless told otherwise. A new kind is a header and a line here.

#include "jig/text/bpe.hpp"
#include "jig/text/none.hpp"
#include "jig/text/spm.hpp"

namespace jig {

inline constexpr const tokenizer_kind* tokenizer_kinds[] = {&spm_kind, &bpe_kind, &no_vocab_kind};

}  // namespace jig
