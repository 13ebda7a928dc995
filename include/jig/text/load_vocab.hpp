#pragma once
// Reads the vocabulary of a GGUF file into memory that the caller gives.
//
//   auto need = vocab_bytes_needed(file);                 // result<usize>
//   auto v = load_vocab(file, memory);                    // result<vocab>; needs the file's bytes and `memory` to stay
//   auto v = load_vocab(file, memory, my_kinds);          // firmware: only these kinds are linked
//
// Memory: per token 7 bytes (11 with scores) and 6 to 12 for the look-up; per merge 12 and 6 to 12; 8 per special
// token. Llama 3 (128,256 tokens, 280,147 merges): 7 MB. Token texts stay in the file.

#include "jig/core/ascii.hpp"
#include "jig/text/vocab_source.hpp"

namespace jig {

namespace detail {

/// Fills a vocabulary step by step.
class vocab_loader {
 public:
  vocab_loader(const gguf::file& file, const vocab_source& source, vocab_memory& memory) noexcept
      : file_(file), s_(source), m_(memory) {
    v_.kind = s_.kind;
    v_.count = s_.count;
    v_.ids = s_.kind->ids;
    v_.flags = s_.kind->flags;
  }

  result<vocab> load() noexcept {
    if (s_.tokens.empty()) return v_;
    JIG_CHECK(read_texts());
    JIG_CHECK(read_scores());
    JIG_CHECK(read_types());
    JIG_CHECK(read_keys());
    mark_known_texts();
    mark_ends();
    if (v_.kind->uses_merges) {
      JIG_CHECK(read_merges());
    }
    find_byte_ids();
    list_specials();
    mark_strips();
    v_.words_separate = s_.kind->uses_scores && words_separate();
    return v_;
  }

 private:
  result<void> read_texts() noexcept {
    v_.base = reinterpret_cast<const char*>(file_.bytes().data());
    v_.own = m_.texts.data();
    v_.offsets = m_.offsets;
    v_.lengths = m_.lengths;
    usize own_used = 0;
    u32 id = 0;
    for (std::string_view text : s_.tokens) {
      if (text.size() > vocab::max_token_bytes) return fail(errc::bad_vocabulary, "token too long").got(id);
      if (text.empty()) {
        m_.offsets[id] = vocab::own_text | static_cast<u32>(own_used);
        text_writer name(m_.texts.subspan(own_used, empty_text_bytes));
        text = name.put("[EMPTY_").put(u64{id}).put(']').view();
        own_used += text.size();
      } else {
        const u64 offset = static_cast<u64>(text.data() - v_.base);
        if (offset >= vocab::own_text) return fail(errc::unsupported_feature, "2 GiB of metadata");
        m_.offsets[id] = static_cast<u32>(offset);
      }
      m_.lengths[id] = static_cast<u16>(text.size());
      if (text.size() > v_.longest_token) v_.longest_token = static_cast<u32>(text.size());
      ++id;
    }
    lookup_builder table(m_.slots, s_.count);
    for (id = 0; id < s_.count; ++id) {
      const std::string_view text = v_.text_of(static_cast<i32>(id));
      const auto same = [&](u32 other) { return v_.text_of(static_cast<i32>(other)) == text ? 0 : 1; };
      const auto outcome = table.add(id, text_hash().add(text).value(), same);
      if (outcome == lookup_builder::outcome::present) return fail(errc::bad_vocabulary, text).got(id);
      if (outcome == lookup_builder::outcome::too_slow) return fail(errc::bad_vocabulary, "hash collisions").got(id);
    }
    v_.by_text = table.view();
    return {};
  }

  result<void> read_scores() noexcept {
    const bool integers = gguf::is_integer(s_.scores.element_type());
    for (u32 id = 0; s_.has_scores && id < s_.count; ++id) {
      if (integers) {
        JIG_TRY(const i32 score, s_.scores.element<i32>(id));
        m_.scores[id] = static_cast<f32>(score);
      } else {
        JIG_TRY(m_.scores[id], s_.scores.element<f32>(id));
      }
      if (m_.scores[id] != m_.scores[id]) return fail(errc::bad_vocabulary, "score is not a number").got(id);
    }
    v_.scores = m_.scores;
    return {};
  }

  result<void> read_types() noexcept {
    for (u32 id = 0; id < s_.count; ++id) {
      i64 type = static_cast<i64>(token_type::normal);
      if (s_.has_types) {
        JIG_TRY(type, s_.types.element<i64>(id));
      }
      m_.attributes[id].bits = type >= 1 && type <= 6 ? static_cast<u8>(type) : 0;
    }
    v_.attributes = m_.attributes;
    return {};
  }

