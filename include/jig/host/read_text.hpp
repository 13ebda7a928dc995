#pragma once
// A whole text file, or standard input, as a string.

#include <cerrno>
#include <cstdio>
#include <string>

#include "jig/host/mapped_file.hpp"

namespace jig::host {

/// The bytes of a file as they are; "-" is standard input. Works on pipes and devices. At most `max_bytes` are taken.
/// Errors: cannot_open, cannot_read (the system's reason and the path), count_too_large (more bytes than that).
inline result<std::string> read_text(const std::string& path, u64 max_bytes = u64{1} << 30) {
  const bool from_stdin = path == "-";
  errno = 0;
  std::FILE* f = from_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (f == nullptr) return detail::file_error(errc::cannot_open, path, errno);
  std::string text;
  char part[16384];
  usize n = 0;
  while ((n = std::fread(part, 1, sizeof part, f)) > 0 && text.size() <= max_bytes) text.append(part, n);
  const int reason = std::ferror(f) != 0 ? (errno != 0 ? errno : EIO) : 0;
  if (!from_stdin) std::fclose(f);
  if (reason != 0) return detail::file_error(errc::cannot_read, from_stdin ? "standard input" : path, reason);
  if (text.size() > max_bytes) return fail(errc::count_too_large, path).got(max_bytes);
  return text;
}

}  // namespace jig::host
