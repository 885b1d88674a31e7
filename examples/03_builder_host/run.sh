#!/bin/sh
# run.sh: builds build_model against libtirgen, lets it write C, compiles and runs that. TIRGEN_BUILD names the build folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${TIRGEN_BUILD:-$root/build/release}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sanitize=$(sed -n 's/^TIRGEN_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
${CC:-cc} -std=c11 -Wall -Wextra $sanitize -I"$root/include" "$here/build_model.c" -L"$build/lib" -ltirgen -Wl,-rpath,"$build/lib" \
    -o "$out/build_model"
"$out/build_model" "$out"
rm "$out/build_model"
${CC:-cc} -std=c99 -O2 -Wall -Wextra -I"$out" -I"$root/runtime/include" "$here/main.c" "$out"/*.c -lm -o "$out/layer"
"$out/layer"