  result<void> read_keys() noexcept {
    JIG_TRY(pre_name_, file_.get_or<std::string_view>(tokenizer_key("pre").view(), ""));
    if (v_.kind->choose_pre != nullptr) {
      JIG_CHECK(v_.kind->choose_pre(v_, pre_name_));
    }
    for (const id_key& k : id_keys) {
      const auto id = file_.find(tokenizer_key(k.key).view());
      if (!id) continue;
      JIG_TRY(const i64 value, signed_id(*id));
      v_.ids.*k.role = value >= 0 && value < s_.count ? static_cast<i32>(value) : -1;
    }
    for (const id_key& k : id_keys)  // defaults that the vocabulary is too small for
      if (!v_.contains(v_.ids.*k.role)) v_.ids.*k.role = -1;
    for (const flag_key& k : flag_keys) {
      JIG_TRY(v_.flags.*k.flag, file_.get_or<bool>(tokenizer_key(k.key).view(), v_.flags.*k.flag));
    }
    return {};
  }
  /// An id of any integer type. Out of range means that there is none: files write -1 as 4294967295.
  static result<i64> signed_id(const gguf::value& v) noexcept {
    if (v.is_array() || !gguf::is_integer(v.type())) return fail(errc::wrong_key_type, v.key()).at(v.position());
    const auto id = v.as<i64>();
    return id ? *id : i64{-1};
  }

  void mark(i32 id, u8 bits) noexcept {
    if (id >= 0) m_.attributes[static_cast<usize>(id)].bits |= bits;
  }
  void set_type(i32 id, token_type type) noexcept {  // keeps the marks but control
    if (id < 0) return;
    u8& bits = m_.attributes[static_cast<usize>(id)].bits;
    bits = static_cast<u8>((bits & ~(token_attributes::type_mask | token_attributes::control)) | static_cast<u8>(type));
  }
  bool ends(std::string_view text) const noexcept { return v_.is_end_of_generation(v_.find(text)); }

  void mark_known_texts() noexcept {
    const special_ids from_keys = v_.ids;
    for (const known_role& k : known_roles) {
      if (from_keys.*k.role >= 0) continue;
      const i32 id = v_.find(k.text);
      mark(id, token_attributes::control);
      if (v_.ids.*k.role < 0) v_.ids.*k.role = id;
    }
  }

  void mark_ends() noexcept {
    constexpr u8 end = token_attributes::end_of_generation;
    for (std::string_view text : end_texts) mark(v_.find(text), token_attributes::control | end);
    for (i32 id : {v_.ids.eos, v_.ids.eot, v_.ids.eom, v_.ids.fim_pad, v_.ids.fim_rep, v_.ids.fim_sep}) mark(id, end);
    for (std::string_view text : shown_texts) set_type(v_.find(text), token_type::user_defined);
    const auto leave = [&](std::string_view text, token_type type) {
      const i32 id = v_.find(text);
      set_type(id, type);
      m_.attributes[static_cast<usize>(id)].bits &= static_cast<u8>(~end);
    };
    const bool calls = ends("<|calls|>");
    if (ends("<|end|>") && ((ends("<|return|>") && (ends("<|call|>") || calls)) || (calls && ends("<|flush|>"))))
      leave("<|end|>", token_type::user_defined);
    if (ends("<|tool_response>") && v_.find("</s>") >= 0) leave("</s>", token_type::normal);
  }

  result<void> read_merges() noexcept {
    lookup_builder table(m_.pair_slots, s_.merge_count);
    u32 rank = 0;
    for (std::string_view text : s_.merges) {
      const usize space = text.find(' ', 1);
      if (space == std::string_view::npos) return fail(errc::bad_merge, text).got(rank);
      const std::string_view left = text.substr(0, space), right = text.substr(space + 1);
      const merge m{v_.find(left), v_.find(right), v_.find(left, right)};
      if (m.left < 0 || m.right < 0 || m.result < 0) return fail(errc::bad_merge, text).got(rank);
      m_.merges[rank] = m;
      const auto same = [&](u32 r) { return m_.merges[r].left == m.left && m_.merges[r].right == m.right ? 0 : 1; };
      const auto outcome = table.add(rank, pair_hash(m.left, m.right), same);  // of equal pairs the first counts
      if (outcome == lookup_builder::outcome::too_slow) return fail(errc::bad_merge, "hash collisions").got(rank);
      ++rank;
    }
    v_.merges = m_.merges;
    if (rank > 0) v_.by_pair = table.view();
    return {};
  }

  void find_byte_ids() noexcept {
    v_.byte_ids = m_.byte_ids;
    for (u32 b = 0; b < 256; ++b) {
      m_.byte_ids[b] = -1;
      if (v_.kind->byte_text == nullptr) continue;
      char text[8];
      for (int attempt = 0; m_.byte_ids[b] < 0; ++attempt) {
        const std::string_view t = v_.kind->byte_text(v_, static_cast<u8>(b), attempt, text);
        if (t.empty()) break;
        m_.byte_ids[b] = v_.find(t);
      }
    }
  }

