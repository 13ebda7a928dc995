// The port to a PC, to compare with: the C library for everything. The program between is the same.

#include "platform.hpp"

#include <chrono>
#include <cstdio>
#include <string>

namespace {
std::string command_line;
}

int firmware_main();

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) command_line.append(i > 1 ? " " : "").append(argv[i]);
  return firmware_main();
}

void platform::write(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string_view platform::arguments(std::span<char>) noexcept { return command_line; }

jig::u64 platform::nanoseconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<jig::u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

platform::stack_use platform::stack() noexcept { return {}; }
