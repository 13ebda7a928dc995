#!/bin/sh
# Builds the tests for other machines and runs them under qemu-user: aarch64 (NEON with dot products and f16) and
# s390x (big-endian, char unsigned).
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

status=0
for machine in $machines; do
  case $machine in
    aarch64) flags='-march=armv8.2-a+dotprod+fp16' ;;
    *) flags='' ;;
  esac
  folder=$build_root/cross-$machine
  say "$machine:"
  if configure "$folder" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-$machine-linux-gnu.cmake" \
    -DJIG_BUILD_EXAMPLES=OFF -DJIG_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O2 $flags" && build "$folder"; then
    run_tests "$folder" -L unit || status=1
  else
    status=1
  fi
done
exit $status
