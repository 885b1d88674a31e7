#!/bin/sh
# run.sh [TIRC]: emits, compiles, runs. What is made goes to a temporary folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tirc=${1:-$root/build/release/bin/tirc}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$tirc" "$here/bias_add.relay" -target c -prefix tvmgen_bias_add -o "$out"
${CC:-cc} -std=c99 -O2 -Wall -Wextra -I"$out" -I"$root/runtime/include" "$here/main.c" "$out"/*.c -lm -o "$out/bias_add"
"$out/bias_add"
