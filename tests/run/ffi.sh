#!/bin/sh
# ffi.sh TIRC: a model as a shared object for tvm-ffi, opened by an emulated loader; every warning is an error, and the loader
# is also run with sanitizers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=$here/../../runtime
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$1" "$here/ffi.relay" -abi=tvm-ffi -prefix tvmgen_net -o "$tmp"
if "$1" "$here/ffi.relay" -abi=tvm-ffi -interface-api=c -o "$tmp/none" 2>"$tmp/err"; then
    echo "the C interface beside tvm-ffi was not refused" && exit 1
fi
grep -q 'interface-api=c and -abi=tvm-ffi exclude each other' "$tmp/err"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
cd "$tmp"
for cc in "gcc -std=c99 -O2 -fvisibility=hidden" "clang -std=c99 -O1" "gcc -std=c99 -O1 $sanitizers"; do
    for file in tvmgen_net.c tvmgen_net_workspace.c tvmgen_net_ffi.c "$runtime"/ffi.c; do
        $cc $warnings -fPIC -I. -I"$runtime/include" -c "$file" -o "$(basename "$file" .c).o"
    done
    $cc -fPIC -I"$runtime/include" -fvisibility=default -shared tvmgen_net.o tvmgen_net_ffi.o ffi.o -x c tvmgen_net_workspace.c \
        "$runtime"/packed.c "$runtime"/status.c -I. -o net.so -lm
    $cc -Wall -Wextra -fvisibility=default -I"$runtime/include" -rdynamic "$here/ffi.c" -o loader -ldl
    ./loader ./net.so
done
# Without tvm-ffi in the process the object still opens: an undefined weak name is no name that is missed.
nm -D --undefined-only net.so | grep -q ' w TVMFFIErrorSetRaisedFromCStr'
for file in tvmgen_net.c tvmgen_net_workspace.c tvmgen_net_ffi.c "$runtime"/ffi.c; do
    g++ -std=c++17 $warnings -I. -I"$runtime/include" -x c++ -c "$file" -o cxx.o
done
