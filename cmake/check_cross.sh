#!/bin/sh
# Builds the tests for other machines and runs them under qemu-user: on aarch64 what the NEON kernels touch, on a core
# with the 8-bit dot instructions and on one without; on s390x (big-endian, char unsigned) everything. Lists of models
# are run in part: emulation is slow.
#   sh cmake/check_cross.sh [aarch64] [s390x]
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

machines=${*:-aarch64 s390x}
need_test_tools
need qemu-user-static have qemu-s390x-static
for machine in $machines; do
  need "g++-$machine-linux-gnu" have "$machine-linux-gnu-g++"
done
install_missing_or_skip 'cross builds'
export JIG_TEST_EVERY=32

run_on() { # CORE EXPECTED: the kernel tests pass, and the best kernels there are the expected ones
  output=$(qemu-aarch64-static -cpu "$1" "$folder/tests/test_cpu" 2>&1) || {
    printf '%s\n' "$output" | tail -n 40
    say "the tests fail on $1"
    return 1
  }
  printf '%s\n' "$output" | grep -E '^\[doctest\] (test cases|assertions)|MESSAGE' | sed 's/.*MESSAGE: /  /'
  printf '%s\n' "$output" | grep -q "kernels: $2\$" || { say "$1 should run $2 kernels"; return 1; }
  say "$1: $2, passed"
}

check() { # MACHINE TARGETS...: without targets everything is built
  machine=$1
  shift
  folder=$build_root/cross-$machine
  configure "$folder" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-$machine-linux-gnu.cmake" -DJIG_BUILD_EXAMPLES=OFF \
    -DJIG_INSTALL=OFF -DJIG_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 &&
    build "$folder" "$@"
}

status=0
for machine in $machines; do
  say "$machine:"
  case $machine in
    aarch64)
      check aarch64 test_cpu test_quant test_ops test_golden && run_on cortex-a72 neon && run_on max neon_dotprod &&
        run_tests "$folder" -R '^(quant|ops|golden|dispatch_symbols)$' || status=1
      ;;
    *) check "$machine" && run_tests "$folder" -L unit || status=1 ;;
  esac
done
exit $status
