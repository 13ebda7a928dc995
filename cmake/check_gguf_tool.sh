#!/bin/sh
# Tries every command of jig-gguf on the demo model and on a small file: results, exit statuses, pipes, full and
# read-only places.
#   sh cmake/check_gguf_tool.sh PATH-OF-JIG-GGUF
set -u
tool=${1:?usage: check_gguf_tool.sh PATH-OF-JIG-GGUF}
cd "$(dirname "$0")/.." || exit 1
model=examples/models/demo/jig-demo-q8_0.gguf
small=tests/data/malformed/model-valid.gguf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 checks=0

# check STATUS WORDS...: runs the command; its status must be STATUS. Output: $work/out and $work/err.
check() {
  expected=$1
  shift
  "$@" >"$work/out" 2>"$work/err"
  status=$?
  checks=$((checks + 1))
  [ $status = "$expected" ] && return
  echo "FAILED: $*: status $status, expected $expected: $(cat "$work/err")"
  failures=$((failures + 1))
}
# says out|err TEXT: the last command printed TEXT there.
says() {
  checks=$((checks + 1))
  grep -qF -- "$2" "$work/$1" && return
  echo "FAILED: no '$2' in: $(cat "$work/$1")"
  failures=$((failures + 1))
}

check 0 "$tool" show "$model"
says out 'general.architecture'
says out 'token_embd.weight'
check 0 "$tool" show --json "$model"
says out '"name": "token_embd.weight"'
check 0 "$tool" show --json --no-tensors "$small"
check 0 "$tool" show --full --no-keys "$small"
check 0 "$tool" verify "$model" "$small"
check 1 "$tool" verify "$model" tests/data/malformed/key-twice.gguf
check 1 "$tool" verify "$work/missing.gguf"
says err cannot_open
check 1 "$tool" verify "$work"
check 2 "$tool"
check 2 "$tool" show
check 2 "$tool" show --wrong "$model"
check 2 "$tool" unknown "$model"
check 2 "$tool" split "$model" "$work/m" --split-max-tensors 0
check 0 "$tool" --help

check 0 "$tool" sha256 "$small"
says out '  token_embd.weight'

check 0 "$tool" split "$model" "$work/m" --split-max-tensors 10
check 0 "$tool" verify "$work/m-00002-of-00004.gguf"
check 0 "$tool" merge "$work/m-00003-of-00004.gguf" "$work/joined.gguf"
check 0 cmp "$work/joined.gguf" "$model"
check 0 "$tool" split "$model" "$work/s" --split-max-size 500K
check 0 "$tool" verify "$work"/s-00001-of-*.gguf
mv "$work/m-00002-of-00004.gguf" "$work/elsewhere.gguf"
check 1 "$tool" merge "$work/m-00001-of-00004.gguf" "$work/joined2.gguf"
says err bad_split
check 1 test -e "$work/joined2.gguf"

cp "$small" "$work/e.gguf"
check 0 "$tool" set "$work/e.gguf" my.number i32 -5
check 0 "$tool" set "$work/e.gguf" my.list 'f32[]' -1.5 2 -o "$work/e2.gguf"
check 0 "$tool" show "$work/e2.gguf"
says out '[-1.5, 2]'
check 0 "$tool" remove "$work/e2.gguf" my.list
check 0 "$tool" remove "$work/e2.gguf" my.number
check 0 cmp "$work/e2.gguf" "$small"
check 1 "$tool" remove "$work/e2.gguf" my.number
says err missing_key
check 1 "$tool" set "$work/e2.gguf" k u8 256
check 1 "$tool" set "$work/e2.gguf" k u7 1
check 1 "$tool" set "$work/e2.gguf" general.alignment u32 24
check 0 cmp "$work/e2.gguf" "$small"

check 0 sh -c 'cat "$2" | "$1" verify -' sh "$tool" "$small"
check 0 sh -c '"$1" set - k bool true <"$2" | "$1" show -' sh "$tool" "$small"
says out 'true'
check 0 sh -c '"$1" set "$2" k bool true -o - | "$1" remove - k | cmp - "$2"' sh "$tool" "$small"
if [ -e /dev/full ]; then
  check 1 sh -c '"$1" show "$2" >/dev/full' sh "$tool" "$model"
  check 1 "$tool" merge "$model" /dev/full
  says err 'No space left'
fi
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/closed"
  chmod a-w "$work/closed"
else
  ln -s /proc "$work/closed" # where root may not write either
fi
check 1 "$tool" merge "$model" "$work/closed/x.gguf"
says err cannot_write
check 1 "$tool" merge "$model" "$work/no/folder/x.gguf"
says err cannot_write
[ -z "$(find "$work" -name '*.tmp*')" ] || {
  echo 'FAILED: a temporary file was left behind'
  failures=$((failures + 1))
}

echo "jig-gguf: $checks checks, $failures failures"
[ $failures = 0 ]
