#!/bin/sh
# Builds the programs and tests with clang 19, warnings as errors, and runs the unit tests.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_test_tools
need_clang
install_missing_or_skip clang

folder=$build_root/clang
configure "$folder" -DCMAKE_CXX_COMPILER=clang++-19 -DJIG_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE=-O1
build "$folder"
run_tests "$folder" -L unit
