#pragma once
// A vocabulary: what is known of every token, and the look-ups that tokenizing and detokenizing need.
//
// A `vocab` is a view: all arrays lie in the GGUF file's bytes, in memory that the caller gave load_vocab(), or in
// flash (every member is public and constant data, so that a tool can write a vocabulary out as constants).
// It is immutable; any number of threads may use one.

#include <span>
#include <string_view>

#include "jig/core/result.hpp"
#include "jig/text/lookup.hpp"
#include "jig/text/scratch.hpp"

namespace jig {

struct tokenizer_kind;
struct pre_rule;
struct vocab;

/// Token types of GGUF files; 0 stands for numbers outside 1..6.
enum class token_type : u8 { undefined, normal, unknown, control, user_defined, unused, byte };

/// What a token is, in one byte: the type, and marks that the file or the token's text add.
struct token_attributes {
  static constexpr u8 type_mask = 0x07, control = 0x08, end_of_generation = 0x10, left_strip = 0x20,
                      right_strip = 0x40;
  u8 bits = 0;

  constexpr token_type type() const noexcept { return static_cast<token_type>(bits & type_mask); }
  constexpr bool has(u8 mark) const noexcept { return (bits & mark) != 0; }
  /// Control or unknown: shown only on request, found in a text only with parse_special.
  constexpr bool is_hidden() const noexcept {
    return has(control) || type() == token_type::control || type() == token_type::unknown;
  }
  /// Found in a text before anything else is done to it.
  constexpr bool is_special() const noexcept { return is_hidden() || type() == token_type::user_defined; }
};

/// Ids with a role; -1 where the vocabulary has none.
struct special_ids {
  i32 bos = -1, eos = -1, eot = -1, eom = -1, unk = -1, sep = -1, pad = -1, mask = -1;
  i32 fim_pre = -1, fim_suf = -1, fim_mid = -1, fim_pad = -1, fim_rep = -1, fim_sep = -1;
};

/// What a vocabulary asks for; defaults by kind and pre-tokenizer, overridden by the file's keys.
struct vocab_flags {
  bool add_bos = false;             ///< tokenize() puts BOS in front, if add_special
  bool add_eos = false;             ///< tokenize() puts EOS behind, if add_special
  bool add_sep = false;             ///< only reported
  bool add_space_prefix = false;    ///< a space is put before the text, and taken away when detokenizing
  bool clean_spaces = false;        ///< detokenizing drops spaces before punctuation (see clean_spaces.hpp)
  bool ignore_merges = false;       ///< a word that is a token is that token, whatever the merges say
  bool escape_whitespaces = false;  ///< spaces are stored as U+2581
  bool byte_encode = true;          ///< BPE only: texts are stored in the byte alphabet
};

/// Two tokens that become one; its place in the list is its rank (0 first).
struct merge {
  i32 left, right, result;
};

/// One bit per byte value.
struct byte_set {
  u32 words[8] = {};
  constexpr void add(u8 b) noexcept { words[b >> 5] |= u32{1} << (b & 31); }
  constexpr bool has(u8 b) const noexcept { return (words[b >> 5] >> (b & 31) & 1) != 0; }
};

/// See the head of this file.
struct vocab {
  static constexpr u32 own_text = u32{1} << 31;  ///< in `offsets`: the text lies in `own`, not in `base`
  static constexpr u32 max_token_bytes = 8192;   ///< longest token text that load_vocab accepts

  const tokenizer_kind* kind = nullptr;
  const pre_rule* pre = nullptr;  ///< BPE only
  u32 count = 0;                  ///< number of tokens

  const char* base = nullptr;  ///< texts: base + offsets[id], lengths[id] bytes
  const char* own = nullptr;
  std::span<const u32> offsets;
  std::span<const u16> lengths;
  std::span<const token_attributes> attributes;
  std::span<const f32> scores;  ///< SPM only
  lookup by_text;

