#pragma once
// Cutting a text at its special tokens, the first thing that every tokenizer does.
//
// The rule: special tokens take their places in the text by length, longest first (lower id first among equals);
// each takes its occurrences from left to right where the text is still free. Some also take the white space before
// (left_strip) or after them (right_strip).
//
// Done in one pass: occurrences that touch form a cluster, and clusters don't influence each other. Nearly always a
// cluster is one token. In others a heap of positions gives each token its turn; that takes scratch memory of 13
// bytes per byte of the cluster, and n log n time.

#include "jig/text/vocab.hpp"

namespace jig::detail {

/// ASCII white space as C has it: what strips take.
constexpr bool is_c_space(char c) noexcept { return c == ' ' || (c >= 9 && c <= 13); }

/// Searches special tokens at a position of one text.
class special_finder {
 public:
  static constexpr u32 none = lookup::none;
  constexpr special_finder(const vocab& v, std::string_view text, bool hidden_too) noexcept
      : v_(v), text_(text), starts_(hidden_too ? v.special_starts : v.user_defined_starts), hidden_too_(hidden_too) {}

  constexpr std::string_view text_of(u32 special) const noexcept { return v_.text_of(id_of(special)); }
  constexpr i32 id_of(u32 special) const noexcept { return static_cast<i32>(v_.specials[special]); }
  constexpr token_attributes attributes_of(u32 special) const noexcept { return v_.attributes_of(id_of(special)); }

  /// The longest token at a position (by its place in vocab::specials), or none. All tokens that occur there are
  /// prefixes of the text, hence ancestors of the last token that sorts before it.
  constexpr u32 longest(usize at) const noexcept {
    if (!starts_.has(static_cast<u8>(text_[at]))) return none;
    const std::string_view rest = text_.substr(at);
    usize low = 0, high = v_.specials.size();
    while (low < high) {
      const usize middle = (low + high) / 2;
      if (text_of(static_cast<u32>(middle)) <= rest) low = middle + 1;
      else high = middle;
    }
    u32 s = low == 0 ? none : static_cast<u32>(low - 1);
    while (s != none && !(enabled(s) && rest.starts_with(text_of(s)))) s = v_.special_parents[s];
    return s;
  }
  /// The next shorter token at the same position that is at most `bytes` long, or none.
  constexpr u32 shorter(u32 s, usize bytes) const noexcept {
    do s = v_.special_parents[s];
    while (s != none && !(enabled(s) && text_of(s).size() <= bytes));
    return s;
  }
  /// The end of what a token at a position can influence: the white space behind it and one byte more, if any token
  /// of the vocabulary strips.
  constexpr usize reach(usize at, u32 s) const noexcept {
    usize end = at + text_of(s).size();
    if (!v_.strips) return end;
    while (end < text_.size() && is_c_space(text_[end])) ++end;
    return end < text_.size() ? end + 1 : end;
  }

 private:
  constexpr bool enabled(u32 s) const noexcept { return hidden_too_ || !attributes_of(s).is_hidden(); }
  const vocab& v_;
  std::string_view text_;
  const byte_set& starts_;
  bool hidden_too_;
};

/// Decides which tokens of a cluster take their places.
class special_cluster {
 public:
  /// Errors: buffer_too_small ("scratch").
  static result<special_cluster> open(const special_finder& find, std::string_view text, usize begin, usize end,
                                      u32 hits, scratch& memory) noexcept {
    special_cluster c(find, text, begin);
    JIG_TRY(c.heap_, memory.take<entry>(hits));
    JIG_TRY(c.token_, memory.take<u32>(end - begin));
    JIG_TRY(c.free_, memory.take<bool>(end - begin));
    for (usize i = 0; i < c.token_.size(); ++i) c.token_[i] = special_finder::none, c.free_[i] = true;
    return c;
  }

  void resolve() noexcept {
    for (usize i = 0; i < token_.size(); ++i) push(i, find_.longest(begin_ + i));
    while (size_ > 0) {
      const entry e = pop();
      const usize length = find_.text_of(e.special).size();
      usize room = 0;
      while (room < length && free_[e.at + room]) ++room;
      if (room == length) place(e, length);
      else if (room > 0) push(e.at, find_.shorter(e.special, room));
    }
  }
  /// The token that starts at position `at` of the text, or none.
  u32 token_at(usize at) const noexcept { return token_[at - begin_]; }
  /// False for bytes of tokens and stripped white space.
  bool is_free(usize at) const noexcept { return free_[at - begin_]; }

