// The port to Cortex-M: semihosting for text, SysTick for time. JIG_CLOCK_HZ: frequency of the processor's clock.

#include "platform.hpp"

#include "cortex_m/core.hpp"
#include "cortex_m/semihosting.hpp"

using jig::u32;
using jig::u64;

namespace {
volatile u32 rounds = 0;
constexpr u32 round_ticks = 1u << 24;
volatile u32& control() { return *reinterpret_cast<volatile u32*>(0xe000e010); }
volatile u32& reload() { return *reinterpret_cast<volatile u32*>(0xe000e014); }
volatile u32& current() { return *reinterpret_cast<volatile u32*>(0xe000e018); }
volatile u32& interrupt_control() { return *reinterpret_cast<volatile u32*>(0xe000ed04); }
}  // namespace

extern "C" void cortex_m::clock_overflow() { rounds = rounds + 1; }

void cortex_m::start_clock() noexcept {
  reload() = round_ticks - 1;
  current() = 0;
  control() = 7;  // processor clock, interrupt, on
}

jig::u64 platform::nanoseconds() noexcept {
  u32 before, ticks;
  do {  // an overflow between the reads would pair a new round with an old count
    before = rounds;
    ticks = current();
  } while (before != rounds || (interrupt_control() >> 26 & 1) != 0);
  const u64 elapsed = u64{before} * round_ticks + (round_ticks - 1 - ticks);
  return elapsed * 1000 / (JIG_CLOCK_HZ / 1000000);
}

void platform::write(std::string_view text) noexcept { semihosting::write(text); }

std::string_view platform::arguments(std::span<char> buffer) noexcept {
  const std::string_view line = semihosting::command_line(buffer.data(), buffer.size());
  for (u32 i = 0; i < line.size(); ++i)
    if (line[i] == ' ') return {line.data() + i + 1, line.size() - i - 1};
  return {};
}

platform::stack_use platform::stack() noexcept {
  const u32* p = &jig_stack_bottom;
  while (p < &jig_stack_top && *p == cortex_m::stack_paint) ++p;
  return {static_cast<u32>(reinterpret_cast<const char*>(&jig_stack_top) - reinterpret_cast<const char*>(p)),
          static_cast<u32>(reinterpret_cast<const char*>(&jig_stack_top) -
                           reinterpret_cast<const char*>(&jig_stack_bottom))};
}
