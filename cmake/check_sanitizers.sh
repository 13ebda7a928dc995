#!/bin/sh
# Builds the programs and tests with clang 19, warnings as errors, and runs all unit tests under its address and
# undefined-behaviour sanitizers, with 100,000 mutations of model files; any report is a failure.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_test_tools
need_clang
install_missing_or_skip sanitizers

folder=$build_root/sanitizers
sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
configure "$folder" -DCMAKE_CXX_COMPILER=clang++-19 -DJIG_BUILD_TESTS=ON \
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -gline-tables-only $sanitize"
build "$folder"
JIG_MUTATIONS=100000 JIG_MEMORY_KB=unlimited UBSAN_OPTIONS=print_stacktrace=1 run_tests "$folder" -L unit