 private:
  struct entry {
    u32 at, special;
  };
  special_cluster(const special_finder& find, std::string_view text, usize begin) noexcept
      : find_(find), text_(text), begin_(begin) {}

  void place(entry e, usize length) noexcept {
    token_[e.at] = e.special;
    for (usize i = 0; i < length; ++i) free_[e.at + i] = false;
    const auto strip = [&](usize i) {
      const bool take = i < free_.size() && free_[i] && is_c_space(text_[begin_ + i]);
      if (take) free_[i] = false;
      return take;
    };
    const token_attributes a = find_.attributes_of(e.special);
    if (a.has(token_attributes::left_strip))
      for (usize i = e.at; i > 0 && strip(i - 1); --i) {}
    if (a.has(token_attributes::right_strip))
      for (usize i = e.at + length; strip(i); ++i) {}
  }

  bool before(entry a, entry b) const noexcept {
    const usize la = find_.text_of(a.special).size(), lb = find_.text_of(b.special).size();
    if (la != lb) return la > lb;
    return a.special != b.special ? find_.id_of(a.special) < find_.id_of(b.special) : a.at < b.at;
  }
  void push(usize at, u32 special) noexcept {
    if (special == special_finder::none) return;
    const entry e{static_cast<u32>(at), special};
    usize i = size_++;
    for (; i > 0 && before(e, heap_[(i - 1) / 2]); i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = e;
  }
  entry pop() noexcept {
    const entry top = heap_[0], last = heap_[--size_];
    usize i = 0;
    for (usize child = 1; child < size_; child = 2 * i + 1) {
      if (child + 1 < size_ && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], last)) break;
      heap_[i] = heap_[child];
      i = child;
    }
    heap_[i] = last;
    return top;
  }

  const special_finder& find_;
  std::string_view text_;
  usize begin_;
  std::span<entry> heap_;
  std::span<u32> token_;
  std::span<bool> free_;
  usize size_ = 0;
};

/// Calls on_token(id) and on_raw(text) in the order of the text; raw stretches are never empty. Both return
/// result<void>; an error ends the walk. Texts are under 4 GiB. Errors: buffer_too_small ("scratch").
template <class OnToken, class OnRaw>
result<void> split_special(const vocab& v, std::string_view text, bool parse_special, scratch& memory,
                           OnToken&& on_token, OnRaw&& on_raw) noexcept {
  const special_finder find(v, text, parse_special);
  usize begin = 0;  // what lies before was handed out
  const auto raw_until = [&](usize end) -> result<void> {
    return end > begin ? on_raw(text.substr(begin, end - begin)) : result<void>{};
  };
  for (usize at = 0; at < text.size();) {
    const u32 first = find.longest(at);
    if (first == special_finder::none) {
      ++at;
      continue;
    }
    usize end = find.reach(at, first);
    u32 hits = 1;
    for (usize i = at + 1; i < end; ++i)
      if (const u32 s = find.longest(i); s != special_finder::none) {
        ++hits;
        end = find.reach(i, s) > end ? find.reach(i, s) : end;
      }
    if (v.strips)  // white space before the first token may be taken away too
      while (at > begin && is_c_space(text[at - 1])) --at;
    const usize mark = memory.mark();
    JIG_TRY(special_cluster cluster, special_cluster::open(find, text, at, end, hits, memory));
    cluster.resolve();
    for (usize i = at; i < end;) {
      const u32 s = cluster.token_at(i);
      if (s == special_finder::none) {
        // A free byte waits for the next token or the end; a stripped one ends the free stretch before it.
        if (!cluster.is_free(i)) {
          JIG_CHECK(raw_until(i));
          begin = i + 1;
        }
        ++i;
        continue;
      }
      JIG_CHECK(raw_until(i));
      JIG_CHECK(on_token(find.id_of(s)));
      i += find.text_of(s).size();
      begin = i;
    }
    memory.rewind(mark);
    at = end;
  }
  return raw_until(text.size());
}

}  // namespace jig::detail
