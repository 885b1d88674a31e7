#!/bin/sh
# packed_kernel.sh TIRC: kernels with open shapes behind the packed entry, called rightly and wrongly; also without checks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=$here/../../runtime
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$1" "$here/packed_kernel.py" -prefix tvmgen_k -o "$tmp"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
for cc in "gcc -std=c99 -O2" "clang -std=c99 -O1" "gcc -std=c99 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"; do
    (cd "$tmp" && $cc $warnings -I. -I"$runtime/include" -c tvmgen_k.c && $cc $warnings -DTIRGEN_NO_CHECKS -I. -I"$runtime/include" -c tvmgen_k.c -o unchecked.o)
    $cc -Wall -Wextra -I"$tmp" -I"$runtime/include" "$here/packed_kernel.c" "$tmp/tvmgen_k.o" "$runtime"/*.c -lm -o "$tmp/program"
    "$tmp/program"
done