  void list_specials() noexcept {
    usize n = 0;
    for (u32 id = 0; id < s_.count; ++id) {
      const token_attributes a = m_.attributes[id];
      if (!a.is_special()) continue;
      m_.specials[n++] = id;
      const u8 first = static_cast<u8>(v_.text_of(static_cast<i32>(id))[0]);
      v_.special_starts.add(first);
      if (!a.is_hidden()) v_.user_defined_starts.add(first);
    }
    const std::span<u32> list = m_.specials.first(n);
    const auto text = [&](u32 id) { return v_.text_of(static_cast<i32>(id)); };
    gguf::detail::heap_sort(list, [&](u32 a, u32 b) { return text(a) < text(b); });
    for (usize i = 0; i < n; ++i) {
      u32 parent = i == 0 ? lookup::none : static_cast<u32>(i - 1);
      while (parent != lookup::none && !text(list[i]).starts_with(text(list[parent]))) parent = m_.parents[parent];
      m_.parents[i] = parent;
    }
    v_.specials = list;
    v_.special_parents = m_.parents.first(n);
  }

  /// Tokens that take the white space beside them: models whose publishers say so, known by name only.
  void mark_strips() noexcept {
    const auto name_or_empty = [&](std::string_view key) {
      const auto r = file_.get<std::string_view>(key);
      return r ? *r : std::string_view();
    };
    const std::string_view arch = name_or_empty("general.architecture"), name = name_or_empty("general.name");
    const auto pre_has = [&](std::string_view part) { return pre_name_.find(part) != std::string_view::npos; };
    if (pre_has("jina-v2-de") || pre_has("jina-v2-es") || pre_has("jina-v2-code") ||
        arch.find("nomic-bert-moe") != std::string_view::npos || arch.find("jina-bert-v3") != std::string_view::npos) {
      mark(v_.find("<mask>"), token_attributes::left_strip);
    } else if (has_ignoring_case(name, "modern-bert")) {
      mark(v_.find("[MASK]"), token_attributes::left_strip);
    } else if (has_ignoring_case(name, "phi-3") || has_ignoring_case(name, "phi3")) {
      for (u32 id : v_.specials) mark(static_cast<i32>(id), token_attributes::right_strip);
      mark(v_.find("</s>"), token_attributes::right_strip);
      for (std::string_view text : {"<unk>", "<s>", "<|endoftext|>"})
        if (const i32 id = v_.find(text); id >= 0)
          m_.attributes[static_cast<usize>(id)].bits &= static_cast<u8>(~token_attributes::right_strip);
    }
    constexpr u8 either = token_attributes::left_strip | token_attributes::right_strip;
    for (u32 id : v_.specials) v_.strips |= v_.attributes_of(static_cast<i32>(id)).has(either);
  }
  /// True if `part` (in lower case) occurs in `text`.
  static bool has_ignoring_case(std::string_view text, std::string_view part) noexcept {
    for (usize i = 0; i + part.size() <= text.size(); ++i) {
      usize k = 0;
      while (k < part.size() && ascii_lower(text[i + k]) == part[k]) ++k;
      if (k == part.size()) return true;
    }
    return false;
  }

  /// True if U+2581 stands only at the front of tokens (any number of times).
  bool words_separate() const noexcept {
    for (u32 id = 0; id < s_.count; ++id) {
      std::string_view text = v_.text_of(static_cast<i32>(id));
      while (text.starts_with(space_mark)) text.remove_prefix(space_mark.size());
      if (text.find(space_mark) != std::string_view::npos) return false;
    }
    return true;
  }

  const gguf::file& file_;
  const vocab_source& s_;
  vocab_memory& m_;
  std::string_view pre_name_;
  vocab v_;
};

}  // namespace detail

/// Bytes that load_vocab needs for the file. Errors: missing_key, wrong_key_type, unknown_tokenizer, bad_vocabulary
/// (no tokens; scores or types shorter than the tokens), count_too_large.
inline result<usize> vocab_bytes_needed(const gguf::file& file, kind_list kinds = tokenizer_kinds) noexcept {
  JIG_TRY(const detail::vocab_source source, detail::read_source(file, kinds));
  const detail::vocab_memory memory(source, {});
  if (memory.needed() > std::numeric_limits<usize>::max()) return fail(errc::out_of_memory).got(memory.needed());
  return static_cast<usize>(memory.needed());
}

/// Reads the vocabulary. Time is linear: 0.1 s for 128,256 tokens with 280,147 merges.
/// Errors: those of vocab_bytes_needed; buffer_too_small (got: bytes needed); bad_vocabulary (two tokens of one text:
/// name is the text, got the second id; a token of more than 8 KiB; a score that is no number); unknown_pretokenizer;
/// bad_merge (name: the merge, got: its rank) for a merge without a space, or whose parts or joined text are no tokens.
inline result<vocab> load_vocab(const gguf::file& file, std::span<std::byte> memory,
                                kind_list kinds = tokenizer_kinds) noexcept {
  JIG_TRY(const detail::vocab_source source, detail::read_source(file, kinds));
  detail::vocab_memory arrays(source, memory);
  if (!arrays.fits()) return fail(errc::buffer_too_small, "vocabulary").got(arrays.needed());
  return detail::vocab_loader(file, source, arrays).load();
}

}  // namespace jig
