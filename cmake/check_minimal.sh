#!/bin/sh
# Compiles examples/minimal for size, statically linked against libstdc++, and checks the limits of a program that uses
# only what it names: at most 30 lines, 12 s of compiling (CPU time, so that other work on the machine matters little)
# and 500 KB (stripped). Prints all figures, also those of -O2.
#   JIG_MINIMAL_SECONDS: another limit for slow machines
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_build_tools
need_host_libraries
install_missing_or_skip 'minimal'

limit_seconds=${JIG_MINIMAL_SECONDS:-12}
limit_bytes=500000
limit_lines=30
work=$build_root/minimal
mkdir -p "$work"
source=examples/minimal/main.cpp
status=0

# compile LEVEL: sets seconds (CPU time) and bytes (stripped program).
compile() {
  flags="-std=c++20 $1 -ffunction-sections -fdata-sections -Iinclude -DJIG_MODELS=\"examples/models\""
  # shellcheck disable=SC2086
  (
    ${CXX:-c++} $flags -c "$source" -o "$work/minimal$1.o"
    times
  ) >"$work/times"
  # The last line of `times`: user and system time of the subshell's children, "0m9.870s 0m0.400s".
  seconds=$(tail -n 1 "$work/times" | awk '{ split($1, t, /[ms]/); printf "%.1f", t[1] * 60 + t[2] }')
  ${CXX:-c++} "$work/minimal$1.o" -o "$work/minimal$1" -static-libstdc++ -static-libgcc -Wl,--gc-sections -pthread -s
  bytes=$(wc -c <"$work/minimal$1")
  say "minimal $1: compiled in $seconds s of CPU time, $bytes bytes stripped, libstdc++ inside"
}

lines=$(wc -l <"$source")
say "minimal: $lines lines"
[ "$lines" -le $limit_lines ] || { say "FAILED: more than $limit_lines lines"; status=1; }

compile -O2
compile -Os
# A second try where other work disturbed the first: threads of one core slow each other down.
awk "BEGIN { exit !($seconds <= $limit_seconds) }" || compile -Os
awk "BEGIN { exit !($seconds <= $limit_seconds) }" || { say "FAILED: more than $limit_seconds s"; status=1; }
[ "$bytes" -le $limit_bytes ] || { say "FAILED: more than $limit_bytes bytes"; status=1; }

text=$("$work/minimal-Os" | head -c 200)
case $text in
  "Once upon a time"*) ;;
  *) say "FAILED: it prints: $text"; status=1 ;;
esac
exit $status
