#pragma once
// SPM: the sentencepiece BPE of Llama 2 and its like. Neighbours whose joined text is a token join by the token's
// score, highest first, leftmost on ties; what is no token in the end becomes byte tokens.
//
// Spaces are U+2581 in token texts. Symbols are cut by their first byte alone, so invalid UTF-8 needs no care.
// Scratch: 35 bytes per byte of the longest stretch that is worked on at once. That is a word together with the
// spaces before it where no token of the vocabulary goes on into a new word (vocab::words_separate; true for the
// public vocabularies seen), else the text between special tokens.

#include "jig/text/merge_symbols.hpp"
#include "jig/text/utf8.hpp"
#include "jig/text/vocab.hpp"

namespace jig {

/// U+2581, which stands for a space in token texts.
inline constexpr std::string_view space_mark = "\xe2\x96\x81";

namespace detail {

/// Scores as keys: a higher score gives a smaller key, equal scores equal keys (-0 = +0). Not for NaN.
constexpr u32 score_key(f32 score) noexcept {
  const u32 bits = std::bit_cast<u32>(score == 0 ? 0.0f : score);
  return (bits & 0x80000000u) != 0 ? bits : ~(bits | 0x80000000u);
}

/// Reads a text with each space replaced by U+2581 (and one such space put in front), byte by byte.
struct escaped_reader {
  std::string_view raw;
  bool prefix;        ///< the space in front is still to be read
  usize at = 0;       ///< next byte of raw
  u32 of_space = 0;   ///< bytes of the current U+2581 that were read

  constexpr bool done() const noexcept { return !prefix && at == raw.size(); }
  constexpr u8 peek() const noexcept {
    return static_cast<u8>(prefix || raw[at] == ' ' ? space_mark[of_space] : raw[at]);
  }
  constexpr char next() noexcept {
    const char c = static_cast<char>(peek());
    if (!prefix && raw[at] != ' ') {
      ++at;
    } else if (++of_space == space_mark.size()) {
      of_space = 0;
      prefix ? void(prefix = false) : void(++at);
    }
    return c;
  }
  /// True if a whole U+2581 comes next.
  constexpr bool at_space() const noexcept {
    return of_space == 0 && (prefix || (at < raw.size() && raw[at] == ' ') || raw.substr(at).starts_with(space_mark));
  }
};

/// Size of the next stretch: the whole rest, or the spaces and the word that come next.
struct spm_extent {
  usize bytes = 0;
  u32 symbols = 0;
};
constexpr spm_extent measure_stretch(escaped_reader r, bool one_word) noexcept {
  spm_extent e;
  for (bool after_space = true; !r.done(); ++e.symbols) {
    const bool space = r.at_space();
    if (one_word && space && !after_space) break;
    after_space = space;
    const u32 length = symbol_length(r.peek());
    for (u32 i = 0; i < length && !r.done(); ++i, ++e.bytes) r.next();
  }
  return e;
}

/// Puts out the token of a final symbol, or those of its bytes.
inline result<void> put_symbol(const vocab& v, i32 id, std::string_view text, id_sink& out) noexcept {
  if (id >= 0) {
    out.put(id);
    return {};
  }
  for (char c : text) {
    const i32 byte_id = v.byte_ids.empty() ? -1 : v.byte_ids[static_cast<u8>(c)];
    if (byte_id < 0) return fail(errc::untokenizable, "no token for a byte").got(static_cast<u8>(c));
    out.put(byte_id);
  }
  return {};
}

/// Joins the symbols of one stretch of escaped text and puts their ids out. `s` has one element per symbol.
inline result<void> spm_stretch(const vocab& v, std::string_view text, std::span<merge_symbol> s,
                                id_sink& out) noexcept {
  usize at = 0;
  for (merge_symbol& symbol : s) {
    const u32 length = symbol_length(static_cast<u8>(text[at]));
    symbol.begin = static_cast<u32>(at);
    symbol.id = v.find(text.substr(at, length));
    at += length;
  }
  const auto text_between = [&](u32 first, u32 behind) {
    const usize end = behind == merge_symbol::none ? text.size() : s[behind].begin;
    return text.substr(s[first].begin, end - s[first].begin);
  };
  merge_symbols(s, [&](u32 l, u32 r) -> merge_candidate {
    const i32 id = v.find(text_between(l, s[r].next));
    if (id < 0) return {};
    return {v.scores.empty() ? 0 : score_key(v.scores[static_cast<usize>(id)]), id};
  });
  for (u32 i = 0; i != merge_symbol::none; i = s[i].next) {
    JIG_CHECK(put_symbol(v, s[i].id, text_between(i, s[i].next), out));
  }
  return {};
}

inline result<void> spm_tokenize(const vocab& v, std::string_view raw, scratch& memory, id_sink& out) noexcept {
  escaped_reader reader{raw, v.flags.add_space_prefix};
  while (!reader.done()) {
    const usize mark = memory.mark();
    const spm_extent extent = measure_stretch(reader, v.words_separate);
    JIG_TRY(const std::span<merge_symbol> symbols, memory.take<merge_symbol>(extent.symbols));
    JIG_TRY(const std::span<char> text, memory.take<char>(extent.bytes));
    for (char& c : text) c = reader.next();
    JIG_CHECK(spm_stretch(v, {text.data(), text.size()}, symbols, out));
    memory.rewind(mark);
  }
  return {};
}

/// `<0xHH>`, else the byte itself.
inline std::string_view spm_byte_text(const vocab&, u8 byte, int attempt, char* out) noexcept {
  constexpr char digits[] = "0123456789ABCDEF";
  if (attempt == 1) {
    out[0] = static_cast<char>(byte);
    return {out, 1};
  }
  const char text[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
  for (usize i = 0; i < sizeof text; ++i) out[i] = text[i];
  return attempt == 0 ? std::string_view(out, sizeof text) : std::string_view();
}

inline constexpr std::string_view spm_models[] = {"llama"};

}  // namespace detail

/// The kind of `tokenizer.ggml.model` = "llama".
inline constexpr tokenizer_kind spm_kind = {
    .name = "SPM",
    .models = detail::spm_models,
    .ids = {.bos = 1, .eos = 2, .unk = 0},
    .flags = {.add_bos = true, .add_space_prefix = true, .escape_whitespaces = true},
    .uses_scores = true,
    .tokenize = detail::spm_tokenize,
    .byte_text = detail::spm_byte_text,
};

}  // namespace jig
