#!/bin/sh
# parallel_launch.sh TIRC: parallel loops in threads, under ThreadSanitizer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=$here/../../runtime
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$1" "$here/kernels/parallel.py" -parallel -prefix tvmgen_k -o "$tmp"
gcc -std=c99 -O1 -g -fsanitize=thread -Wall -Wextra -I"$tmp" -I"$runtime/include" "$here/parallel_launch.c" "$tmp/tvmgen_k.c" "$runtime"/*.c -pthread -lm -o "$tmp/program"
"$tmp/program"
