#!/bin/sh
# Fuzzes: each tests/fuzz/NAME_fuzz.cpp for FUZZ_SECONDS (default 60) from its corpus tests/fuzz/corpus/NAME, under the
# address and undefined-behaviour sanitizers. New inputs stay in the build folder; a crashing one is named.
#   FUZZ_SECONDS=600 sh cmake/check_fuzz.sh [NAME...]
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

seconds=${FUZZ_SECONDS:-60}
folder=$build_root/fuzz

if [ "${1-}" = --one ]; then # --one NAME: builds and runs one target
  name=$2
  work=$folder/$name
  mkdir -p "$work/corpus"
  clang++-19 -std=c++20 -O1 -gline-tables-only -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -Itests \
    -DFMT_HEADER_ONLY=1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    "tests/fuzz/${name}_fuzz.cpp" -o "$work/fuzz"
  if "$work/fuzz" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work/corpus" "tests/fuzz/corpus/$name" >"$work/log" 2>&1; then
    say "$name: $(sed -n 's/stat::number_of_executed_units: *//p' "$work/log") inputs in $seconds s, no fault"
  else
    grep -v '^#[0-9]*[[:space:]]*\(NEW\|REDUCE\|pulse\|RELOAD\)' "$work/log" | tail -n 60
    say "$name: FAILED; the input lies in $work"
    exit 1
  fi
  exit 0
fi

need_clang
need libfmt-dev have_header fmt/format.h
install_missing_or_skip fuzzing

names=$*
[ -n "$names" ] || names=$(for f in tests/fuzz/*_fuzz.cpp; do [ ! -f "$f" ] || basename "$f" _fuzz.cpp; done)
[ -n "$names" ] || die 'no tests/fuzz/*_fuzz.cpp'
for name in $names; do
  [ -d "tests/fuzz/corpus/$name" ] || die "no corpus tests/fuzz/corpus/$name"
done
printf '%s\n' $names | xargs -P "$(cores)" -n 1 sh cmake/check_fuzz.sh --one
