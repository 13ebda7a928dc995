#pragma once
// Models split over several files: "name-00001-of-00003.gguf" with the keys split.no, split.count and
// split.tensors.count. Here the naming and the checks, without heap; reading all parts is host/model_file.hpp.

#include <span>
#include <string_view>

#include "jig/core/message.hpp"
#include "jig/gguf/file.hpp"

namespace jig::gguf {

inline constexpr std::string_view key_split_no = "split.no";                  ///< u16, from 0
inline constexpr std::string_view key_split_count = "split.count";            ///< u16
inline constexpr std::string_view key_split_tensors = "split.tensors.count";  ///< i32, of all parts together
inline constexpr u32 max_split_parts = 65535;

/// The parts of a split file's path.
struct split_name {
  std::string_view prefix;  ///< everything before "-00001-of-00003.gguf"
  u32 no = 0;               ///< from 0; the name counts from 1
  u32 count = 0;
};

/// Takes a path apart. Errors: bad_split if it does not end in -NNNNN-of-NNNNN.gguf with 1 <= first <= second.
constexpr result<split_name> parse_split_path(std::string_view path) noexcept {
  constexpr std::string_view shape = "-#####-of-#####.gguf";
  const auto no_match = [&] { return fail(errc::bad_split, path); };
  if (path.size() <= shape.size()) return no_match();
  const std::string_view tail = path.substr(path.size() - shape.size());
  u32 numbers[2] = {0, 0};
  for (usize i = 0; i < shape.size(); ++i) {
    const bool digit = tail[i] >= '0' && tail[i] <= '9';
    if (shape[i] == '#' ? !digit : tail[i] != shape[i]) return no_match();
    u32& number = numbers[i < shape.size() / 2 ? 0 : 1];
    if (digit) number = number * 10 + static_cast<u32>(tail[i] - '0');
  }
  if (numbers[0] < 1 || numbers[0] > numbers[1] || numbers[1] > max_split_parts) return no_match();
  return split_name{path.substr(0, path.size() - shape.size()), numbers[0] - 1, numbers[1]};
}

/// Writes the path of part `no` (from 0). Errors: buffer_too_small; bad_argument for numbers that do not fit.
constexpr result<std::string_view> split_path(std::string_view prefix, u32 no, u32 count,
                                              std::span<char> buffer) noexcept {
  if (no >= count || count > max_split_parts) return fail(errc::bad_argument, prefix).got(no);
  if (buffer.size() < prefix.size() + 20) return fail(errc::buffer_too_small, prefix).got(prefix.size() + 20);
  text_writer w(buffer);
  const auto five_digits = [&](u32 v) {
    for (u32 power = 10000; power > 0; power /= 10) w.put(static_cast<char>('0' + v / power % 10));
  };
  w.put(prefix).put('-');
  five_digits(no + 1);
  w.put("-of-");
  five_digits(count);
  w.put(".gguf");
  return w.view();
}

/// What a file says about its place in a split; count 1 for files that are not split.
struct split_info {
  u32 no = 0;
  u32 count = 1;
  u64 tensors = 0;  ///< of all parts
};

/// Reads the split keys. Errors: wrong_key_type, bad_value, bad_split (no >= count), missing_key (an incomplete set).
inline result<split_info> read_split_info(const file& f) noexcept {
  split_info s;
  JIG_TRY(const u32 count, f.get_or<u16>(key_split_count, 0));
  if (count <= 1) return split_info{0, 1, f.tensor_count()};
  s.count = count;
  JIG_TRY(s.no, f.get<u16>(key_split_no));
  JIG_TRY(s.tensors, f.get<u32>(key_split_tensors));
  if (s.no >= s.count) return fail(errc::bad_split, key_split_no).got(s.no);
  return s;
}

/// Checks that `parts` are the parts of one split file, in order, complete.
/// Errors: bad_split (with the key or property that contradicts and the value found), duplicate_tensor, and those of
/// read_split_info. Time: linear in the tensors if the parts have indices.
inline result<void> check_split(std::span<const file> parts) noexcept {
  if (parts.empty()) return fail(errc::bad_split, "no parts");
  JIG_TRY(const split_info first, read_split_info(parts[0]));
  if (first.count != parts.size()) return fail(errc::bad_split, key_split_count).got(first.count);
  const auto architecture = parts[0].get<std::string_view>("general.architecture");
  u64 tensors = 0;
  for (usize i = 0; i < parts.size(); ++i) {
    JIG_TRY(const split_info s, read_split_info(parts[i]));
    if (s.count != first.count) return fail(errc::bad_split, key_split_count).got(s.count);
    if (s.no != i) return fail(errc::bad_split, key_split_no).got(s.no);
    if (s.tensors != first.tensors) return fail(errc::bad_split, key_split_tensors).got(s.tensors);
    if (parts[i].order() != parts[0].order()) return fail(errc::bad_split, "byte order").got(i);
    const auto own = parts[i].get<std::string_view>("general.architecture");
    if (own && (!architecture || *own != *architecture)) return fail(errc::bad_split, "general.architecture").got(i);
    tensors += parts[i].tensor_count();
  }
  if (tensors != first.tensors) return fail(errc::bad_split, key_split_tensors).got(tensors);
  for (usize i = 1; i < parts.size(); ++i)
    for (const tensor_info& t : parts[i].tensors())
      for (usize k = 0; k < i; ++k)
        if (parts[k].has_tensor(t.name)) return fail(errc::duplicate_tensor, t.name).got(i);
  return {};
}

}  // namespace jig::gguf
