#!/bin/sh
# Builds jig-cli and lets it tell a story with the bundled demo model. On Debian 12 as root it installs what is missing;
# elsewhere it says what to install.
#   sh cmake/quickstart.sh
set -eu
cd "$(dirname "$0")/.."
. cmake/lib.sh

need_build_tools
need_host_libraries
install_missing 'building jig-cli'

folder=$build_root/release
say "Building jig-cli in $folder (a few minutes on a small machine)"
configure "$folder" -DCMAKE_BUILD_TYPE=Release -DJIG_BUILD_TESTS=OFF
build "$folder" jig-cli

prompt='Once upon a time, there was a little robot'
say "Running: $folder/examples/jig-cli -no-cnv -n 250 -p '$prompt'"
say ''
"$folder/examples/jig-cli" -no-cnv -n 250 --temp 0.7 -s 1 -p "$prompt"
say ''
say "That was the demo model of examples/models/demo. Your own: $folder/examples/jig-cli -m FILE.gguf -p PROMPT"
