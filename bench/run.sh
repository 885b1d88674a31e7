#!/bin/sh
# run.sh MODELS [TIRC]: times the models in the folders MODELS/NAME (model.relay, model.params, input_0.npy, output_0.npy): tirgen's C
# for this machine and for any, and onnxruntime where its package for node is found (NODE_PATH) and bench/relay_to_onnx.py can say the
# model as ONNX (Debian: python3-onnx, python3-numpy). One thread; medians, in microseconds; a table in Markdown.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
models=$1
tirc=${2:-$here/../build/release/bin/tirc}
cc=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# ours FOLDER TARGET FLAGS...
ours() {
    folder=$1 target=$2
    shift 2
    rm -rf "$tmp/c"
    if [ -f "$folder/model.params" ]; then params="-params=$folder/model.params"; else params=; fi
    # shellcheck disable=SC2086
    "$tirc" "$folder/model.relay" $params -target="$target" -prefix=tvmgen_net -o "$tmp/c" >/dev/null 2>&1 &&
        $cc -O3 "$@" -DHEADER='"tvmgen_net.h"' -DPREFIX=tvmgen_net -I"$tmp/c" "$here/time_model.c" "$tmp"/c/*.c -lm -o "$tmp/program" &&
        "$tmp/program" "$folder/input_0.npy" 4194304 || echo "-"
}

onnx() {
    params=-
    [ ! -f "$1/model.params" ] || params=$1/model.params
    /usr/bin/python3 "$here/relay_to_onnx.py" "$1/model.relay" "$params" "$tmp/model.onnx" >/dev/null 2>&1 &&
        /usr/bin/python3 -c 'import sys, numpy; x = numpy.load(sys.argv[1]); x.tofile(sys.argv[2]); print(*x.shape)' "$1/input_0.npy" "$tmp/x" >"$tmp/dims" 2>/dev/null &&
        node "$here/onnxruntime_time.js" "$tmp/model.onnx" "$tmp/x" $(cat "$tmp/dims") 2>/dev/null | awk '{ print $1; exit }' || echo "-"
}

echo "| model | this machine | any machine | onnxruntime |"
echo "|---|---:|---:|---:|"
for folder in "$models"/*/; do
    folder=${folder%/}
    [ -f "$folder/input_0.npy" ] && [ ! -f "$folder/input_1.npy" ] || continue
    echo "| $(basename "$folder") | $(ours "$folder" "c -mcpu=native" -march=native) | $(ours "$folder" c) | $(onnx "$folder") |"
done
