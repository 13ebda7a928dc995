# Shared by the scripts of this folder (POSIX sh; `. cmake/lib.sh` from the root of the checkout).
# Variables: JIG_BUILD_ROOT, where the scripts build (default build); CXX, the compiler; JIG_JOBS, parallel jobs.

say() { printf '%s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
cores() { echo "${JIG_JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}"; }

# Says plainly that something was not checked; test.sh and .ci/run collect these lines.
skip() { printf 'skipped: %s\n' "$*"; }

build_root=${JIG_BUILD_ROOT:-build}

# Packages that hold what a probe finds. need PACKAGE PROBE...: notes the package unless the probe succeeds.
missing=''
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have_header() { # HEADER: the default C++ compiler finds it
  printf '#include <%s>\n' "$1" | "${CXX:-c++}" -std=c++20 -x c++ -E -o /dev/null - 2>/dev/null
}

# What every build needs, as Debian packages it.
need_build_tools() {
  need g++ have "${CXX:-c++}"
  need cmake have cmake
  have make || need ninja-build have ninja
}
need_host_libraries() {
  need libfmt-dev have_header fmt/format.h
  need libxsimd-dev have_header xsimd/xsimd.hpp
  need libcli11-dev have_header CLI/CLI.hpp
  need nlohmann-json3-dev have_header nlohmann/json.hpp
}
need_test_tools() {
  need_build_tools
  need_host_libraries
  need doctest-dev have_header doctest/doctest.h
}
need_clang() {
  need clang-19 have clang++-19
  need libclang-rt-19-dev test -e /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan-x86_64.a \
    -o -e /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan-aarch64.a
  # names and lines in the sanitizers' reports without LLVM's own tools
  ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$(command -v llvm-symbolizer-19 || command -v addr2line || true)}
  export ASAN_SYMBOLIZER_PATH
}

can_install() { have apt-get && [ "$(id -u)" = 0 ]; }

# Installs what `need` noted, or says what to do where that is not possible. $1: what it is for.
install_missing() {
  [ -n "$missing" ] || return 0
  if can_install; then
    say "Installing:$missing"
    apt_install $missing || die "apt-get could not install$missing"
    missing=''
  elif have apt-get; then
    say "Missing for $1:$missing. Installing needs root; run this once, then start again:"
    say "  sudo apt-get install --no-install-recommends$missing"
    exit 1
  else
    say "Missing for $1:$missing (names of Debian packages), and this system has no apt-get."
    say "Install the same things with your package manager, then run this again: a C++20 compiler (GCC 12, clang 16"
    say "or newer), CMake 3.25 or newer, Ninja or Make, the libraries fmt, xsimd, CLI11 and nlohmann-json, and doctest"
    say "for the tests."
    exit 1
  fi
}

# For checks beyond the tests: installs, or skips the whole script (exit code 77) where that is not possible.
install_missing_or_skip() {
  [ -z "$missing" ] || can_install || {
    skip "$1: not installed:$missing"
    exit 77
  }
  install_missing "$1"
}
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  { apt-get install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null; } ||
    { apt-get update >"$log" 2>&1 && apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; } ||
    { tail -n 20 "$log"; rm -f "$log"; return 1; }
  rm -f "$log"
}

# configure FOLDER OPTIONS...: CMake with Ninja and ccache where they are there; quiet unless it fails.
configure() {
  folder=$1
  shift
  mkdir -p "$folder"
  generator='Unix Makefiles'
  have ninja && generator=Ninja
  [ ! -f "$folder/CMakeCache.txt" ] || generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$folder/CMakeCache.txt")
  launcher=''
  have ccache && launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  cmake -S . -B "$folder" -G "$generator" $launcher "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log"
    return 1
  }
}
# build FOLDER TARGETS...: prints the output only if it fails.
build() {
  folder=$1
  shift
  cmake --build "$folder" --parallel "$(cores)" ${1:+--target "$@"} >"$folder/build.log" 2>&1 || {
    grep -v '^\[' "$folder/build.log" | tail -n 100
    return 1
  }
}

# run_tests FOLDER CTEST-OPTIONS...: runs ctest, then prints the totals and what was skipped.
run_tests() {
  folder=$1
  shift
  status=0
  ctest --test-dir "$folder" --output-on-failure --parallel "$(cores)" --no-tests=error "$@" || status=1
  log="$folder/Testing/Temporary/LastTest.log"
  [ -f "$log" ] || return 1
  awk '/^\[doctest\] test cases:/ { cases += $4; failed += $8 }
       /^\[doctest\] assertions:/ { asserts += $3 }
       END { printf "doctest: %d test cases (%d failed), %d assertions\n", cases, failed, asserts }' "$log"
  grep -o 'skipped: .*' "$log" | LC_ALL=C sort | uniq -c | sed 's/^ *\([0-9]*\) skipped: /skipped (\1x): /'
  return $status
}
