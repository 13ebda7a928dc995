#pragma once
// Vocabularies and tokenizing with memory that manages itself: text/ with std::vector and std::string.
//
//   auto v = host::vocab::load(file);                            // result<host::vocab>
//   auto ids = v->tokenize("Hello", {.parse_special = false});   // result<std::vector<i32>>
//   auto text = v->detokenize(*ids);                             // result<std::string>

#include <algorithm>
#include <string>
#include <vector>

#include "jig/gguf/file_set.hpp"
#include "jig/host/aligned.hpp"
#include "jig/text/load_vocab.hpp"
#include "jig/text/stream.hpp"
#include "jig/text/tokenize.hpp"

namespace jig::host {

/// Buffers of one thread, to be used again from call to call.
struct tokenize_buffers {
  std::vector<std::byte> scratch;
  std::vector<i32> ids;
};

/// The ids of a text, in buffers.ids. The scratch memory grows as the text needs it.
/// Errors: untokenizable, bad_argument (2 GiB of text).
inline result<std::span<const i32>> tokenize(const jig::vocab& v, std::string_view text, tokenize_options options,
                                             tokenize_buffers& buffers) {
  buffers.scratch.resize(std::max<usize>(buffers.scratch.size(), 4096));
  buffers.ids.resize(std::max<usize>(buffers.ids.size(), text.size() / 2 + 16));
  for (;;) {
    const auto n = jig::tokenize(v, text, options, buffers.ids, buffers.scratch);
    if (n) return std::span<const i32>(buffers.ids).first(*n);
    if (n.error().code != errc::buffer_too_small) return n.error();
    const auto needed = static_cast<usize>(n.error().value);
    if (n.error().name() == "token ids") buffers.ids.resize(needed);
    else buffers.scratch.resize(std::max(needed, 2 * buffers.scratch.size()));
  }
}

/// The ids of a text. Errors: untokenizable, bad_argument (2 GiB of text).
inline result<std::vector<i32>> tokenize(const jig::vocab& v, std::string_view text, tokenize_options options = {}) {
  tokenize_buffers buffers;
  JIG_TRY(const std::span<const i32> ids, tokenize(v, text, options, buffers));
  return std::vector<i32>(ids.begin(), ids.end());
}

/// The text of a list of ids; invalid UTF-8 stays as it is. Errors: bad_token.
inline result<std::string> detokenize(const jig::vocab& v, std::span<const i32> ids, detokenize_options options = {}) {
  std::string text;
  const auto put = [&](char c) { text.push_back(c); };
  piece_writer writer(v, options);
  for (i32 id : ids) { JIG_CHECK(writer.add(id, put)); }
  writer.finish(put);
  return text;
}

/// The text of one token as it stands within a longer text; empty for ids outside the vocabulary.
inline std::string piece(const jig::vocab& v, i32 id, bool show_special = false) {
  std::string text;
  put_piece(v, id, show_special, [&](char c) { text.push_back(c); });
  return text;
}

/// A vocabulary with its memory. Move-only; the file's bytes must outlive it, for token texts lie there.
class vocab {
 public:
  vocab() noexcept = default;

  /// Reads the vocabulary of a file. Errors: those of jig::load_vocab, out_of_memory.
  static result<vocab> load(const gguf::file& file, kind_list kinds = tokenizer_kinds) {
    vocab v;
    JIG_TRY(const usize bytes, vocab_bytes_needed(file, kinds));
    JIG_TRY(v.memory_, aligned_bytes::make(bytes, "vocabulary"));
    JIG_TRY(v.view_, load_vocab(file, std::as_writable_bytes(v.memory_.bytes()), kinds));
    return v;
  }
  /// Reads the vocabulary of a model: the first file of a split one has it.
  static result<vocab> load(const gguf::file_set& file, kind_list kinds = tokenizer_kinds) {
    if (file.files().empty()) return fail(errc::missing_key, "tokenizer.ggml.model");
    return load(file.files().front(), kinds);
  }

  const jig::vocab& view() const noexcept { return view_; }
  u32 size() const noexcept { return view_.count; }
  /// Bytes of memory that it takes beside the file.
  usize memory_bytes() const noexcept { return memory_.bytes().size(); }

  /// As the functions of the same names.
  result<std::vector<i32>> tokenize(std::string_view text, tokenize_options options = {}) const {
    return host::tokenize(view_, text, options);
  }
  result<std::string> detokenize(std::span<const i32> ids, detokenize_options options = {}) const {
    return host::detokenize(view_, ids, options);
  }
  std::string piece(i32 id, bool show_special = false) const { return host::piece(view_, id, show_special); }

 private:
  aligned_bytes memory_;
  jig::vocab view_;
};

}  // namespace jig::host