  std::span<const merge> merges;  ///< BPE only, by rank
  lookup by_pair;
  std::span<const i32> byte_ids;  ///< 256 ids: the token that stands for a byte, or -1

  std::span<const u32> specials;         ///< ids of the tokens that are searched for in texts, sorted by text
  std::span<const u32> special_parents;  ///< for each: the place of the longest other one that its text starts with
  byte_set special_starts;       ///< first bytes of special tokens
  byte_set user_defined_starts;  ///< first bytes of the user-defined ones among them
  bool strips = false;           ///< some special token takes white space beside it away

  special_ids ids;
  vocab_flags flags;
  u32 longest_token = 0;       ///< bytes of the longest token text
  bool words_separate = false;  ///< SPM: no token goes on from another character to U+2581

  constexpr bool contains(i32 id) const noexcept { return id >= 0 && static_cast<u32>(id) < count; }
  constexpr token_attributes attributes_of(i32 id) const noexcept {
    return attributes.empty() ? token_attributes{} : attributes[static_cast<usize>(id)];
  }
  /// Ends generation: EOS, EOT and their like. False for ids outside the vocabulary.
  constexpr bool is_end_of_generation(i32 id) const noexcept {
    return contains(id) && attributes_of(id).has(token_attributes::end_of_generation);
  }

  /// The token's text as the file has it (not what it means: see piece()). `id` is in the vocabulary.
  constexpr std::string_view text_of(i32 id) const noexcept {
    const auto i = static_cast<usize>(id);
    if (offsets.empty()) return {};
    const u32 offset = offsets[i];
    return {((offset & own_text) != 0 ? own : base) + (offset & ~own_text), lengths[i]};
  }

  /// The token whose text is a followed by b, or -1.
  constexpr i32 find(std::string_view a, std::string_view b = {}) const noexcept {
    if (a.size() + b.size() > longest_token) return -1;
    const u32 found = by_text.find(text_hash().add(a).add(b).value(),
                                   [&](u32 id) { return compare(text_of(static_cast<i32>(id)), a, b); });
    return found == lookup::none ? -1 : static_cast<i32>(found);
  }

  /// The rank of the merge of two tokens, or lookup::none.
  constexpr u32 find_merge(i32 left, i32 right) const noexcept {
    return by_pair.find(pair_hash(left, right), [&](u32 rank) {
      const merge& m = merges[rank];
      return m.left != left ? (m.left < left ? -1 : 1) : m.right != right ? (m.right < right ? -1 : 1) : 0;
    });
  }

  /// Compares a text with the concatenation a + b: < 0, 0 or > 0.
  static constexpr int compare(std::string_view text, std::string_view a, std::string_view b) noexcept {
    const int head = text.substr(0, a.size()).compare(a);
    return head != 0 ? head : text.substr(a.size() < text.size() ? a.size() : text.size()).compare(b);
  }
};

/// A tokenizer: how texts of its vocabularies are cut. One header and one constant of this type per kind.
struct tokenizer_kind {
  std::string_view name;                     ///< "SPM", "BPE": for people
  std::span<const std::string_view> models;  ///< values of `tokenizer.ggml.model`
  special_ids ids = {};                      ///< before the keys are read; dropped if outside the vocabulary
  vocab_flags flags = {};                    ///< before the keys are read
  bool uses_scores = false;
  bool uses_merges = false;

  /// Chooses v.pre by name and changes flags and ids accordingly; null if the kind has no pre-tokenizers.
  result<void> (*choose_pre)(vocab& v, std::string_view pre) = nullptr;
  /// The ids of one stretch of text between special tokens. Errors: buffer_too_small ("scratch"), untokenizable.
  result<void> (*tokenize)(const vocab& v, std::string_view raw, scratch& memory, id_sink& out) = nullptr;
  /// The text whose token stands for a byte, written to `out` (8 bytes); used to fill byte_ids, first hit counts.
  std::string_view (*byte_text)(const vocab& v, u8 byte, int attempt, char* out) = nullptr;
};

}  // namespace jig
