#!/bin/sh
# Checks how the code reads, as far as a machine can: line length, blanks, #pragma once, file length, and the checks of
# .clang-tidy over every header (clang-tidy 19). Layout is a matter of .clang-format and of the eye: tables stay aligned
# by hand.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

status=0
complain() { # TEXT: prints it and fails, if there is any
  [ -z "$1" ] || {
    printf '%s\n' "$1"
    status=1
  }
}

code=$(find include tests examples bench cmake .ci -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.sh' -o -path .ci/run \) |
  LC_ALL=C sort)
for f in $code; do
  complain "$(awk -v f="$f" '
    length($0) > 120 { printf "%s:%d: longer than 120 columns\n", f, NR }
    /\t/ { printf "%s:%d: a tab\n", f, NR }
    /[ \r]$/ { printf "%s:%d: blanks at the end of the line\n", f, NR }
    /\/\/.*(TODO|FIXME|XXX)/ { printf "%s:%d: unfinished\n", f, NR }' "$f")"
  [ -z "$(tail -c 1 "$f")" ] || complain "$f: no newline at the end"
  case $f in
    *.hpp)
      [ "$(head -n 1 "$f")" = '#pragma once' ] || complain "$f: does not begin with #pragma once"
      case $(sed -n 2p "$f") in '//'*) ;; *) complain "$f: line 2 does not say what the header is" ;; esac
      ;;
  esac
  lines=$(wc -l <"$f")
  case $f in
    */codebook/* | *_data.hpp) ;; # data
    *) [ "$lines" -le 500 ] || complain "$f: $lines lines; split it (docs/conventions.md)" ;;
  esac
done
say "$(printf '%s\n' $code | wc -l) files read"

need clang-tidy-19 have clang-tidy-19
need libfmt-dev have_header fmt/format.h
need libxsimd-dev have_header xsimd/xsimd.hpp
[ -z "$missing" ] || can_install || {
  skip "clang-tidy: not installed:$missing"
  exit $status
}
install_missing clang-tidy

# One unit per folder; backend/cpu with the machine's instructions, so that its wide kernels are read too.
work=$build_root/style
mkdir -p "$work"
rm -f "$work"/*.cpp
for folder in $(cd include/jig && find . -type d | sed 's/^\.\/*//' | LC_ALL=C sort); do
  headers=$(cd include && find "jig/$folder" -maxdepth 1 -name '*.hpp' | sed 's/\/\//\//' | LC_ALL=C sort)
  case $folder in */cuda* | */vulkan*) continue ;; esac
  [ -n "$headers" ] || continue
  printf '#include "%s"\n' $headers >"$work/$(echo "${folder:-jig}" | tr / _).cpp"
done
if printf '%s\n' "$work"/*.cpp | xargs -P "$(cores)" -I{} \
  clang-tidy-19 --quiet --config-file=.clang-tidy {} -- -std=c++20 -Iinclude -mavx2 -mfma -mf16c 2>"$work/log"; then
  say "clang-tidy: nothing found"
else
  grep -E 'error:' "$work/log" || true
  status=1
fi
exit $status
