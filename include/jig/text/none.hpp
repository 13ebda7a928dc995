#pragma once
// A model without a vocabulary: ids have no text. Tokenizing is a named error, detokenizing gives nothing.

#include "jig/text/vocab.hpp"

namespace jig {

namespace detail {

inline result<void> no_tokenize(const vocab&, std::string_view, scratch&, id_sink&) noexcept {
  return fail(errc::untokenizable, "the model has no vocabulary");
}
inline constexpr std::string_view no_vocab_models[] = {"none", "no_vocab"};

}  // namespace detail

/// The kind of `tokenizer.ggml.model` = "none" or "no_vocab": `<arch>.vocab_size` tokens without text.
inline constexpr tokenizer_kind no_vocab_kind = {
    .name = "none", .models = detail::no_vocab_models, .tokenize = detail::no_tokenize};

}  // namespace jig
