#!/bin/sh
# The smallest program keeps its promises: examples/minimal/main.cpp has at most 30 lines, compiles in under 12 s (of one
# core), takes under 500 KB stripped with libstdc++ linked statically, and tells a story with the bundled model.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_build_tools
install_missing_or_skip 'the smallest program'

work=$build_root/minimal
mkdir -p "$work"
source=examples/minimal/main.cpp
status=0
at_most() { # WHAT FOUND LIMIT
  say "$1: $2 (limit $3)"
  [ "$2" -le "$3" ] || status=1
}

at_most 'lines' "$(wc -l <"$source")" 30

# The CPU seconds of the compiler: `times` counts the children of a shell, here a fresh one.
cat >"$work/compile.sh" <<END
${CXX:-c++} -std=c++20 -O2 -ffunction-sections -fdata-sections -Iinclude '-DJIG_MODELS="examples/models"' \
  $source -o $work/minimal -pthread -static-libstdc++ -static-libgcc -Wl,--gc-sections,-s || exit 1
times
END
sh "$work/compile.sh" >"$work/times"
at_most 'seconds to compile' "$(awk 'END { split($1, t, /[ms.]/); print t[1] * 60 + t[2] }' "$work/times")" 12
at_most 'bytes' "$(wc -c <"$work/minimal")" 500000

"$work/minimal" >"$work/story"
cat "$work/story"
at_most 'characters missing from a story of 200' "$(awk '{ n += length($0) } END { print n < 200 ? 200 - n : 0 }' "$work/story")" 0
exit $status
