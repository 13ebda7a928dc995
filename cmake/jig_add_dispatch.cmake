# jig_add_dispatch(TARGET [QUANTS "jig::quants<jig::q8_0, float>"])
#
# Gives a program the CPU kernels of every instruction set of its processor family, to be chosen when it runs
# (jig/backend/cpu/dispatch.hpp): one static library per set, compiled with its own flags, and one that lists them.
# Programs without QUANTS share one set of libraries with all block types.
#
# Code that was compiled with wide instructions must not leak: the linker keeps one copy of each inline function, and
# that may be the AVX-512 copy. So everything but the table is made local in each library; cmake/check_dispatch.sh
# asserts it. Where that recipe does not work the tables are fewer (macOS: one, for the flags of the build) or left as
# compiled, without debug builds' out-of-line functions (Windows).
# The shared set's libraries are jig_kernels_<isa>; their names stand in the property JIG_DISPATCH_LIBRARIES of TARGET.

# Sets `var` to the instruction sets, the best first, and JIG_FLAGS_<isa> to their flags.
macro(jig_dispatch_isas var)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT APPLE)
    set(${var} avx512vnni avx512 avx2 scalar)
    set(JIG_FLAGS_scalar -march=x86-64)
    set(JIG_FLAGS_avx2 -march=x86-64-v3)
    set(JIG_FLAGS_avx512 -march=x86-64-v4)
    set(JIG_FLAGS_avx512vnni -march=x86-64-v4 -mavx512vnni)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$" AND NOT APPLE)
    set(${var} neon_dotprod neon scalar)
    set(JIG_FLAGS_scalar -march=armv8-a)
    set(JIG_FLAGS_neon -march=armv8-a)
    set(JIG_FLAGS_neon_dotprod -march=armv8.2-a+dotprod)
  else()
    set(${var} native)
    set(JIG_FLAGS_native "")
  endif()
endmacro()

# The library of one instruction set, with nothing visible but jig_table_<isa>.
function(jig_dispatch_unit name isa quants)
  set(source ${CMAKE_BINARY_DIR}/jig_dispatch/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// Made by jig_add_dispatch(): the kernels for one instruction set.
#include "jig/backend/cpu/make_table.hpp"
extern "C" constexpr jig::cpu::kernel_table jig_table_@isa@ = jig::cpu::make_table<jig::isa::@isa@, @quants@>();
]])
  add_library(${name} STATIC ${source})
  target_link_libraries(${name} PRIVATE jig::jig $<TARGET_NAME_IF_EXISTS:jig::xsimd>)
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3> -ffp-contract=off -fno-lto ${JIG_FLAGS_${isa}}
    "$<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique;-Wno-psabi>"
    # else each unit, its copy of a flag made local, would register the globals of the whole program
    "$<$<CXX_COMPILER_ID:Clang>:-fno-sanitize-address-globals-dead-stripping;-Qunused-arguments>")
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF UNITY_BUILD OFF)
  if(NOT WIN32 AND NOT APPLE AND CMAKE_OBJCOPY)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation --whole-archive $<TARGET_FILE:${name}> -o ${name}.o
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=jig_table_${isa} ${name}.o
      COMMAND ${CMAKE_COMMAND} -E rm $<TARGET_FILE:${name}>
      COMMAND ${CMAKE_AR} crs $<TARGET_FILE:${name}> ${name}.o VERBATIM)
  endif()
endfunction()

function(jig_add_dispatch target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "QUANTS" "")
  set(set jig_kernels)
  set(quants jig::all_quants)
  if(arg_QUANTS)
    set(set ${target}_kernels)
    set(quants ${arg_QUANTS})
  endif()
  jig_dispatch_isas(isas)
  list(TRANSFORM isas PREPEND ${set}_ OUTPUT_VARIABLE libraries)
  if(NOT TARGET ${set})
    set(declarations "")
    set(pointers "")
    foreach(isa ${isas})
      jig_dispatch_unit(${set}_${isa} ${isa} "${quants}")
      string(APPEND declarations "extern const jig::cpu::kernel_table jig_table_${isa};\n")
      string(APPEND pointers "&jig_table_${isa}, ")
    endforeach()
    set(source ${CMAKE_BINARY_DIR}/jig_dispatch/${set}.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// Made by jig_add_dispatch(): the list of the tables, the best first.
#include "jig/backend/cpu/table.hpp"
extern "C" {
@declarations@extern const jig::cpu::kernel_table* const jig_dispatch_tables[];
const jig::cpu::kernel_table* const jig_dispatch_tables[] = {@pointers@nullptr};
}
]])
    add_library(${set} STATIC ${source})
    target_link_libraries(${set} PRIVATE jig::jig ${libraries})
  endif()
  target_link_libraries(${target} PRIVATE ${set})
  target_compile_definitions(${target} PRIVATE JIG_DISPATCH=1)
  set_target_properties(${target} PROPERTIES JIG_DISPATCH_LIBRARIES "${libraries}")
endfunction()
