#pragma once
// Byte-level BPE, as GPT-2 and its descendants: the text is cut into words by the vocabulary's pre-tokenizer; within
// a word neighbouring tokens join by the rank of their merge, leftmost on ties.
//
// Text is read leniently (utf8.hpp), so an invalid byte counts as U+FFFD. A byte without a token is dropped, as in the
// reference; public vocabularies have them all.
// Scratch: 34 bytes per byte of the longest word (102 per byte where every byte is invalid).

#include "jig/text/byte_alphabet.hpp"
#include "jig/text/merge_symbols.hpp"
#include "jig/text/pre_rules.hpp"
#include "jig/text/vocab.hpp"

namespace jig {

namespace detail {

/// Calls each(byte) for the UTF-8 form of [begin, end) as leniently read.
template <class Each>
void for_each_byte(std::string_view text, usize begin, usize end, Each&& each) noexcept {
  while (begin < end) {
    const decoded d = decode_utf8(text, begin);
    char bytes[4];
    const u32 n = encode_utf8(d.code, bytes);
    for (u32 i = 0; i < n; ++i) each(static_cast<u8>(bytes[i]));
    begin += d.bytes;
  }
}

/// The token that is the whole word, or -1. Errors: buffer_too_small ("scratch").
inline result<i32> whole_word(const vocab& v, std::string_view text, usize begin, usize end, scratch& memory) noexcept {
  if ((end - begin) / 4 > v.longest_token) return -1;  // at most four bytes (an over-long form) give one
  const usize mark = memory.mark();
  JIG_TRY(const std::span<char> encoded, memory.take<char>(6 * (end - begin) + 4));
  usize n = 0;
  for_each_byte(text, begin, end, [&](u8 b) { n += encode_utf8(byte_to_code(b), encoded.data() + n); });
  const i32 id = v.find({encoded.data(), n});
  memory.rewind(mark);
  return id;
}

/// A byte that has no token of its own: the bytes of its stand-in are tried one by one, misses are dropped.
inline void put_missing_byte(const vocab& v, u8 byte, id_sink& out) noexcept {
  char encoded[4];
  const u32 n = encode_utf8(byte_to_code(byte), encoded);
  for (u32 i = 0; i < n; ++i)
    if (const i32 id = v.find({encoded + i, 1}); id >= 0) out.put(id);
}

inline result<void> bpe_word(const vocab& v, std::string_view text, usize begin, usize end, scratch& memory,
                             id_sink& out) noexcept {
  if (v.flags.ignore_merges) {
    JIG_TRY(const i32 id, whole_word(v, text, begin, end, memory));
    if (id >= 0) {
      out.put(id);
      return {};
    }
  }
  const usize mark = memory.mark();
  u32 n = 0;
  for_each_byte(text, begin, end, [&](u8) { ++n; });
  JIG_TRY(const std::span<merge_symbol> s, memory.take<merge_symbol>(n));
  u32 i = 0;
  for_each_byte(text, begin, end, [&](u8 b) {
    s[i].begin = b;  // a single byte's value: looked at only while it is a symbol of its own
    s[i++].id = v.byte_ids.empty() ? -1 : v.byte_ids[b];
  });
  merge_symbols(s, [&](u32 l, u32 r) -> merge_candidate {
    if (s[l].id < 0 || s[r].id < 0) return {};
    const u32 rank = v.find_merge(s[l].id, s[r].id);
    return rank == lookup::none ? merge_candidate{} : merge_candidate{rank, v.merges[rank].result};
  });
  for (i = 0; i != merge_symbol::none; i = s[i].next) {
    if (s[i].id >= 0) out.put(s[i].id);
    else put_missing_byte(v, static_cast<u8>(s[i].begin), out);
  }
  memory.rewind(mark);
  return {};
}

inline result<void> bpe_tokenize(const vocab& v, std::string_view raw, scratch& memory, id_sink& out) noexcept {
  struct context {
    const vocab& v;
    std::string_view raw;
    scratch& memory;
    id_sink& out;
  } all{v, raw, memory, out};
  return v.pre->split(raw, {&all, [](void* p, usize begin, usize end) -> result<void> {
                              auto& c = *static_cast<context*>(p);
                              return bpe_word(c.v, c.raw, begin, end, c.memory, c.out);
                            }});
}

inline result<void> bpe_choose_pre(vocab& v, std::string_view name) noexcept {
  JIG_TRY(v.pre, find_pre_rule(name));
  v.flags = v.pre->flags;
  if (v.pre->clear_bos) v.ids.bos = -1;
  return {};
}

inline std::string_view bpe_byte_text(const vocab&, u8 byte, int attempt, char* out) noexcept {
  return attempt == 0 ? std::string_view(out, encode_utf8(byte_to_code(byte), out)) : std::string_view();
}

inline constexpr std::string_view bpe_models[] = {"gpt2"};

}  // namespace detail

/// The kind of `tokenizer.ggml.model` = "gpt2".
inline constexpr tokenizer_kind bpe_kind = {
    .name = "BPE",
    .models = detail::bpe_models,
    .ids = {.bos = 11, .eos = 11},
    .uses_merges = true,
    .choose_pre = detail::bpe_choose_pre,
    .tokenize = detail::bpe_tokenize,
    .byte_text = detail::bpe_byte_text,
};

}  // namespace jig
