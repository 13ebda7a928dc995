#pragma once
// What a port of this program provides: four functions. cortex_m/ has them over semihosting, pc/ over the C library.

#include <span>
#include <string_view>

#include "jig/core/types.hpp"

namespace platform {

/// Text for the person who watches: a console, a debug probe, a UART.
void write(std::string_view text) noexcept;

/// The command line without the program's name, its arguments separated by spaces; may point into `buffer`.
std::string_view arguments(std::span<char> buffer) noexcept;

/// Time since some moment, in nanoseconds; 0 where there is no clock.
jig::u64 nanoseconds() noexcept;

/// The most stack that was in use so far, and how much is reserved, in bytes; zeros where that is not known.
struct stack_use {
  jig::u32 used = 0, reserved = 0;
};
stack_use stack() noexcept;

}  // namespace platform
