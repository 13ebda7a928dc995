#!/bin/sh
# Compiles examples/minimal for size, statically linked against libstdc++, and checks the limits of a program that uses
# only what it names: at most 30 lines, 12 s of compiling and 500 KB (stripped). Prints all figures, also those of -O2.
# On a slow or busy machine the 12 s are counted in yardsticks instead: the time of a program of the standard library
# (maps, streams, regular expressions), compiled right after it.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_build_tools
need_host_libraries
install_missing_or_skip 'minimal'

limit_seconds=12
limit_yardsticks=3.6 # 12 s where minimal takes 10.3 s and the yardstick 3.3 s
limit_bytes=500000
limit_lines=30
work=$build_root/minimal
mkdir -p "$work"
source=examples/minimal/main.cpp
status=0

cat >"$work/yardstick.cpp" <<'END'
#include <iostream>
#include <map>
#include <regex>
int main(int count, char** arguments) {
  std::map<std::string, std::size_t> seen;
  for (int i = 2; i < count; ++i)
    if (std::regex_search(arguments[i], std::regex(arguments[1]))) ++seen[arguments[i]];
  for (const auto& [text, times] : seen) std::cout << text << ' ' << times << '\n';
}
END

# compile SOURCE LEVEL OBJECT: sets seconds, CPU time of user and system.
compile() {
  (
    ${CXX:-c++} -std=c++20 "$2" -ffunction-sections -fdata-sections -Iinclude -DJIG_MODELS='"examples/models"' \
      -c "$1" -o "$3"
    times
  ) >"$work/times"
  # The last line of `times`: user and system time of the subshell's children, "0m9.870s 0m0.400s".
  seconds=$(tail -n 1 "$work/times" | awk '{
    for (i = 1; i <= 2; ++i) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] }
    printf "%.1f", sum }')
}

# build LEVEL: sets seconds and bytes (stripped program).
build() {
  compile "$source" "$1" "$work/minimal$1.o"
  ${CXX:-c++} "$work/minimal$1.o" -o "$work/minimal$1" -static-libstdc++ -static-libgcc -Wl,--gc-sections -pthread -s
  bytes=$(wc -c <"$work/minimal$1")
  say "minimal $1: compiled in $seconds s of CPU time, $bytes bytes stripped, libstdc++ inside"
}

# fast_enough: whether the last build took less than the limit, in seconds or else in yardsticks.
fast_enough() {
  awk "BEGIN { exit !($seconds <= $limit_seconds) }" && return
  ours=$seconds
  compile "$work/yardstick.cpp" -Os "$work/yardstick.o"
  yardsticks=$(awk "BEGIN { printf \"%.2f\", $ours / $seconds }")
  say "minimal: over $limit_seconds s here; the yardstick took $seconds s: $yardsticks of $limit_yardsticks yardsticks"
  awk "BEGIN { exit !($yardsticks <= $limit_yardsticks) }"
}

lines=$(wc -l <"$source")
say "minimal: $lines lines"
[ "$lines" -le $limit_lines ] || { say "FAILED: more than $limit_lines lines"; status=1; }

build -O2
tries=3 # other work may disturb one of the two: threads of one core slow each other down
until build -Os && fast_enough; do
  tries=$((tries - 1))
  [ $tries -gt 0 ] || { say "FAILED: compiling takes too long"; status=1; break; }
done
[ "$bytes" -le $limit_bytes ] || { say "FAILED: more than $limit_bytes bytes"; status=1; }

text=$("$work/minimal-Os" | head -c 200)
case $text in
  "Once upon a time"*) ;;
  *) say "FAILED: it prints: $text"; status=1 ;;
esac
exit $status
