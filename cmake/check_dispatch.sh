#!/bin/sh
# Asserts that each library of jig_add_dispatch() has exactly one global symbol, its table: no code that was compiled
# for a wide instruction set can then be taken for the program's own.
#   sh cmake/check_dispatch.sh NM LIBRARY...      (libNAME_ISA.a must define jig_table_ISA; NAME ends in "kernels")
set -u
nm=$1
shift
[ $# -gt 0 ] || { echo "error: no libraries given"; exit 1; }
failed=0
for library in "$@"; do
  isa=$(basename "$library" .a | sed 's/^lib//; s/.*kernels_//')
  symbols=$("$nm" -g --defined-only "$library" | awk 'NF == 3 { print $3 }')
  if [ "$symbols" = "jig_table_$isa" ]; then
    echo "$(basename "$library"): $symbols"
  else
    echo "FAILED: $library should define jig_table_$isa and nothing else, but defines $(echo "$symbols" | wc -w): "
    echo "$symbols" | head -n 5
    failed=1
  fi
done
exit $failed
