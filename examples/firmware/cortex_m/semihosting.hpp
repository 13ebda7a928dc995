#pragma once
// Semihosting: a stopped core asks the debugger (or QEMU) for input and output.
//
// Source: Arm, "Semihosting for AArch32 and AArch64", release 2.0. Needs a listener: without one `bkpt` is a fault.

#include <string_view>

#include "jig/core/types.hpp"

namespace semihosting {

using jig::u32;

/// One request: number and address of its parameter block.
inline u32 call(u32 operation, const void* parameters) noexcept {
  register u32 r0 asm("r0") = operation;
  register const void* r1 asm("r1") = parameters;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// Writes to the host's standard output.
inline void write(std::string_view text) noexcept {
  static constexpr char console[] = ":tt";
  static u32 handle = 0;
  if (handle == 0) {
    const u32 open[3] = {reinterpret_cast<u32>(console), 4, sizeof console - 1};  // mode 4 ("w"): standard output
    handle = call(0x01, open);
  }
  const u32 block[3] = {handle, reinterpret_cast<u32>(text.data()), text.size()};
  call(0x05, block);
}

/// The command line, cut to the buffer's size.
inline std::string_view command_line(char* buffer, u32 size) noexcept {
  u32 block[2] = {reinterpret_cast<u32>(buffer), size};
  return call(0x15, block) == 0 ? std::string_view(buffer, block[1]) : std::string_view();
}

/// Ends the program; QEMU exits with the code.
[[noreturn]] inline void exit(int code) noexcept {
  const u32 block[2] = {0x20026, static_cast<u32>(code)};  // ADP_Stopped_ApplicationExit
  for (;;) call(0x20, block);
}

}  // namespace semihosting
