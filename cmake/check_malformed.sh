#!/bin/sh
# Runs `jig-gguf verify` on every file of tests/data/malformed, each limited to 64 MB of address space: a broken
# container must give the error that the manifest names, with exit status 1 and within 100 ms; a valid one must pass.
# (The files model-* are valid containers; the loader of models refuses them, which its own tests show.)
#   sh cmake/check_malformed.sh PATH-OF-JIG-GGUF
# Variable: JIG_MEMORY_KB, the limit; `unlimited` for a program with sanitizers, which reserve terabytes of addresses.
set -u
memory=${JIG_MEMORY_KB:-65536}
program=${1:?usage: check_malformed.sh PATH-OF-JIG-GGUF}
cd "$(dirname "$0")/../tests/data/malformed" || exit 1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
now() { date +%s%N; }
tab=$(printf '\t')
files=0 failures=0 slowest=0 slowest_file=''

# One run: sets status and milliseconds.
run() {
  start=$(now)
  (ulimit -v "$memory" && exec timeout 10 "$program" verify "$1") >"$log" 2>&1
  status=$?
  milliseconds=$((($(now) - start) / 1000000))
}

while IFS="$tab" read -r file expected fault; do
  case $file in '#'*) continue ;; esac
  files=$((files + 1))
  # On a busy machine a run can be slow for reasons of its own: the best of five counts.
  best=''
  for try in 1 2 3 4 5; do
    run "$file"
    [ -n "$best" ] && [ "$best" -le "$milliseconds" ] || best=$milliseconds
    [ "$best" -gt 100 ] || break
  done
  case $file in model-*) expected=ok ;; esac
  if [ "$expected" = ok ]; then
    [ $status = 0 ] || {
      echo "$file: expected to pass ($fault), got $status: $(cat "$log")"
      failures=$((failures + 1))
    }
  elif [ $status != 1 ] || ! grep -qF "[$expected]" "$log"; then
    echo "$file: expected [$expected], got status $status: $(cat "$log")"
    failures=$((failures + 1))
  fi
  [ "$best" -le 100 ] || { echo "$file: took $best ms"; failures=$((failures + 1)); }
  [ "$best" -le "$slowest" ] || { slowest=$best; slowest_file=$file; }
done <manifest.txt

echo "$files files in at most $memory KB each, slowest $slowest ms ($slowest_file), $failures failures"
[ "$files" -ge 60 ] && [ $failures = 0 ]
