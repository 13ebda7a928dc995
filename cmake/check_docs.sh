#!/bin/sh
# Compiles every C++ example of README.md and docs/*.md that is a whole program (a ```cpp block with `int main`), links
# it and, where the block is followed by "<!-- run: ARGUMENTS -->", runs it from the root of the checkout. Checks that
# the files that the pages link to exist.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

work=$build_root/docs
rm -rf "$work"
mkdir -p "$work"
status=0

for page in README.md docs/*.md; do
  [ "$page" != docs/design.md ] || continue # the plan: its example is a goal
  # Links are looked for outside of code, where [x](y) is a lambda.
  text=$(awk '/^```/ { code = !code; next } !code' "$page")
  for target in $(printf '%s\n' "$text" | grep -o '](\([^)#]*\)' | sed 's/^](//' | grep -v '^[a-z]*:'); do
    [ -e "$(dirname "$page")/$target" ] || {
      say "$page: links to $target, which does not exist"
      status=1
    }
  done
  awk -v stem="$work/$(basename "$page" .md)" '
    /^```cpp/ { inside = 1; n += 1; file = stem "-" n ".cpp"; next }
    /^```/ { if (inside) close(file); inside = 0; next }
    inside { print >file }
    /^<!-- run: .* -->$/ { sub(/^<!-- run: /, ""); sub(/ -->$/, ""); print >(stem "-" n ".args") }' "$page"
done

if have python3; then
  python3 cmake/make_architectures.py --check || status=1
else
  skip 'docs/architectures.md against the headers: python3 is not installed'
fi

for block in "$work"/*.cpp; do
  [ -f "$block" ] && grep -q 'int main' "$block" || continue
  program=${block%.cpp}
  if ! ${CXX:-c++} -std=c++20 -O1 -Wall -Wextra -Werror -DFMT_HEADER_ONLY=1 -Iinclude "$block" -o "$program" \
    -pthread; then
    say "FAILED: $block does not compile"
    status=1
  elif [ -f "$program.args" ]; then
    # shellcheck disable=SC2046
    "$program" $(cat "$program.args") >"$program.out" 2>&1 || {
      tail -n 20 "$program.out"
      say "FAILED: $block"
      status=1
    }
    [ -s "$program.out" ] || {
      say "FAILED: $block prints nothing"
      status=1
    }
  fi
done
say "$(find "$work" -name '*.cpp' -exec grep -l 'int main' {} + | wc -l) programs of the pages compile," \
  "$(find "$work" -name '*.args' | wc -l) run"
exit $status
