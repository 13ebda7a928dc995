#!/bin/sh
# Checks every header under include/jig:
#   1. it compiles alone, twice in one unit, without a warning: g++, and clang++-19 where it is installed;
#   2. a no-host header compiles for bare metal (arm-none-eabi-g++, no exceptions, no RTTI) and includes only the
#      standard headers on the list below (and xsimd and vendors' intrinsics in backend/cpu);
#   3. a folder includes only folders above it in the table of docs/design.md, section 2.
# A header is hosted if it lies in host/, grammar/, chat/, backend/cuda/, backend/vulkan/ or directly in jig/, or if a
# line of its opening comment starts with "// Hosted". All others are no-host.
#   sh cmake/check_headers.sh [HEADER...]     (paths as in #include: jig/core/types.hpp; default: all)
set -u
cd "$(dirname "$0")/.." || exit 1
. cmake/lib.sh

allowed=' cstddef cstdint limits type_traits concepts bit utility array span string_view cstring cmath new '
intrinsics=' xsimd/xsimd.hpp immintrin.h arm_neon.h arm_sve.h arm_mve.h riscv_vector.h wasm_simd128.h '
warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror'

# The row of a header's folder in the table; a header may include rows up to its own.
layer() {
  case $1 in
    jig/core/*) echo 0 ;;
    jig/quant/*) echo 1 ;;
    jig/gguf/*) echo 2 ;;
    jig/ops/*) echo 3 ;;
    jig/backend/*) echo 4 ;;
    jig/arch/*) echo 5 ;;
    jig/text/* | jig/sample/* | jig/grammar/* | jig/chat/*) echo 6 ;;
    jig/session/*) echo 7 ;;
    jig/model.hpp | jig/host/*) echo 8 ;; # model.hpp is what host/ loads
    jig/*/*) echo unknown ;;
    *) echo 9 ;;
  esac
}

hosted() {
  case $1 in
    jig/host/* | jig/grammar/* | jig/chat/* | jig/backend/cuda/* | jig/backend/vulkan/*) return 0 ;;
    jig/*/*) sed -n '2,12p' "include/$1" | grep -q '^// Hosted' ;;
    *) return 0 ;;
  esac
}

check_includes() { # HEADER: prints each include that is not allowed
  own=$(layer "$1")
  [ "$own" != unknown ] || echo "$1: its folder is not in the table of layers"
  for h in $(sed -n 's/^ *# *include *"\(jig\/[^"]*\)".*/\1/p' "include/$1"); do
    [ -f "include/$h" ] || {
      echo "$1: includes $h, which does not exist"
      continue
    }
    [ "$(layer "$h")" -le "$own" ] 2>/dev/null || echo "$1: includes $h, a layer below its own"
    if ! hosted "$1" && hosted "$h"; then echo "$1: a no-host header includes the hosted $h"; fi
  done
  for h in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "include/$1" | grep -v '^jig/'); do
    echo "$1: includes \"$h\"; the paths are \"jig/...\""
  done
  hosted "$1" && return
  for h in $(sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "include/$1"); do
    case "$allowed" in *" $h "*) continue ;; esac
    case "$1$intrinsics" in jig/backend/cpu/*" $h "*) continue ;; esac
    echo "$1: a no-host header includes <$h>"
  done
}

if [ "${1-}" = --compile ]; then # --compile "COMPILER FLAGS" HEADER: one job of the parallel part
  printf '#include "%s"\n#include "%s"\n' "$3" "$3" | $2 -x c++ -std=c++20 -fsyntax-only $warnings -Iinclude - || {
    echo "FAILED: $3 with $2"
    exit 1
  }
  exit 0
fi

compile_all() { # "COMPILER FLAGS" NAMES...
  compiler=$1
  shift
  [ $# -gt 0 ] || return 0
  if ! have "${compiler%% *}"; then
    skip "headers with ${compiler%% *}: it is not installed"
  elif printf '%s\n' "$@" | xargs -P "$(cores)" -n 1 sh cmake/check_headers.sh --compile "$compiler"; then
    say "$# headers compile alone with $compiler"
  else
    failed=1
  fi
}

failed=0
headers=$*
[ -n "$headers" ] || headers=$(cd include && find jig -name '*.hpp' | LC_ALL=C sort)

faults=$(for h in $headers; do check_includes "$h"; done)
if [ -n "$faults" ]; then
  printf '%s\n' "$faults"
  failed=1
fi
nohost=$(for h in $headers; do hosted "$h" || echo "$h"; done)
helium=$(for h in $nohost; do grep -l ARM_FEATURE_MVE "include/$h"; done | sed 's/^include.//')

arm='-fno-exceptions -fno-rtti'
compile_all g++ $headers
compile_all clang++-19 $headers
compile_all "arm-none-eabi-g++ -mcpu=cortex-m7 -mfloat-abi=hard $arm" $nohost
compile_all "arm-none-eabi-g++ -mcpu=cortex-m55 -mfloat-abi=hard $arm" $helium
exit $failed
