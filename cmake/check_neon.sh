#!/bin/sh
# Builds the tests of the CPU kernels for aarch64 and runs them under qemu: on a core with the 8-bit dot instructions
# and on one without. Skips (exit code 77) where the cross compiler or qemu cannot be installed.
#   sh cmake/check_neon.sh
set -u
cd "$(dirname "$0")/.." || exit 1
. cmake/lib.sh

need_test_tools
need g++-aarch64-linux-gnu have aarch64-linux-gnu-g++
need qemu-user-static have qemu-aarch64-static
install_missing_or_skip "NEON kernels under qemu"

folder=$build_root/neon
configure "$folder" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchain-aarch64-linux-gnu.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DJIG_BUILD_EXAMPLES=OFF -DJIG_INSTALL=OFF || exit 1
build "$folder" test_cpu || exit 1
sh cmake/check_dispatch.sh aarch64-linux-gnu-nm "$folder"/tests/cpu/libjig_kernels_*.a || exit 1

run_on() { # CORE EXPECTED: the tests pass, and the best kernels there are the expected ones
  output=$(qemu-aarch64-static -cpu "$1" "$folder/tests/test_cpu" 2>&1)
  status=$?
  printf '%s\n' "$output" | grep -E '^\[doctest\] (test cases|assertions)|MESSAGE' | sed 's/.*MESSAGE: /  /'
  [ $status -eq 0 ] || { printf '%s\n' "$output" | tail -n 40; die "the tests fail on $1"; }
  printf '%s\n' "$output" | grep -q "kernels: $2\$" || die "$1 should run $2 kernels"
  say "$1: $2, passed"
}
run_on cortex-a72 neon
run_on max neon_dotprod
