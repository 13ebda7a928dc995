#!/bin/sh
# Builds the firmware example for two boards, runs it in QEMU and compares its tokens with the PC's and with the golden
# ones; prints what it costs in flash, RAM and instructions; fails if a limit is passed or the heap was linked.
#   sh cmake/firmware.sh            prints
#   sh cmake/firmware.sh --record   also writes the figures to docs/firmware.md
# Uses ../shared/models/stories260K.gguf (JIG_SHARED: another place for ../shared); the bundled demo model always.
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

record=no
[ "${1-}" != --record ] || record=yes
shared=${JIG_SHARED:-../shared}
stories=$shared/models/stories260K.gguf
golden=$shared/golden/stories260K.json
code_limit=65536
ram_limit=524288

need_build_tools
need_host_libraries
need gcc-arm-none-eabi have arm-none-eabi-g++
need libstdc++-arm-none-eabi-newlib test -e /usr/lib/arm-none-eabi/include/c++
need qemu-system-arm have qemu-system-arm
install_missing_or_skip 'firmware'

status=0
complain() {
  say "FAILED: $*"
  status=1
}
case $build_root in /*) work=$build_root/firmware ;; *) work=$PWD/$build_root/firmware ;; esac
mkdir -p "$work"
figures=$work/figures.md
: >"$figures"

# core_of BOARD: what GCC calls its core.
core_of() { case $1 in mps2-an500) echo cortex-m7 ;; *) echo cortex-m55 ;; esac; }

# build_pc NAME OPTIONS...: jig-embed and the program for this machine.
build_pc() {
  name=$1
  shift
  configure "$work/pc-$name" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DJIG_BUILD_TESTS=OFF \
    -DJIG_INSTALL=OFF -DJIG_FIRMWARE_SCALAR=ON "$@" && build "$work/pc-$name" firmware-pc
}
# build_board BOARD NAME OPTIONS...
build_board() {
  board=$1 folder=$work/$1-$2
  shift 2
  configure "$folder" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-arm-none-eabi.cmake" \
    "-DJIG_CPU=$(core_of "$board")" -DCMAKE_BUILD_TYPE=MinSizeRel -DJIG_BUILD_TESTS=OFF -DJIG_INSTALL=OFF \
    "-DJIG_EMBED=$embed" "$@" && build "$folder" "firmware-$board" "check-$board"
}

# emulate BOARD ELF ARGUMENTS: runs it; one instruction takes 64 ns of the board's time. Commas are doubled for QEMU.
emulate() {
  arguments=$(printf '%s' "$3" | sed 's/,/,,/g')
  timeout 300 qemu-system-arm -M "$1" -display none -monitor none -serial null -icount shift=6 \
    -semihosting-config "enable=on,target=native,arg=firmware,arg=$arguments" -kernel "$2" </dev/null
}
ids_of() { sed -n 's/^ids: //p' "$1"; }
ns_of() { sed -n "s/^$2: .*, \([0-9]*\) ns per token$/\1/p" "$1"; }

# golden KEY NUMBER: entry NUMBER (from 1) of an array of the Q8_0 file's results.
golden() {
  sed -n "/^  \"Q8_0\": {/,/^  }/ s/^ *\"$1\": \[\(.*\)\],\$/\1/p" "$golden" |
    sed 's/\],\[/\n/g; t; s/,/\n/g' | tr -d '[]' | tr , ' ' | sed -n "$2p"
}
# The golden ids of a prompt, if every choice was clear: below a margin of 0.05 between the two best logits the rounding
# of activations to 8 bits and of keys and values to f16 decides.
golden_ids() { # NUMBER (from 1)
  [ -f "$golden" ] || return 0
  margin=$(golden greedy64_min_margin "$1")
  if awk "BEGIN { exit !($margin < 0.05) }"; then
    skip "golden ids of prompt $1: two tokens are as close as $margin; compared with the PC only" >&2
  else
    golden greedy64_ids "$1"
  fi
}

# compare BOARD ELF PC ARGUMENTS [EXPECTED]: the same ids on the board and here (and as expected).
compare() {
  emulate "$1" "$2" "$4" >"$work/board.out" || complain "$1 ends with $?: $(tail -n 2 "$work/board.out")"
  "$3" "$4" >"$work/pc.out" || complain "the PC's program ends with $?"
  [ -n "$(ids_of "$work/board.out")" ] || complain "$1: no ids"
  [ "$(ids_of "$work/board.out")" = "$(ids_of "$work/pc.out")" ] || complain "$1: other ids than the PC's: $4"
  [ -z "${5-}" ] || [ "$(ids_of "$work/board.out")" = "$5" ] || complain "$1: other ids than the golden ones: $4"
}

section() { arm-none-eabi-size -A "$1" | awk -v name="$2" '$1 == name { n = $2 } END { print n + 0 }'; }
symbol() { arm-none-eabi-nm -SC "$1" | awk -v name="(anonymous namespace)::$2" \
  '{ s = $4; for (i = 5; i <= NF; ++i) s = s " " $i } s == name { print $2 }' | { read -r hex && echo $((0x$hex)); }; }
commas() { echo "$1" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta'; }

# No heap, no exceptions, no type information may have been linked.
check_symbols() {
  heap='_?(malloc|calloc|realloc|free|sbrk)(_r)?|_Zn[wa].*|_Zd[la].*'
  throwing='__cxa_(throw|allocate_exception|begin_catch)|__gxx_personality_v0|_Unwind_Raise.*|_ZTI.*|abort'
  bad=$(arm-none-eabi-nm "$1" | awk '{ print $NF }' | grep -E "^($heap|$throwing)\$" || true)
  [ -z "$bad" ] || complain "$2 links $bad"
}

# measure BOARD ELF OUTPUT NAME: adds a row to the table; checks the limits where they hold.
measure() {
  elf=$2
  code=$(($(section "$elf" .vectors) + $(section "$elf" .text) + $(section "$elf" .constants) + \
    $(section "$elf" .exidx) + $(section "$elf" .data)))
  stack=$(section "$elf" .stack)
  ram=$(($(section "$elf" .data) + $(section "$elf" .bss) + stack))
  arena=$(symbol "$elf" activations) kv=$(symbol "$elf" key_value_memory) scratch=$(symbol "$elf" tokenizer_scratch)
  used=$(sed -n 's/^stack: \([0-9]*\) bytes.*/\1/p' "$3")
  per_token=$(($(ns_of "$3" generated) / 64))
  per_prompt=$(($(ns_of "$3" prompt) / 64))
  row="$4, $1 | $(commas "$code") | $(commas $(($(section "$elf" .weights) + $(section "$elf" .vocabulary))))"
  row="$row | $(commas "$ram") | $(commas "$arena") | $(commas "$kv") | $(commas "$scratch")"
  row="$row | $(commas "$stack") ($(commas "$used")) | $(commas $per_prompt) | $(commas $per_token)"
  echo "| $row |" >>"$figures"
  [ "$code" -lt $code_limit ] || complain "$1, $4: code and constants take $code bytes, the limit is $code_limit"
  check_symbols "$elf" "$1"
}

