// Start of a Cortex-M: vectors, memory, fault reports. The linker script (sections.ld) defines the symbols.

#include "cortex_m/core.hpp"
#include "cortex_m/semihosting.hpp"

using jig::u32;

int firmware_main();

extern "C" {
extern u32 jig_data_load, jig_data_start, jig_data_end, jig_bss_start, jig_bss_end, jig_stack_bottom, jig_stack_top;
extern void (*jig_init_start[])();
extern void (*jig_init_end[])();

[[noreturn]] void reset_handler() {
  cortex_m::enable_fpu();
  for (u32 *from = &jig_data_load, *to = &jig_data_start; to != &jig_data_end;) *to++ = *from++;
  for (u32* to = &jig_bss_start; to != &jig_bss_end;) *to++ = 0;
  for (auto f = jig_init_start; f != jig_init_end; ++f) (*f)();
  cortex_m::paint_stack();
  cortex_m::start_clock();
  semihosting::exit(firmware_main());
}

/// Every fault ends here: says which and where, then ends the program with 99, so that a test fails instead of hanging.
[[noreturn]] void report_fault(const u32* frame) {
  const auto print = [](std::string_view name, u32 value) {
    char text[12] = " 0x";
    for (u32 i = 0; i < 8; ++i) text[3 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
    semihosting::write(name);
    semihosting::write({text, 11});
  };
  print("\nfault: CFSR", *reinterpret_cast<volatile u32*>(0xe000ed28));
  print(", HFSR", *reinterpret_cast<volatile u32*>(0xe000ed2c));
  print(", address", *reinterpret_cast<volatile u32*>(0xe000ed38));
  const bool in_stack = frame >= &jig_stack_bottom && frame + 8 <= &jig_stack_top;
  if (in_stack) print(", pc", frame[6]);
  semihosting::write("\n");
  semihosting::exit(99);
}

__attribute__((naked)) void fault_handler() {
  asm volatile(
      "mov r0, sp\n"
      "ldr r1, =jig_stack_top\n"
      "mov sp, r1\n"  // the stack may be what overflowed
      "b report_fault\n");
}

/// In place of libstdc++'s, which would bring its whole terminate machinery.
[[noreturn]] void __cxa_pure_virtual() { semihosting::exit(98); }

__attribute__((section(".vectors"), used)) void (*const jig_vectors[])() = {
    reinterpret_cast<void (*)()>(&jig_stack_top),
    reset_handler,
    fault_handler,  // NMI
    fault_handler,  // HardFault
    fault_handler,  // MemManage
    fault_handler,  // BusFault
    fault_handler,  // UsageFault
    fault_handler,  // SecureFault
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,  // SVCall
    fault_handler,  // DebugMonitor
    fault_handler,
    fault_handler,  // PendSV
    cortex_m::clock_overflow,
};
}

namespace std {
/// libstdc++'s report of a wrong string_view index formats text and needs a heap; ours needs neither.
[[noreturn]] void __throw_out_of_range_fmt(const char* what, ...) {
  semihosting::write(what);
  semihosting::exit(98);
}
}  // namespace std
