#!/bin/sh
# kernels.sh TIRC FILE: the public kernels of a TVMScript file agree with the evaluator under both compilers, at both ends of
# optimisation, and with sanitizers; the C compiles without a warning, also as C++.
set -u
failed=0
for cc in "gcc -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror" "gcc -O3" "clang -O2 -Werror" \
    "gcc -O1 -DTIRGEN_NO_VECTORS -fsanitize=address,undefined -fno-sanitize-recover=all"; do
    "$1" verify "$2" -seed 5 -cc "$cc" || { echo "FAILED $2 with $cc"; failed=1; }
done
"$1" verify "$2" -seed 6 -parallel -cc "gcc -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror -fsanitize=address,undefined" ||
    { echo "FAILED $2 with -parallel"; failed=1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
runtime=$(cd "$(dirname "$0")/../../runtime/include" && pwd)
"$1" "$2" -prefix tvmgen_k -o "$tmp" &&
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror -I"$runtime" -x c++ -c "$tmp/tvmgen_k.c" -o "$tmp/k.o" ||
    { echo "FAILED $2 as C++"; failed=1; }
exit $failed
