#pragma once
// Character classes of Unicode 15.1, as far as the pre-tokenizers ask for them.

#include "jig/text/unicode_data.hpp"

namespace jig {

/// The first letter of a general category.
enum class category : u8 { unassigned, letter, mark, number, punctuation, symbol, separator, other };

namespace detail {

/// The run table by binary search. Above U+10FFFF: unassigned.
constexpr category search_category(u32 code) noexcept {
  usize low = 0, high = sizeof category_runs / sizeof category_runs[0];  // the run is in [low, high)
  while (high - low > 1) {
    const usize middle = (low + high) / 2;
    if (category_runs[middle] >> 3 <= code) low = middle;
    else high = middle;
  }
  return code > 0x10ffff ? category::unassigned : static_cast<category>(category_runs[low] & 7);
}

/// The categories of ASCII, so that the common case is one load.
struct ascii_categories {
  category of[128];
  constexpr ascii_categories() noexcept : of() {
    for (u32 c = 0; c < 128; ++c) of[c] = search_category(c);
  }
};
inline constexpr ascii_categories ascii_table;

}  // namespace detail

/// The general category's first letter.
constexpr category category_of(u32 code) noexcept {
  return code < 128 ? detail::ascii_table.of[code] : detail::search_category(code);
}

constexpr bool is_letter(u32 code) noexcept { return category_of(code) == category::letter; }
constexpr bool is_number(u32 code) noexcept { return category_of(code) == category::number; }
constexpr bool is_mark(u32 code) noexcept { return category_of(code) == category::mark; }
constexpr bool is_punctuation(u32 code) noexcept { return category_of(code) == category::punctuation; }

/// The property White_Space.
constexpr bool is_space(u32 code) noexcept {
  if (code < 128) return code == ' ' || (code >= 9 && code <= 13);
  return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

}  // namespace jig
