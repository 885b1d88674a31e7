#!/bin/sh
# The whole way in one command: run.sh [TIRC [ARGUMENTS OF THE PROGRAM]]. What is made goes to a temporary folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tirc=${1:-$root/build/release/bin/tirc}
[ $# -eq 0 ] || shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$tirc" "$here/digits.relay" -params "$here/digits.params" -target c -prefix tvmgen_digits -o "$out" -v
${CC:-cc} -std=c99 -O2 -Wall -Wextra -I"$out" -I"$root/runtime/include" "$here/main.c" "$out"/*.c -lm -o "$out/digits"
"$out/digits" "$here/test_split.txt" "$@"
