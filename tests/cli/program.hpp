#pragma once
// Runs a program with arguments, standard input and signals, and takes its two outputs and exit status.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

struct outcome {
  int status = -1;       ///< exit status, or 128 + the signal that killed it
  std::string out, err;
};

/// A running program with pipes on all three standard streams.
class program {
 public:
  static constexpr int page = 4096;  ///< what standard output holds before the program must wait

  explicit program(std::vector<std::string> words, std::vector<std::string> environment = {}) {
    for (auto& p : pipes_) REQUIRE(::pipe2(p.data(), O_CLOEXEC) == 0);
    ::fcntl(pipes_[1][1], F_SETPIPE_SZ, page);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ != 0) {
      ::close(pipes_[0][0]), ::close(pipes_[1][1]), ::close(pipes_[2][1]);
      return;
    }
    ::dup2(pipes_[0][0], 0), ::dup2(pipes_[1][1], 1), ::dup2(pipes_[2][1], 2);
    for (std::string& e : environment) ::putenv(e.data());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  void send(int number) { ::kill(pid_, number); }
  void close_output() { ::close(pipes_[1][0]), pipes_[1][0] = -1; }

  /// Waits until standard output is full but for a word (a write that does not fit waits as a whole), so that the
  /// program stands in the middle of writing. False after a minute.
  bool wait_until_full() {
    for (int i = 0; i < 6000; ++i) {
      int held = 0;
      if (::ioctl(pipes_[1][0], FIONREAD, &held) == 0 && held > page - 16) return true;
      ::usleep(10000);
    }
    return false;
  }

  /// Gives the input (small: it must fit into a pipe), takes the rest of the outputs, waits for the end.
  outcome finish(const std::string& input = {}) {
    if (!input.empty())
      REQUIRE(::write(pipes_[0][1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
    ::close(pipes_[0][1]);
    while (pipes_[1][0] >= 0 || pipes_[2][0] >= 0)
      if (!read_some()) {
        send(SIGKILL);
        FAIL("no output for a minute");
      }
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result_;
  }

 private:
  bool read_some() {
    pollfd fds[2] = {{pipes_[1][0], POLLIN, 0}, {pipes_[2][0], POLLIN, 0}};
    if (::poll(fds, 2, 60000) <= 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char part[4096];
      const ssize_t n = ::read(fds[i].fd, part, sizeof part);
      if (n > 0) (i == 0 ? result_.out : result_.err).append(part, static_cast<std::size_t>(n));
      else ::close(fds[i].fd), pipes_[static_cast<std::size_t>(i) + 1][0] = -1;
    }
    return true;
  }

  std::array<std::array<int, 2>, 3> pipes_{};
  pid_t pid_ = -1;
  outcome result_;
};
