#pragma once
// The building blocks of pre-tokenizers: steps that cut a stretch of text into pieces.
//
// A pre-tokenizer's rule is a list of regular expressions, each cutting the pieces of the one before: matches are
// pieces, and so is what lies between matches. A step here is one such expression, written as a function that gives
// the end of the next piece. Steps never look outside [at, end): the ends of a piece are the ends of its text.
//
//   struct my_step {
//     template <class Text> static usize cut(const Text& text, usize at, usize end);  // at < result <= end
//   };
//
// Text is lenient_text, or in tests one that counts how often it is asked.

#include "jig/core/result.hpp"
#include "jig/text/unicode.hpp"
#include "jig/text/utf8.hpp"

namespace jig::detail {

/// A text read leniently, code point by code point; positions are bytes.
struct lenient_text {
  std::string_view bytes;
  constexpr decoded at(usize i) const noexcept { return decode_utf8(bytes, i); }
};

/// The end of the run of code points in [at, end) for which `in` holds.
template <class Text, class In>
constexpr usize run_end(const Text& text, usize at, usize end, In&& in) noexcept {
  while (at < end) {
    const decoded d = text.at(at);
    if (!in(d.code)) break;
    at += d.bytes;
  }
  return at;
}

constexpr bool is_newline(u32 code) noexcept { return code == '\r' || code == '\n'; }
/// [^\s\p{L}\p{N}]
constexpr bool is_sign(u32 code) noexcept { return !is_space(code) && !is_letter(code) && !is_number(code); }

/// Length of 's 't 're 've 'm 'll 'd at a position, 0 if there is none.
template <bool AnyCase, class Text>
constexpr usize contraction(const Text& text, usize at, usize end) noexcept {
  const auto letter = [&](usize i) -> u32 {
    if (i >= end) return 0;
    const u32 c = text.at(i).code;
    return AnyCase && c >= 'A' && c <= 'Z' ? c + 32 : c;
  };
  if (text.at(at).code != '\'') return 0;
  const u32 a = letter(at + 1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if (a != 'r' && a != 'v' && a != 'l') return 0;
  return letter(at + 2) == (a == 'l' ? 'l' : 'e') ? 3 : 0;
}

/// White space from `at` on: what \s+(?!\S)|\s+ takes, that is all but the last if something follows, but at least
/// one. With `Lines`, \s*[\r\n]+ goes first: up to the last line break.
template <bool Lines, class Text>
constexpr usize cut_spaces(const Text& text, usize at, usize end) noexcept {
  usize i = at, last = at, line = 0;
  while (i < end) {
    const decoded d = text.at(i);
    if (!is_space(d.code)) break;
    last = i;
    i += d.bytes;
    if (Lines && is_newline(d.code)) line = i;
  }
  if (line != 0) return line;
  return i == end || last == at ? i : last;
}

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
struct gpt2_step {
  template <class Text>
  static constexpr usize cut(const Text& text, usize at, usize end) noexcept {
    if (const usize n = contraction<false>(text, at, end)) return at + n;
    const decoded first = text.at(at);
    usize i = first.code == ' ' ? at + 1 : at;
    if (i == end) return end;
    const u32 code = i == at ? first.code : text.at(i).code;
    if (is_letter(code)) return run_end(text, i, end, is_letter);
    if (is_number(code)) return run_end(text, i, end, is_number);
    if (!is_space(code)) return run_end(text, i, end, is_sign);
    return cut_spaces<false>(text, at, end);
  }
};

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?W+|\p{N}{1,Digits}| ?[^\s W \p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// with W = \p{L}, or [\p{L}\p{M}] if Marks. Digits = 0: any number.
template <u32 Digits, bool Marks = false>
struct word_step {
  static constexpr bool is_word(u32 code) noexcept { return is_letter(code) || (Marks && is_mark(code)); }

  template <class Text>
  static constexpr usize cut(const Text& text, usize at, usize end) noexcept {
    if (const usize n = contraction<true>(text, at, end)) return at + n;
    const decoded first = text.at(at);
    if (is_word(first.code)) return run_end(text, at, end, is_word);
    if (is_number(first.code)) {
      u32 left = Digits;
      return run_end(text, at, end, [&](u32 c) { return is_number(c) && (Digits == 0 || left-- > 0); });
    }
    const usize second = at + first.bytes;
    if (second < end && !is_newline(first.code) && is_word(text.at(second).code))
      return run_end(text, second, end, is_word);
    const auto sign = [](u32 c) { return is_sign(c) && !is_word(c); };
    const usize i = first.code == ' ' && second < end ? second : at;
    if (sign(text.at(i).code)) return run_end(text, run_end(text, i, end, sign), end, is_newline);
    return cut_spaces<true>(text, at, end);
  }
};

/// Runs of Min to Max (0: any number) code points of a class.
template <auto In, u32 Min, u32 Max>
struct run_step {
  template <class Text>
  static constexpr usize cut(const Text& text, usize at, usize end) noexcept {
    for (usize i = at; i < end; i += text.at(i).bytes)
      if (const usize match = match_end(text, i, end); match != i) return i == at ? match : i;
    return end;
  }

 private:
  template <class Text>
  static constexpr usize match_end(const Text& text, usize at, usize end) noexcept {
    u32 n = 0;
    const usize match = run_end(text, at, end, [&](u32 c) {
      const bool takes = (Max == 0 || n < Max) && In(c);
      n += takes;
      return takes;
    });
    return n >= Min ? match : at;
  }
};

/// [^\n]+|[\n]+
struct line_step {
  template <class Text>
  static constexpr usize cut(const Text& text, usize at, usize end) noexcept {
    const bool breaks = text.at(at).code == '\n';
    return run_end(text, at, end, [&](u32 c) { return (c == '\n') == breaks; });
  }
};

/// A rule: the steps one within the other. Calls piece(begin, end) for each final piece, in order.
template <class... Steps>
struct rule;
template <>
struct rule<> {
  template <class Text, class Piece>
  static result<void> split(const Text&, usize at, usize end, Piece&& piece) noexcept {
    return piece(at, end);
  }
};
template <class Step, class... Rest>
struct rule<Step, Rest...> {
  template <class Text, class Piece>
  static result<void> split(const Text& text, usize at, usize end, Piece&& piece) noexcept {
    while (at < end) {
      const usize next = Step::cut(text, at, end);
      JIG_CHECK(rule<Rest...>::split(text, at, next, piece));
      at = next;
    }
    return {};
  }
};

}  // namespace jig::detail
