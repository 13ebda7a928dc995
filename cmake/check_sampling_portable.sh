#!/bin/sh
# Checks that the same seed gives the same tokens, probabilities and bits whatever the compiler, its optimisation and
# the machine: x86-64 (-O0, -O3, native with fused multiply-add allowed; GCC and clang), aarch64, s390x (big-endian).
#   sh cmake/check_sampling_portable.sh
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

check() { # NAME RUNNER COMPILER FLAGS...
  name=$1 runner=$2 compiler=$3
  shift 3
  if ! command -v "$compiler" >/dev/null 2>&1 || { [ -n "$runner" ] && ! command -v "$runner" >/dev/null 2>&1; }; then
    echo "skipped: $name: $compiler${runner:+ or $runner} is not installed"
    return
  fi
  "$compiler" -std=c++20 -Iinclude -Itests "$@" tests/sample/digest_main.cpp -o "$out/program"
  $runner "$out/program" >"$out/result"
  if [ ! -f "$out/first" ]; then
    cp "$out/result" "$out/first"
    cat "$out/first"
  elif ! diff "$out/first" "$out/result" >"$out/difference"; then
    echo "DIFFERENT: $name"
    cat "$out/difference"
    failed=1
    return
  fi
  echo "same: $name"
}

check 'x86-64 g++ -O0' '' g++ -O0
check 'x86-64 g++ -O3' '' g++ -O3
check 'x86-64 g++ -O3, native, fused' '' g++ -O3 -march=native -ffp-contract=fast
check 'x86-64 clang -O2, native, fused' '' clang++-19 -O2 -march=native -ffp-contract=fast
check 'aarch64 g++ -O3, fused' qemu-aarch64-static aarch64-linux-gnu-g++ -O3 -static -ffp-contract=fast
check 's390x g++ -O3, fused' qemu-s390x-static s390x-linux-gnu-g++ -O3 -static -ffp-contract=fast
check 'arm 32 bit g++ -O2' qemu-arm-static arm-linux-gnueabihf-g++ -O2 -static
exit $failed
