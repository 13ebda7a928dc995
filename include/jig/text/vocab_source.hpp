#pragma once
// What a GGUF file declares about its vocabulary, checked as far as sizes go, and the memory that loading it takes.
// load_vocab.hpp fills that memory.

#include "jig/arch/names.hpp"
#include "jig/gguf/file.hpp"
#include "jig/text/all.hpp"
#include "jig/text/known_tokens.hpp"

namespace jig {

using kind_list = std::span<const tokenizer_kind* const>;

namespace detail {

/// A key with the prefix that all tokenizer keys have.
constexpr name_text tokenizer_key(std::string_view name) noexcept { return name_text("tokenizer.ggml.", name); }

/// What a file declares: sizes, and where its arrays are.
struct vocab_source {
  const tokenizer_kind* kind = nullptr;
  u32 count = 0;
  u64 empty = 0;     ///< tokens without text; each gets a text of its own
  u64 specials = 0;  ///< at most so many special tokens
  u32 merge_count = 0;
  gguf::string_range tokens, merges;
  gguf::value scores, types;  ///< count() 0 if absent
  bool has_scores = false, has_types = false;
};

/// "[EMPTY_4294967295]" is the longest.
inline constexpr usize empty_text_bytes = 18;

inline result<const tokenizer_kind*> find_kind(const gguf::file& file, kind_list kinds) noexcept {
  JIG_TRY(const auto model, file.get<std::string_view>(tokenizer_key("model").view()));
  for (const tokenizer_kind* kind : kinds)
    for (std::string_view name : kind->models)
      if (name == model) return kind;
  return fail(errc::unknown_tokenizer, model);
}

/// A vocabulary without tokens: only their number.
inline result<u32> declared_size(const gguf::file& file) noexcept {
  JIG_TRY(const auto arch, file.get<std::string_view>("general.architecture"));
  constexpr std::string_view last = "vocab_size";
  const name_text key = key_name(arch, last);
  if (key.view().size() != arch.size() + 1 + last.size()) return fail(errc::bad_value, "general.architecture");  // cut
  const auto size = file.get_or<u32>(key.view(), 0);
  if (size && *size > 0x7fffffff) return fail(errc::bad_value, key.view()).got(*size);
  return size;
}

inline result<void> find_strings(const gguf::file& file, std::string_view name, gguf::string_range& out,
                                 u32& count) noexcept {
  JIG_TRY(const gguf::value v, file.find(tokenizer_key(name).view()));
  JIG_TRY(out, v.strings());
  if (out.size() > (u32{1} << 30)) return fail(errc::count_too_large, v.key()).got(out.size());
  count = static_cast<u32>(out.size());
  return {};
}

inline result<vocab_source> read_source(const gguf::file& file, kind_list kinds) noexcept {
  vocab_source s;
  JIG_TRY(s.kind, find_kind(file, kinds));
  if (s.kind == &no_vocab_kind) {
    JIG_TRY(s.count, declared_size(file));
    return s;
  }
  JIG_CHECK(find_strings(file, "tokens", s.tokens, s.count));
  if (s.count == 0) return fail(errc::bad_vocabulary, tokenizer_key("tokens").view());
  for (std::string_view text : s.tokens) s.empty += text.empty();
  if (s.kind->uses_merges) {
    JIG_CHECK(find_strings(file, "merges", s.merges, s.merge_count));
  }
  const auto array = [&](std::string_view name, gguf::value& out, bool& present) -> result<void> {
    const auto v = file.find(tokenizer_key(name).view());
    present = static_cast<bool>(v);
    if (!present) return {};
    if (!v->is_array()) return fail(errc::wrong_key_type, v->key()).at(v->position());
    if (v->count() < s.count) return fail(errc::bad_vocabulary, v->key()).got(v->count()).at(v->position());
    out = *v;
    return {};
  };
  JIG_CHECK(array("token_type", s.types, s.has_types));
  if (s.kind->uses_scores) {
    JIG_CHECK(array("scores", s.scores, s.has_scores));
  }
  s.specials = std::size(known_roles) + std::size(end_texts) + std::size(shown_texts);
  for (u64 i = 0; s.has_types && i < s.count; ++i) {
    JIG_TRY(const i64 type, s.types.element<i64>(i));
    s.specials += type >= 2 && type <= 4;
  }
  if (s.specials > s.count) s.specials = s.count;
  return s;
}

/// The arrays of a vocabulary within one block of memory.
class vocab_memory {
 public:
  vocab_memory(const vocab_source& s, std::span<std::byte> memory) noexcept : memory_(memory) {
    const u64 n = s.tokens.empty() ? 0 : s.count;
    offsets = take<u32>(n);
    slots = take<u32>(n == 0 ? 0 : lookup::slots_for(n));
    scores = take<f32>(s.has_scores ? n : 0);
    merges = take<merge>(s.merge_count);
    pair_slots = take<u32>(s.merge_count == 0 ? 0 : lookup::slots_for(s.merge_count));
    specials = take<u32>(s.specials);
    parents = take<u32>(s.specials);
    byte_ids = take<i32>(n == 0 ? 0 : 256);
    lengths = take<u16>(n);
    attributes = take<token_attributes>(n);
    texts = take<char>(s.empty * empty_text_bytes);
  }
  u64 needed() const noexcept { return used_ + alignof(u32); }  ///< the block's own alignment is free
  bool fits() const noexcept { return needed() <= memory_.size(); }

  std::span<u32> offsets, slots, pair_slots, specials, parents;
  std::span<f32> scores;
  std::span<merge> merges;
  std::span<i32> byte_ids;
  std::span<u16> lengths;
  std::span<token_attributes> attributes;
  std::span<char> texts;

 private:
  /// Arrays come in order of falling alignment, so only the block's start needs padding. Empty where it doesn't fit.
  template <class T>
  std::span<T> take(u64 count) noexcept {
    const u64 at = used_;
    used_ += count * sizeof(T);
    if (!fits()) return {};
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    const usize padding = (alignof(u32) - start % alignof(u32)) % alignof(u32);
    T* first = reinterpret_cast<T*>(memory_.data() + padding + static_cast<usize>(at));
    for (u64 i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) T{};
    return {first, static_cast<usize>(count)};
  }
  std::span<std::byte> memory_;
  u64 used_ = 0;
};

}  // namespace detail
}  // namespace jig
