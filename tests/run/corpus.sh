#!/bin/sh
# corpus.sh TIRC SHARED model NAME TEXT | cases K N | tir NAME | limits | int8: tests over the reference models in SHARED/models and the single
# operators in SHARED/cases and SHARED/lang. Without that folder there is nothing to do, which is said and passes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tirc=$1
shared=$2
if [ ! -d "$shared/models" ]; then
    echo "no reference models in $shared: nothing to do"
    exit 0
fi

warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"

# build_and_run FOLDER NAME COMPILER FLAGS...: the C in $tmp/c, strictly, with the harness; what fails is shown.
build_and_run() {
    folder=$1
    name=$2
    shift 2
    nin=$(ls "$folder" | grep -c '^input_[0-9]*\.npy$')
    nout=$(ls "$folder" | grep -c '^output_[0-9]*\.npy$')
    if (cd "$tmp" && "$@" -std=c99 $warnings -I"$tmp/c" -I"$here/../../runtime/include" -c "$tmp"/c/*.c) >"$tmp/log" 2>&1 &&
        "$@" -std=c99 -w -DPREFIX=tvmgen_net -DMACRO=TVMGEN_NET '-DHEADER="tvmgen_net.h"' -DNIN="$nin" -DNOUT="$nout" \
            -I"$tmp/c" -I"$here" -I"$here/../../runtime/include" "$here/harness.c" "$tmp"/*.o -lm -o "$tmp/program" >"$tmp/log" 2>&1 &&
        "$tmp/program" "$folder" >"$tmp/log" 2>&1; then
        rm -f "$tmp"/*.o
        return 0
    fi
    rm -f "$tmp"/*.o
    echo "FAILED $name with $*"
    head -n 5 "$tmp/log"
    return 1
}

# Every single-operator module compiles, with both compilers and without a warning, and computes what it should, also under the
# sanitizers. Of the modules, those whose number has the remainder $1 by $2.
cases() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    right=0 failed=0 number=0
    for folder in "$shared"/cases/*/ "$shared"/lang/*/; do
        number=$((number + 1))
        [ $((number % $2)) -eq "$1" ] || continue
        name=$(basename "$folder")
        rm -rf "$tmp/c"
        if ! "$tirc" "$folder/model.relay" -target=c -prefix=tvmgen_net -o "$tmp/c" >"$tmp/log" 2>&1 </dev/null; then
            echo "FAILED $name: tirc"
            head -n 5 "$tmp/log"
            failed=$((failed + 1))
        elif build_and_run "$folder" "$name" gcc -O2 && build_and_run "$folder" "$name" clang -O1 -fsanitize=address,undefined; then
            right=$((right + 1))
        else
            failed=$((failed + 1))
        fi
    done
    echo "cases: $right right, $failed failed"
    [ $failed -eq 0 ] && [ $right -gt 0 ]
}

# timed LIMIT-MS LIMIT-KB ARGUMENTS...: the best of five runs.
timed() {
    ms=$1 kb=$2
    shift 2
    best=999999
    for again in 1 2 3 4 5; do
        rm -rf "$tmp/c"
        /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@"' bash "$tirc" "$@" -target=c -prefix=tvmgen_net -o "$tmp/c" 2>"$tmp/time" || {
            cat "$tmp/time"
            return 1
        }
        took=$(awk 'END { printf "%d", $1 * 1000 }' "$tmp/time")
        [ "$took" -ge "$best" ] || best=$took
    done
    echo "$*: $best ms, limit $ms"
    [ "$best" -le "$ms" ] || { echo "FAILED too slow"; return 1; }
    # Memory by the limit itself: data and mappings together.
    (ulimit -v $((kb + 65536)) && "$tirc" "$@" -target=c -prefix=tvmgen_net -o "$tmp/c") || { echo "FAILED needs more than $kb KB"; return 1; }
}

# What the emission of a model may take in the release build.
limits() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    failed=0
    timed 1000 204800 "$shared/models/mobilenet_v2/model.relay" -params="$shared/models/mobilenet_v2/model.params" || failed=1
    timed 50 204800 "$shared/models/lenet/model.relay" -params="$shared/models/lenet/model.params" || failed=1
    return $failed
}

# Every lowered module of a model gives the model's output, and every task agrees with the evaluator on random inputs; modules whose
# constants the printer cut are refused.
tir() {
    folder=$shared/models/$1
    failed=0
    for text in "$folder"/tir/aot_*.py; do
        if "$tirc" verify "$text" -input "$folder/input_0.npy" -expect "$folder/output_0.npy" 2>"$text_log"; then
            continue
        fi
        grep -q 'constant .*: the text has lost [0-9]* of its [0-9]* values' "$text_log" && [ "$(basename "$text")" = aot_cpp.py ] || {
            cat "$text_log"
            echo "FAILED $text"
            failed=1
        }
    done
    for seed in 1 2 3; do
        "$tirc" verify "$folder/tir/tensorir.py" -seed $seed -cc "gcc -O2 -fsanitize=address,undefined -fno-sanitize-recover=all" || failed=1
    done
    return $failed
}

case $3 in
tir)
    text_log=$(mktemp)
    trap 'rm -f "$text_log"' EXIT
    tir "$4" ;;
model) exec "$here/check_model.sh" "$tirc" "$shared/models/$4" "$5" ;;
cases) cases "$4" "$5" ;;
limits) limits ;;
int8) exec "$here/int8.sh" "$tirc" "$shared"/models/*_int8 ;;
*) echo "corpus.sh: unknown $3" >&2; exit 2 ;;
esac
