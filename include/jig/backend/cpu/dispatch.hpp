#pragma once
// The CPU's kernels as a program should take them: `default_kernels`, made by `choose_kernels()`.
// Hosted: looks at the machine and at the environment variable JIG_ISA.
//
// In a target that was given to jig_add_dispatch() (CMake) this is the best of several sets, chosen when the program
// runs; elsewhere it is the one set that the compiler's flags allow. JIG_ISA=avx2 (a tag's name) forces a set; a name
// that is unknown, or that the machine or the program does not have, is an error and never a crash.

#include <cstdlib>
#include <string_view>

#include "jig/backend/cpu/detect.hpp"
#include "jig/backend/cpu/table.hpp"
#include "jig/core/result.hpp"

#if !defined(JIG_DISPATCH)
#include "jig/backend/cpu/kernels.hpp"
#endif

/// The tables of the program, the best first, then null. Defined by jig_add_dispatch().
extern "C" const jig::cpu::kernel_table* const jig_dispatch_tables[];

namespace jig::cpu {

/// Chooses among tables (the best first, null at the end) that have all of `types` (see type_bits).
/// `wanted`: a tag's name, or empty for the best that the machine has.
/// Errors: unknown_isa; missing_isa if the machine or the program lacks it; wrong_tensor_type if it lacks a type.
inline result<const kernel_table*> choose_table(const kernel_table* const* tables, std::string_view wanted,
                                                const machine_isas& machine, u64 types) noexcept {
  if (!wanted.empty() && !is_isa_name(wanted)) return fail(errc::unknown_isa, wanted);
  if (!wanted.empty() && !machine.has(wanted)) return fail(errc::missing_isa, wanted);
  for (; *tables != nullptr; ++tables) {
    const std::string_view name = (*tables)->isa;
    if (wanted.empty() ? !machine.has(name) : name != wanted) continue;
    if ((types & ~(*tables)->types) != 0) return fail(errc::wrong_tensor_type, name).got(types & ~(*tables)->types);
    return *tables;
  }
  return fail(errc::missing_isa, wanted);
}

/// The value of JIG_ISA; empty if it is not set.
inline std::string_view forced_isa() noexcept {
  const char* name = std::getenv("JIG_ISA");
  return name != nullptr ? name : "";
}

#if defined(JIG_DISPATCH)

template <class Quants = all_quants>
using default_kernels = dispatched_kernels<Quants>;

/// The best kernels for this machine, or those that JIG_ISA names. Errors: see choose_table.
template <class Quants = all_quants>
result<default_kernels<Quants>> choose_kernels(std::string_view wanted = forced_isa()) noexcept {
  JIG_TRY(const kernel_table* const t, choose_table(jig_dispatch_tables, wanted, detect_isas(), type_bits(Quants{})));
  return default_kernels<Quants>(*t);
}

#else

template <class Quants = all_quants>
using default_kernels = kernels<isa::native, Quants>;

/// The kernels that this program was compiled for.
/// Errors: unknown_isa; missing_isa if the machine lacks them or JIG_ISA names others.
template <class Quants = all_quants>
result<default_kernels<Quants>> choose_kernels(std::string_view wanted = forced_isa()) noexcept {
  if (!wanted.empty() && !is_isa_name(wanted)) return fail(errc::unknown_isa, wanted);
  if (!wanted.empty() && wanted != isa::native::name) return fail(errc::missing_isa, wanted);
  if (!detect_isas().has(isa::native::name)) return fail(errc::missing_isa, isa::native::name);
  return default_kernels<Quants>{};
}

#endif

}  // namespace jig::cpu
