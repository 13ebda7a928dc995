#pragma once
// Command lines in the style of llama.cpp's programs, as a table: "-n", "--predict" and "-no-cnv" are options, a value
// is the next word (or follows a '=' after a long name), and nothing else is accepted.
//
//   constexpr option<settings> table[] = {
//     {"-t, --threads", "N", "threads", [](settings& s, auto v) { return read_number(v, 1, 1024, s.threads); }}, ...};
//   if (std::string wrong = parse(std::span(table), words, s); !wrong.empty()) ...    // "-t: must be ..."

#include <fmt/format.h>

#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jig/host/nearest.hpp"

namespace jig::host {

/// One option. `names` separated by ", "; `value` is its name in the help, empty for a flag. `set` returns an empty
/// text, or what is wrong with the value ("must be ...").
template <class Settings>
struct option {
  std::string_view names, value, help;
  std::string (*set)(Settings&, std::string_view);
};

/// A whole number in [least, most]. Returns what is wrong, or an empty text.
template <class T>
std::string read_number(std::string_view text, std::type_identity_t<T> least, std::type_identity_t<T> most, T& out) {
  i64 v = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc{} || end != text.data() + text.size() || v < i64{least} || v > i64{most})
    return fmt::format("must be a whole number from {} to {}, not \"{}\"", least, most, text);
  out = static_cast<T>(v);
  return {};
}

/// A decimal number in [least, most]; infinities and NaN are none. Returns what is wrong, or an empty text.
inline std::string read_number(std::string_view text, f32 least, f32 most, f32& out) {
  f32 v = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc{} || end != text.data() + text.size() || !(v >= least && v <= most))
    return fmt::format("must be a number from {} to {}, not \"{}\"", least, most, text);
  out = v;
  return {};
}

namespace detail {

/// Calls f(name) for each name of a list "-n, --predict".
template <class F>
void each_name(std::string_view names, F&& f) {
  while (!names.empty()) {
    const usize comma = names.find(", ");
    f(names.substr(0, comma));
    names.remove_prefix(comma == names.npos ? names.size() : comma + 2);
  }
}

template <class Settings>
const option<Settings>* find_option(std::span<const option<Settings>> table, std::string_view name) {
  const option<Settings>* found = nullptr;
  for (const option<Settings>& o : table)
    each_name(o.names, [&](std::string_view n) { if (n == name) found = &o; });
  return found;
}

template <class Settings>
std::string unknown_option(std::span<const option<Settings>> table, std::string_view word) {
  std::vector<std::string_view> names;
  for (const option<Settings>& o : table) each_name(o.names, [&](std::string_view n) { names.push_back(n); });
  const std::string_view near = nearest(word, names);
  return fmt::format("unknown option {}{}", word, near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

}  // namespace detail

/// Applies all words to `settings`, a later one over an earlier one. Returns an empty text or what is wrong, with the
/// option's name as it was typed.
template <class Settings>
std::string parse(std::span<const option<Settings>> table, std::span<const char* const> words, Settings& settings) {
  for (usize i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() < 2 || word[0] != '-')
      return fmt::format("\"{}\" stands alone: every word belongs to an option (quote texts with spaces)", word);
    const option<Settings>* o = detail::find_option(table, word);
    const usize equals = o == nullptr && word.starts_with("--") ? word.find('=') : word.npos;
    const std::string_view name = word.substr(0, equals);
    if (o == nullptr && equals != word.npos) o = detail::find_option(table, name);
    if (o == nullptr) return detail::unknown_option(table, name);
    std::string_view value;
    if (equals != word.npos) {
      if (o->value.empty()) return fmt::format("{}: takes no value", name);
      value = word.substr(equals + 1);
    } else if (!o->value.empty()) {
      if (++i == words.size()) return fmt::format("{}: the value is missing ({})", name, o->value);
      value = words[i];
    }
    const std::string wrong = o->set(settings, value);
    if (!wrong.empty()) return fmt::format("{}: {}", name, wrong);
  }
  return {};
}

/// One line for each option: names, value, help from column 34 on.
template <class Settings>
std::string help_text(std::span<const option<Settings>> table) {
  std::string text;
  for (const option<Settings>& o : table) {
    const std::string left = fmt::format("  {}{}{}", o.names, o.value.empty() ? "" : " ", o.value);
    text += left.size() < 33 ? fmt::format("{:<33} {}\n", left, o.help)
                             : fmt::format("{}\n{:<33} {}\n", left, "", o.help);
  }
  return text;
}

}  // namespace jig::host
