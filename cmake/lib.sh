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

# The tools that every build needs, as Debian packages them.
need_build_tools() {
  need g++ have "${CXX:-c++}"
  need cmake have cmake
  have ninja || need make have make
}

# Installs what `need` noted, or says what to do where that is not possible. $1: what it is for.
install_missing() {
  [ -n "$missing" ] || return 0
  if ! have apt-get; then
    say "Missing for $1:$missing (names of Debian packages)."
    say "This system has no apt-get. Install the same things with your package manager, then run this again:"
    say "a C++20 compiler (GCC 12, clang 16 or newer), CMake 3.25 or newer, Ninja or Make,"
    say "and the libraries fmt, xsimd, CLI11 and nlohmann-json; doctest too for the tests."
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    say "Missing for $1:$missing. Installing needs root; run this once, then start again:"
    say "  sudo apt-get install --no-install-recommends$missing"
    exit 1
  fi
  say "Installing:$missing"
  apt_install $missing || die "apt-get could not install$missing"
  missing=''
}
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  { apt-get install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null; } ||
    { apt-get update >"$log" 2>&1 && apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; } ||
    { tail -n 20 "$log"; rm -f "$log"; return 1; }
  rm -f "$log"
}

# configure FOLDER OPTIONS...: CMake with Ninja where there is one, and ccache where there is one; quiet unless it fails.
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
