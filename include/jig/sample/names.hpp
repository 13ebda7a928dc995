#pragma once
// How samplers are spelt in options and requests. Case does not matter; a name may be written with every '_' as '-', or
// without them (top_k, Top-K, topk); a sampler may have aliases (temp, nucleus) and has a letter for the short form.

#include <string_view>

#include "jig/core/ascii.hpp"
#include "jig/core/type_list.hpp"

namespace jig::sample {

namespace detail {

/// Compares `text` with `name` in which each '_' is replaced by `separator`, or left out if that is 0.
constexpr bool spelt(std::string_view text, std::string_view name, char separator) noexcept {
  usize at = 0;
  for (char c : name) {
    if (c == '_') {
      if (separator == 0) continue;
      c = separator;
    }
    if (at == text.size() || ascii_lower(text[at]) != c) return false;
    ++at;
  }
  return at == text.size();
}

}  // namespace detail

/// True if `text` names the sampler S.
template <class S>
constexpr bool names(std::string_view text) noexcept {
  for (char separator : {'_', '-', '\0'})
    if (detail::spelt(text, S::name, separator)) return true;
  if constexpr (requires { S::aliases; })
    for (std::string_view alias : S::aliases)
      if (detail::spelt(text, alias, '_')) return true;
  return false;
}

/// Position in the list of the sampler that `text` names; the list's size if there is none.
template <class... S>
constexpr usize find_name(type_list<S...>, std::string_view text) noexcept {
  usize at = 0;
  (void)((names<S>(text) || (++at, false)) || ...);
  return at;
}

/// Position in the list of the sampler with this letter; the list's size if there is none.
template <class... S>
constexpr usize find_letter(type_list<S...>, char letter) noexcept {
  usize at = 0;
  (void)((S::letter == letter || (++at, false)) || ...);
  return at;
}

}  // namespace jig::sample
