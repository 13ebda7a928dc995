#pragma once
// What every command-line program does with its standard streams: results to standard output, whose failures count;
// everything else to standard error.

#include <cerrno>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "jig/host/error_text.hpp"
#include "jig/host/mapped_file.hpp"

namespace jig::host {

/// A line on standard error.
inline void note(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

/// Whether somebody sees what is written to standard error now: progress bars are for them.
inline bool on_terminal() {
#if JIG_HAS_MMAP
  return ::isatty(STDERR_FILENO) == 1;
#else
  return false;
#endif
}

/// Prints an error: "error: SUBJECT: what was wrong".
inline void report(const error& e, const std::string& subject = {}, std::string_view hint = {}) {
  note(fmt::format("error: {}{}{}{}", subject, subject.empty() ? "" : ": ", to_string(e), hint));
}

/// Standard output, flushed piece by piece. A reader that went away is not an error, a full disk is.
class output {
 public:
  /// False if nothing more can be written; see gone() and failure().
  bool write(std::string_view s) {
    if (s.empty()) return true;
    errno = 0;
    last_ = s.back();
    if (std::fwrite(s.data(), 1, s.size(), stdout) == s.size() && std::fflush(stdout) == 0) return true;
    reason_ = errno != 0 ? errno : EIO;
    return false;
  }
  /// Ends the last line.
  bool end() { return last_ == '\n' || write("\n"); }
  bool gone() const noexcept { return reason_ == EPIPE; }
  error failure() const { return detail::file_error(errc::cannot_write, "standard output", reason_); }

 private:
  char last_ = '\n';
  int reason_ = 0;
};

}  // namespace jig::host
