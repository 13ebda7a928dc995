#pragma once
// From text to ids, for any vocabulary, in memory that the caller lends.

#include "jig/text/special.hpp"
#include "jig/text/vocab.hpp"

namespace jig {

struct tokenize_options {
  bool add_special = true;     ///< BOS in front and EOS behind, as far as the vocabulary asks for them
  bool parse_special = false;  ///< find control tokens in the text too (only for text that you trust)
};

/// Scratch bytes that suffice for any text of n bytes. Nearly all texts need far less: it is the longest word and the
/// longest run of special tokens that count (spm.hpp, bpe.hpp and special.hpp say how), a few kilobytes in practice.
constexpr u64 tokenize_scratch_bytes(u64 n) noexcept { return (n + 1) * (3 * 34 + 13) + 256; }

/// The ids of a text: written to `out`, their number returned. Time O(n log n) in the text's length.
/// Errors: buffer_too_small (name "token ids": `got` is the number of ids; name "scratch": `got` is a number of bytes
/// that brings the text further, at most tokenize_scratch_bytes), untokenizable (no token for a byte of the text, or
/// no vocabulary), bad_argument (2 GiB of text).
inline result<usize> tokenize(const vocab& v, std::string_view text, tokenize_options options, std::span<i32> out,
                              std::span<std::byte> memory) noexcept {
  if (v.kind == nullptr) return fail(errc::untokenizable, "the vocabulary is empty");
  if (text.size() > 0x7fffffff) return fail(errc::bad_argument, "text length").got(text.size());
  scratch work(memory);
  id_sink ids(out);
  if (options.add_special && v.flags.add_bos && v.ids.bos >= 0) ids.put(v.ids.bos);
  JIG_CHECK(detail::split_special(
      v, text, options.parse_special, work,
      [&](i32 id) -> result<void> {
        ids.put(id);
        return {};
      },
      [&](std::string_view raw) { return v.kind->tokenize(v, raw, work, ids); }));
  if (options.add_special && v.flags.add_eos && v.ids.eos >= 0) ids.put(v.ids.eos);
  return ids.finish();
}

}  // namespace jig