# both_boards NAME PC-FOLDER OPTIONS...: builds, checks the kernels; the functions above do the rest.
both_boards() {
  name=$1
  shift
  for board in mps2-an500 mps3-an547; do
    build_board $board "$name" "$@" || die "$board, $name: does not build"
    emulate $board "$work/$board-$name/examples/firmware/check-$board.elf" '' || complain "$board: kernels"
    code=0
    emulate $board "$work/$board-$name/examples/firmware/check-$board.elf" fault >"$work/fault.out" || code=$?
    [ $code = 99 ] && grep -q 'fault: CFSR 0x00010000' "$work/fault.out" || complain "$board: a fault ends with $code"
    elf=$work/$board-$name/examples/firmware/firmware-$board.elf
    pc=$work/pc-$name/examples/firmware/firmware-pc
    "run_$name" $board "$elf" "$pc"
  done
}

run_stories() { # BOARD ELF PC
  compare "$1" "$2" "$3" '-n 200'
  cat "$work/board.out"
  cp "$work/board.out" "$work/measured.out"
  compare "$1" "$2" "$3" '-n 60 --temp 0.8 -s 7 -p One day'
  number=0
  while read -r prompt; do
    number=$((number + 1))
    prompt=$(printf '%s' "$prompt" | tr @ '\n')
    compare "$1" "$2" "$3" "-n 64 -p $prompt" "$(golden_ids $number)"
  done <<'PROMPTS'
Once upon a time
Lily and Tom went to the park. They saw a big
One day, a little cat named Mimi found a red ball in the garden.@@"Look at this!" said
The dog was very sad because he lost his
Tim had 3 apples and 12 cookies. He gave 5 to Zoë 🙂, and then
PROMPTS
  measure "$1" "$2" "$work/measured.out" stories260K
  [ "$ram" -lt $ram_limit ] || complain "$1: RAM is $ram bytes, the limit is $ram_limit"
}
run_demo() { # BOARD ELF PC
  compare "$1" "$2" "$3" '-n 32'
  measure "$1" "$2" "$work/board.out" demo
}

embed=''
if [ -f "$stories" ]; then
  model="-DJIG_FIRMWARE_MODEL=$(cd "$(dirname "$stories")" && pwd)/stories260K.gguf -DJIG_FIRMWARE_TYPE=q8_0"
  # shellcheck disable=SC2086
  build_pc stories $model || die 'the program for this machine does not build'
  embed=$work/pc-stories/examples/jig-embed
  [ -f "$golden" ] || skip "golden ids of stories260K: $golden is not there"
  # shellcheck disable=SC2086
  both_boards stories $model
else
  skip "firmware with stories260K, so the golden ids and the limit of RAM: $stories is not there"
  record=no
fi
demo=-DJIG_FIRMWARE_MODEL=$PWD/examples/models/demo/jig-demo-q8_0.gguf
build_pc demo "$demo" "-DJIG_EMBED=$embed" || die 'the program for this machine does not build'
[ -n "$embed" ] || embed=$work/pc-demo/examples/jig-embed
both_boards demo "$demo"

{
  echo '| model, board | code + constants | weights + vocabulary | RAM in all | arena | keys and values | tokenizer |' \
    'stack (used) | instructions per prompt token | per generated token |'
  echo '| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |'
  cat "$figures"
} >"$work/table.md"
say ''
cat "$work/table.md"
if [ $record = yes ] && [ $status = 0 ]; then
  awk -v table="$work/table.md" '
    /^<!-- figures/ { print; while ((getline line <table) > 0) print line; skip = 1 }
    /^<!-- end -->/ { skip = 0 }
    !skip' docs/firmware.md >"$work/page.md" && cp "$work/page.md" docs/firmware.md
  say 'docs/firmware.md has these figures now'
fi
[ $status = 0 ] && say "firmware: ids as on the PC (and the golden ones); limits kept; no heap, no exceptions"
exit $status
