#!/bin/sh
# Runs the tests of the thread pool under clang's thread sanitizer, after showing that it reports a seeded race.
# Usage: sh cmake/check_tsan.sh [compiler]     Needs clang-19, libclang-rt-19-dev and doctest-dev.
set -eu
cd "$(dirname "$0")/.."
cxx=${1:-clang++-19}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# The sanitizer's shadow memory needs a bounded address space randomisation; where the kernel's is larger, switch it
# off.
run="env TSAN_OPTIONS=halt_on_error=1"
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [ "$bits" -gt 28 ]; then run="$run setarch -R"; fi

flags="-std=c++20 -O1 -g -fsanitize=thread -pthread -DJIG_TSAN -Iinclude"
cat > "$out/race.cpp" <<'CPP'
#include "jig/host/pool.hpp"
int main() {
  // The caller stays in its part until a worker has written too; relaxed, so that nothing orders the two writes.
  jig::host::pool p({.threads = 2, .usable = 2});
  int shared = 0;
  std::atomic<bool> written{false};
  p.handle().run([&](jig::u32 index, jig::u32) {
    ++shared;
    if (index == 1) written.store(true, std::memory_order_relaxed);
    while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
  });
  return shared == 0;
}
CPP
$cxx $flags "$out/race.cpp" -o "$out/race"
if $run "$out/race" > "$out/race.log" 2>&1; then
  echo "check_tsan: the seeded race was not reported" >&2
  exit 1
fi
grep -q "data race" "$out/race.log" || { cat "$out/race.log" >&2; exit 1; }

$cxx $flags tests/host/pool_test.cpp tests/test_main.cpp -o "$out/pool_test"
$run "$out/pool_test"
echo "check_tsan: seeded race reported, the pool is clean"
