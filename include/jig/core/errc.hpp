#pragma once
// Every error that jig can report: one line per code, saying what it means and who reports it.
//
// The list is a table (X-macro) so that the enumerator, its text and its documentation stay one line.

#include <string_view>

#include "jig/core/types.hpp"

namespace jig {

// clang-format off
#define JIG_ERRORS(X)                                                                                   \
  X(ok, "no error")                                                                                     \
  /* gguf: the container */                                                                             \
  X(truncated, "the file ends too early")                                                               \
  X(bad_magic, "not a GGUF file (the first four bytes are not \"GGUF\")")                               \
  X(unsupported_version, "unsupported GGUF version (2 and 3 are known)")                                \
  X(count_too_large, "a count is larger than the rest of the file can hold or the limit")                            \
  X(string_too_long, "a string is longer than the rest of the file or than the limit for its kind")     \
  X(bad_value_type, "unknown metadata value type")                                                      \
  X(nested_array, "arrays of arrays are not allowed in metadata")                                       \
  X(bad_bool, "a bool is neither 0 nor 1")                                                              \
  X(bad_key, "a metadata key is empty, too long or not printable")                                      \
  X(duplicate_key, "a metadata key occurs twice")                                                       \
  X(bad_alignment, "general.alignment is not a power of two, or out of range")                          \
  X(bad_tensor_name, "a tensor name is empty, too long or not printable")                               \
  X(duplicate_tensor, "a tensor name occurs twice")                                                     \
  X(bad_rank, "a tensor has no or more than four dimensions")                                           \
  X(bad_dimension, "a tensor dimension is zero or the product of the dimensions is too large")          \
  X(unknown_tensor_type, "unknown or retired tensor type")                                              \
  X(partial_block, "the row length of a tensor is not a multiple of its block length")                  \
  X(misaligned_offset, "a tensor's offset is not a multiple of the alignment")                          \
  X(offset_out_of_file, "a tensor's data lies outside the file")                                        \
  X(overlapping_tensors, "two tensors share bytes of the file")                                         \
  X(bad_data, "a tensor holds a number that is not finite or a scale that is not valid")                \
  X(bad_split, "the parts of a split file do not belong together")                                      \
  /* model: keys and tensors against an architecture's tables */                                        \
  X(missing_key, "a required metadata key is missing")                                                  \
  X(wrong_key_type, "a metadata key has the wrong type")                                                \
  X(bad_value, "a metadata value is out of range")                                                      \
  X(inconsistent, "metadata values contradict each other")                                              \
  X(unknown_architecture, "the architecture is unknown to this program")                                \
  X(missing_tensor, "a required tensor is missing")                                                     \
  X(unexpected_tensor, "a tensor that the architecture does not have")                                  \
  X(wrong_shape, "a tensor has the wrong shape")                                                        \
  X(wrong_tensor_type, "a tensor's type cannot be used here or is not built into this program")         \
  X(unsupported_feature, "the file asks for a feature that this program does not have")                 \
  /* text */                                                                                            \
  X(unknown_tokenizer, "unknown tokenizer model")                                                       \
  X(unknown_pretokenizer, "unknown pre-tokenizer name")                                                 \
  X(bad_vocabulary, "the vocabulary is inconsistent")                                                   \
  X(bad_merge, "a merge names a token that does not exist or is malformed")                             \
  X(untokenizable, "the text cannot be tokenized with this vocabulary")                                 \
  /* run time */                                                                                        \
  X(out_of_memory, "not enough memory")                                                                 \
  X(buffer_too_small, "the caller's buffer is too small")                                               \
  X(context_full, "the context is full")                                                                \
  X(bad_state, "a saved sequence is damaged or does not belong here")                                  \
  X(state_not_kept, "the recurrent state at this length was not kept")                                  \
  X(bad_token, "a token id is outside the vocabulary")                                                  \
  X(bad_sequence, "unknown sequence, or no free sequence")                                              \
  X(bad_argument, "an argument is out of range")                                                        \
  X(not_supported, "not supported by this model, kind of memory or backend")                                 \
  X(unknown_isa, "unknown name of an instruction set")                                                  \
  X(missing_isa, "this machine or this program lacks the instruction set")                              \
  /* host */                                                                                            \
  X(cannot_open, "cannot open the file")                                                                \
  X(cannot_read, "cannot read the file")                                                                \
  X(cannot_write, "cannot write the file")                                                              \
  X(cancelled, "cancelled")
// clang-format on

/// Error codes; `text(code)` gives the sentence.
enum class errc : u16 {
#define X(name, text) name,
  JIG_ERRORS(X)
#undef X
};

/// The sentence that explains an error code.
constexpr std::string_view text(errc code) noexcept {
  switch (code) {
#define X(name, text) \
  case errc::name: return text;
    JIG_ERRORS(X)
#undef X
  }
  return "unknown error";
}

/// The enumerator's name: stable, for logs, JSON and tests.
constexpr std::string_view name(errc code) noexcept {
  switch (code) {
#define X(name, text) \
  case errc::name: return #name;
    JIG_ERRORS(X)
#undef X
  }
  return "unknown";
}

}  // namespace jig
