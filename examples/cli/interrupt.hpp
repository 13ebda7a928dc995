#pragma once
// Ctrl-C and its like: the first ends the work in an orderly way, the second ends the program at once.

#include <atomic>
#include <csignal>

namespace jig::cli {

/// Becomes true at the first SIGINT or SIGTERM.
inline std::atomic<bool> interrupted{false};
inline std::atomic<int> interrupted_by{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" inline void jig_cli_interrupt(int number) {
  interrupted_by = number;
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

/// To be called when the work begins; before, signals end the program as usual. A reader that goes away is noticed at
/// the next write, so SIGPIPE is not needed.
inline void catch_signals() {
  // A shell starts background jobs with SIGINT ignored; that stays so.
  if (std::signal(SIGINT, jig_cli_interrupt) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, jig_cli_interrupt);
#ifdef SIGPIPE
  std::signal(SIGPIPE, SIG_IGN);
#endif
}

}  // namespace jig::cli
