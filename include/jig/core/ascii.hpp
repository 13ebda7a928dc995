#pragma once
// Letters of names that are compared without regard to case. ASCII only, and the same in every locale.

namespace jig {

constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace jig
