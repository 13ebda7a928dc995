#pragma once
// Ids that come one by one (generation), as text that can be shown at once: never half a UTF-8 character.
//
//   text_stream stream(v, {.continues = true});
//   for (...) stream.push(id, [&](std::string_view s) { show(s); });
//   stream.finish([&](std::string_view s) { show(s); });           // on every way out
//
// The pieces put together are the text that detokenize() gives for the whole list, for whatever list; where that is
// not valid UTF-8, each invalid sequence (the longest start of a character that goes wrong, Unicode 15 section 3.9)
// is replaced by U+FFFD, or kept as it is, as the caller chooses. Held back are: the bytes of a character that is not
// complete; where the vocabulary has clean_spaces, up to five bytes of a space and what may follow it (so a word's
// trailing space comes with the next token); an EOS that is to be removed if it is the last. finish() gives them out.

#include "jig/text/detokenize.hpp"

namespace jig {

/// What becomes of bytes that are not valid UTF-8.
enum class invalid_utf8 { replace, keep };

/// Passes bytes on in whole characters: put(bytes, n), n = 1..4.
class utf8_filter {
 public:
  constexpr explicit utf8_filter(invalid_utf8 invalid = invalid_utf8::replace) noexcept : invalid_(invalid) {}

  template <class Put>
  constexpr void add(char c, Put&& put) noexcept {
    const u8 byte = static_cast<u8>(c);
    if (size_ > 0 && (byte < low_ || byte > high_)) finish(put);  // the character breaks off before this byte
    if (size_ == 0) expect(byte);
    else low_ = 0x80, high_ = 0xbf;
    held_[size_++] = c;
    if (length_ == 0) return finish(put);
    if (size_ < length_) return;
    put(static_cast<const char*>(held_), size_);
    size_ = 0;
  }
  /// The text ends: an incomplete character is invalid.
  template <class Put>
  constexpr void finish(Put&& put) noexcept {
    if (size_ == 0) return;
    if (invalid_ == invalid_utf8::keep) put(static_cast<const char*>(held_), size_);
    else put("\xef\xbf\xbd", u32{3});
    size_ = 0;
  }

 private:
  /// Sets the length of the character that a byte starts (0: none) and the range of its second byte.
  constexpr void expect(u8 lead) noexcept {
    length_ = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    low_ = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    high_ = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  }

  char held_[4] = {};
  u32 size_ = 0, length_ = 0;
  u8 low_ = 0, high_ = 0;
  invalid_utf8 invalid_;
};

/// See the head of this file. The vocabulary must outlive it.
class text_stream {
 public:
  explicit text_stream(const vocab& v, detokenize_options options = {},
                       invalid_utf8 invalid = invalid_utf8::replace) noexcept
      : writer_(v, options), filter_(invalid) {}

  /// Takes an id and calls show(std::string_view) with whole characters, any number of times.
  /// Errors: bad_token; the stream can be used further.
  template <class Show>
  result<void> push(i32 id, Show&& show) noexcept {
    const auto r = writer_.add(id, [&](char c) { take(c, show); });
    flush(show);
    return r;
  }
  /// Gives out all that was held back; call it once, at the end of the text for whatever reason it ends.
  template <class Show>
  void finish(Show&& show) noexcept {
    writer_.finish([&](char c) { take(c, show); });
    filter_.finish([&](const char* s, u32 n) { append(s, n, show); });
    flush(show);
  }

 private:
  template <class Show>
  void take(char c, Show&& show) noexcept {
    filter_.add(c, [&](const char* s, u32 n) { append(s, n, show); });
  }
  template <class Show>
  void append(const char* s, u32 n, Show&& show) noexcept {
    if (used_ + n > sizeof buffer_) flush(show);
    for (u32 i = 0; i < n; ++i) buffer_[used_++] = s[i];
  }
  template <class Show>
  void flush(Show&& show) noexcept {
    if (used_ > 0) show(std::string_view(buffer_, used_));
    used_ = 0;
  }

  piece_writer writer_;
  utf8_filter filter_;
  char buffer_[64];
  u32 used_ = 0;
};

}  // namespace jig
