#!/bin/sh
# int8.sh TIRC FOLDER...: what must hold for models of bytes beside the right numbers: FOLDER/model.relay and its input_0.npy.
#   constants   no larger than the weights of 8 bits, 4 bytes for each number a channel has (bias, scale), and a twentieth
#   workspace   small
#   between operators  tensors of 8 bits only
#   any input   all lowest, all highest and random codes give what the evaluator gives; the sanitizers have nothing to say
set -u
tirc=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
failed=0
fail() { echo "FAILED $name: $*"; failed=1; }

# Bytes of the constants that the text names: "limit" counts what 4 bytes a channel may take beside the weights.
limit_of() {
    grep -oE 'meta\[relay\.Constant\]\[[0-9]+\] /\* ty=Tensor\[\([0-9, ]+\), (int8|uint8|int32|float32)\]' "$1" | sort -u |
        sed 's/.*Tensor\[(//; s/[],)]/ /g' |
        awk '{ n = 1; for (i = 1; i < NF; ++i) n *= $i; total += $NF ~ /int8/ ? n : 4 * n } END { printf "%d\n", total * 1.05 }'
}

# filled FROM BYTE TO: a file of the same header, every element BYTE (octal)
filled() {
    size=$(wc -c <"$1")
    { head -c 128 "$1"; head -c $((size - 128)) /dev/zero | tr '\0' "\\$2"; } >"$3"
}

for folder; do
    name=$(basename "$folder")
    "$tirc" "$folder/model.relay" -prefix=tvmgen_net -o "$tmp/c" || { fail "tirc"; continue; }
    gcc -std=c99 -O2 -c "$tmp/c/tvmgen_net.c" -o "$tmp/net.o" || { fail "gcc"; continue; }
    have=$(size -A "$tmp/net.o" | awk '$1 == ".rodata" { print $2 }')
    limit=$(limit_of "$folder/model.relay")
    echo "$name: $have bytes of constants, at most $limit"
    [ "$have" -le "$limit" ] || fail "the constants take $have bytes, more than $limit"
    # Two thirds of what TVM 0.16 plans.
    case $name in
    mlperf_tiny_kws_int8) most=37461 ;;
    mlperf_tiny_ic_int8) most=68352 ;;
    mlperf_tiny_vww_int8) most=100373 ;;
    mlperf_tiny_ad_int8) most=1045 ;;
    *) most=1000000 ;;
    esac
    workspace=$(sed -n 's/^#define TVMGEN_NET_WORKSPACE_SIZE //p' "$tmp/c/tvmgen_net.h")
    [ "$workspace" -le "$most" ] || fail "a workspace of $workspace bytes, more than $most"
    "$tirc" "$folder/model.relay" -target="c -mcpu=x86-64-v4" -prefix=tvmgen_net -o "$tmp/vectors" || fail "tirc for vectors"
    for c in "$tmp/c/tvmgen_net.c" "$tmp/vectors/tvmgen_net.c"; do
        wide=$(sed -n '/^static int32_t tvm_main(/,/^}/p' "$c" | grep -E '\*sid_' | grep -vE 'u?int8_t \*sid_')
        [ -z "$wide" ] || fail "wide tensors between operators: $wide"
    done
    filled "$folder/input_0.npy" 200 "$tmp/lowest.npy"
    filled "$folder/input_0.npy" 177 "$tmp/highest.npy"
    filled "$folder/input_0.npy" 0 "$tmp/zero.npy"
    for input in "-input=$tmp/lowest.npy" "-input=$tmp/highest.npy" "-input=$tmp/zero.npy" -seed=7 -seed=8; do
        "$tirc" verify "$folder/model.relay" "$input" -cc="gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover=all" >"$tmp/log" 2>&1 ||
            { fail "$input"; tail -n 5 "$tmp/log"; }
    done
    "$tirc" verify "$folder/model.relay" -seed=9 -target="c -mcpu=native" \
        -cc="clang -O1 -march=native -fsanitize=undefined,implicit-signed-integer-truncation -fno-sanitize-recover=all" >"$tmp/log" 2>&1 ||
        { fail "for this machine"; tail -n 5 "$tmp/log"; }
    rm -rf "$tmp/c" "$tmp/vectors"
done
exit $failed
