#pragma once
// The parts of a Cortex-M that startup.cpp sets up and platform.cpp reads.

#include "jig/core/types.hpp"

extern "C" {
extern jig::u32 jig_stack_bottom, jig_stack_top;
}

namespace cortex_m {

using jig::u32;

/// Full access to the coprocessors 10 and 11: floating point and Helium.
inline void enable_fpu() noexcept {
  volatile u32& cpacr = *reinterpret_cast<volatile u32*>(0xe000ed88);
  cpacr = cpacr | 0xfu << 20;
  asm volatile("dsb\nisb" ::: "memory");
}

inline constexpr u32 stack_paint = 0x5aa5c33c;

/// Fills the free part of the stack, so that its deepest use can be seen later.
inline void paint_stack() noexcept {
  u32* here;
  asm volatile("mov %0, sp" : "=r"(here));
  for (u32* p = &jig_stack_bottom; p < here; ++p) *p = stack_paint;
}

/// SysTick from the processor's clock, 24 bits, with an interrupt per round.
void start_clock() noexcept;
extern "C" void clock_overflow();

}  // namespace cortex_m
