#pragma once
// The space clean-up that some vocabularies ask for when ids become text, as a filter of bytes.
//
// Three replacements, each over the whole text, one after the other: a space before ? ! . , goes; a quote between two
// spaces loses both (left to right, without overlap); a space before 's 'm 're 've goes. Each looks at most three
// bytes ahead, so the three run as a chain of small machines on a stream, and give the same bytes as on a whole text.

#include "jig/core/types.hpp"

namespace jig {

namespace detail {

/// " ?" " !" " ." " ," lose the space.
class before_mark {
 public:
  template <class Put>
  constexpr void put(char c, Put&& next) noexcept {
    if (held_ && c != '?' && c != '!' && c != '.' && c != ',') next(' ');
    held_ = c == ' ';
    if (!held_) next(c);
  }
  template <class Put>
  constexpr void finish(Put&& next) noexcept {
    if (held_) next(' ');
    held_ = false;
  }

 private:
  bool held_ = false;
};

/// " ' " becomes "'".
class lone_quote {
 public:
  template <class Put>
  constexpr void put(char c, Put&& next) noexcept {
    if (held_ == 2 && c == ' ') {
      next('\'');
      held_ = 0;
    } else if (held_ == 1 && c == '\'') {
      held_ = 2;
    } else {
      finish(next);
      if (c == ' ') held_ = 1;
      else next(c);
    }
  }
  template <class Put>
  constexpr void finish(Put&& next) noexcept {
    for (u32 i = 0; i < held_; ++i) next(" '"[i]);
    held_ = 0;
  }

 private:
  u32 held_ = 0;  ///< bytes of " '" that wait
};

/// " 's" " 'm" " 're" " 've" lose the space.
class before_contraction {
 public:
  template <class Put>
  constexpr void put(char c, Put&& next) noexcept {
    if (held_ == 1 && c == '\'') {
      held_ = 2;
    } else if (held_ == 2 && (c == 'r' || c == 'v')) {
      held_ = 3;
      letter_ = c;
    } else if ((held_ == 2 && (c == 's' || c == 'm')) || (held_ == 3 && c == 'e')) {
      next('\'');
      if (held_ == 3) next(letter_);
      next(c);
      held_ = 0;
    } else {
      finish(next);
      if (c == ' ') held_ = 1;
      else next(c);
    }
  }
  template <class Put>
  constexpr void finish(Put&& next) noexcept {
    if (held_ > 0) next(' ');
    if (held_ > 1) next('\'');
    if (held_ > 2) next(letter_);
    held_ = 0;
  }

 private:
  u32 held_ = 0;  ///< bytes of " 'r" or " 'v" that wait
  char letter_ = 0;
};

}  // namespace detail

/// See the head of this file. Bytes come out through `next(char)` as soon as they are certain.
class space_cleaner {
 public:
  template <class Put>
  constexpr void put(char c, Put&& next) noexcept {
    marks_.put(c, [&](char a) { quotes_.put(a, [&](char b) { contractions_.put(b, next); }); });
  }
  /// The text ends: what waited comes out.
  template <class Put>
  constexpr void finish(Put&& next) noexcept {
    const auto last = [&](char b) { contractions_.put(b, next); };
    marks_.finish([&](char a) { quotes_.put(a, last); });
    quotes_.finish(last);
    contractions_.finish(next);
  }

 private:
  detail::before_mark marks_;
  detail::lone_quote quotes_;
  detail::before_contraction contractions_;
};

}  // namespace jig
