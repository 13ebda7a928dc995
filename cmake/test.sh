#!/bin/sh
# Builds and runs all tests; ends with the totals and with what was skipped on this machine, and why. On Debian 12 as
# root it installs what is missing; elsewhere it says what to install.
#   sh cmake/test.sh [CTEST-OPTIONS...]
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_test_tools
install_missing 'the tests'

folder=$build_root/test
say "Building the programs and tests in $folder (some minutes on a small machine)"
# -O1 without debug information: the shortest sum of build time and run time.
configure "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DJIG_BUILD_TESTS=ON
build "$folder"
run_tests "$folder" "$@"
