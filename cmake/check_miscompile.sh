#!/bin/sh
# The guard against compilers that vectorise integer dots wrongly (GCC 12 with AVX512-VNNI, AVX-VNNI or Arm i8mm): the
# scalar paths of all block types must give the same bits with and without those instructions, and encoders and decoders
# also where the compiler may fuse multiplications and additions. aarch64 runs under qemu-user.
#   sh cmake/check_miscompile.sh [quick]      (quick: the first native extension only, nothing fused)
# CXX: the native compiler (default g++); CXX_AARCH64: the cross compiler. Exits with 77 if nothing could be compared.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

quick=${1:-}
cxx=${CXX:-g++}
cross=${CXX_AARCH64:-aarch64-linux-gnu-g++}
work=$build_root/miscompile
mkdir -p "$work"
status=0
compared=0

build_results() { # NAME COMPILER FLAGS...
  name=$1
  compiler=$2
  shift 2
  "$compiler" -std=c++20 -Iinclude "$@" tests/quant/miscompile/results.cpp -o "$work/$name"
}
accepts() { # COMPILER FLAGS...: whether it knows them
  compiler=$1
  shift
  echo 'int main() {}' | "$compiler" "$@" -x c++ - -o "$work/probe" 2>/dev/null
}

# compare LABEL RUN COMPILER PLAIN_FLAGS WIDE_FLAGS: same output from both builds; RUN starts the programs
compare() {
  label=$1
  run=$2
  compiler=$3
  build_results plain "$compiler" -O2 -ffp-contract=off $4
  $run "$work/plain" >"$work/plain.txt"
  for level in -O2 -O3; do # it depends on the loops around which level shows the bug
    build_results wide "$compiler" $level -ffp-contract=off $5
    if ! $run "$work/wide" >"$work/wide.txt"; then
      say "$label $level: the program failed"
      status=1
    elif cmp -s "$work/plain.txt" "$work/wide.txt"; then
      code=0
      $run "$work/wide" canary || code=$?
      case $code in
        0) note='this build does not show the bug' ;;
        3) note='this build has the bug: its known form gives a wrong sum' ;;
        *) die "$label $level: the canary failed ($code)" ;;
      esac
      say "$label $level: same results; $note"
    else
      say "$label $level: DIFFERENT results:"
      diff "$work/plain.txt" "$work/wide.txt" | sed -n 's/^> //p' | awk '{ print "  " $1, $2 }' | sort | uniq -c
      status=1
    fi
  done
  compared=$((compared + 1))
  [ -z "$quick" ] || return 0
  build_results fused "$compiler" -O3 -ffp-contract=fast $5
  $run "$work/fused" | grep -v '^dot' >"$work/fused.txt"
  if grep -v '^dot' "$work/plain.txt" | cmp -s - "$work/fused.txt"; then
    say "$label -O3, fused multiply-add allowed: encoders and decoders give the same bits"
  else
    say "$label -O3, fused multiply-add allowed: encoders or decoders DIFFER"
    status=1
  fi
}

# Plain local arrays in vectorised loops: GCC 12 crashed here at -O3 with AVX-512 (jig/quant/code_array.hpp).
check_alignment() {
  accepts "$cxx" -march=native || {
    skip 'alignment of local arrays: the compiler does not know -march=native'
    return 0
  }
  "$cxx" -std=c++20 -Iinclude -O3 -march=native tests/quant/miscompile/alignment.cpp -o "$work/alignment"
  if "$work/alignment"; then
    say 'native -O3: local arrays are aligned as the compiler assumes'
  else
    say 'native -O3: the decode and dot of IQ1_S CRASHED or gave a wrong sum'
    status=1
  fi
  compared=$((compared + 1))
}

have "$cxx" || die "no compiler ($cxx)"
case $(uname -m) in
  x86_64)
    if grep -qw avx512_vnni /proc/cpuinfo; then
      compare 'x86-64 AVX512-VNNI' '' "$cxx" '-march=x86-64-v3' '-march=icelake-server'
    else
      skip 'x86-64 AVX512-VNNI: this CPU does not have it'
    fi
    if [ -n "$quick" ] && [ "$compared" -gt 0 ]; then
      skip 'x86-64 AVX-VNNI: quick'
    elif grep -qw avx_vnni /proc/cpuinfo && accepts "$cxx" -mavxvnni; then
      compare 'x86-64 AVX-VNNI' '' "$cxx" '-march=x86-64-v3' '-march=x86-64-v3 -mavxvnni'
    else
      skip 'x86-64 AVX-VNNI: this CPU or compiler does not have it'
    fi
    ;;
  *) skip "native build: $(uname -m) is not x86-64" ;;
esac
if [ -n "$quick" ]; then
  skip 'aarch64 i8mm: quick'
elif have "$cross" && have qemu-aarch64-static; then
  compare 'aarch64 i8mm' 'qemu-aarch64-static -cpu max' "$cross" '-static -march=armv8.2-a' \
    '-static -march=armv8.2-a+dotprod+i8mm'
else
  skip "aarch64 i8mm: needs g++-aarch64-linux-gnu and qemu-user-static"
fi
check_alignment
[ "$compared" -gt 0 ] || exit 77
exit $status
