#!/bin/sh
# check_model.sh TIRC FOLDER [TEXT [RTOL ATOL]]: everything that must hold for a model: FOLDER/TEXT (model.relay) with
# FOLDER/model.params if it is there and TEXT is model.relay, input_N.npy and output_N.npy. docs/testing.md says what is checked.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tirc=$1
source=$2
text=${3:-model.relay}
rtol=${4:-1e-3}
atol=${5:-1e-5}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
prefix=tvmgen_net
folder=$tmp/model
mkdir "$folder"
cp "$source/$text" "$source"/*.npy "$folder" || exit 1
params=
if [ "$text" = model.relay ] && [ -f "$source/model.params" ]; then
    cp "$source/model.params" "$folder"
    params="-params=$folder/model.params"
fi
nin=$(ls "$folder" | grep -c '^input_[0-9]*\.npy$')
nout=$(ls "$folder" | grep -c '^output_[0-9]*\.npy$')

die() { echo "FAILED $*"; exit 1; }

# emit DIR MODEL ARGUMENTS...
emit() {
    dir=$1
    shift
    "$tirc" "$@" -target=c -prefix=$prefix -o "$dir" || die "tirc $* (exit status $?)"
}

# run NAME DIR COMPILER FLAGS...: compiles the C in DIR with the harness and runs it.
run() {
    name=$1
    dir=$2
    shift 2
    define="-DPREFIX=$prefix -DMACRO=TVMGEN_NET -DNIN=$nin -DNOUT=$nout"
    objects=
    for file in "$dir"/*.c "$here/harness.c"; do
        object=$tmp/$(basename "$file").o
        strict=$warnings
        [ "$file" = "$here/harness.c" ] && strict="-Wall"
        "$@" $strict $define "-DHEADER=\"$prefix.h\"" -I"$dir" -I"$here" -I"$root/runtime/include" -c "$file" -o "$object" || die "$name: $* $file"
        objects="$objects $object"
    done
    case $1 in g++) set -- g++ ;; *) set -- "$1" ;; esac
    sanitize=
    case $name in *sanitizer*) sanitize="-fsanitize=address,undefined" ;; esac
    "$@" $sanitize $objects -lm -o "$tmp/program" || die "$name: linking"
    "$tmp/program" "$folder" "$rtol" "$atol" || die "$name: running"
    echo "ok $name"
}

# Two emissions, from two working folders into two folders, are the same bytes.
cd "$tmp" || exit 1
emit "$tmp/c" "$folder/$text" $params
cd / || exit 1
emit "$tmp/again" "$folder/$text" $params
diff -r "$tmp/c" "$tmp/again" >"$tmp/diff" || die "two emissions differ: $(head -n 5 "$tmp/diff")"
rm -r "$tmp/again"
echo "ok the same bytes twice"
cd "$tmp" || exit 1

run "gcc" "$tmp/c" gcc -std=c99 -O2
run "clang" "$tmp/c" clang -std=c99 -O2
run "g++" "$tmp/c" g++ -std=c++17 -O2 -x c++
run "gcc with sanitizers" "$tmp/c" gcc -std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all

# Kernels with variants for vectors: those that this machine can run, and what is emitted for such machines.
if grep -q immintrin.h "$tmp"/c/*.c; then
    has=$(gcc -march=native -dM -E -x c /dev/null 2>/dev/null)
    case $has in *__AVX2__*) run "gcc for AVX2" "$tmp/c" gcc -std=c99 -O3 -mavx2 ;; esac
    case $has in
    *__AVX512VNNI__*)
        "$tirc" "$folder/$text" $params -target="c -mcpu=x86-64-v4" -prefix=$prefix -o "$tmp/vectors" || die "tirc for AVX-512"
        run "gcc for this machine" "$tmp/c" gcc -std=c99 -O3 -march=native
        run "clang for this machine" "$tmp/vectors" clang -std=c99 -O3 -march=native
        run "g++ for this machine with sanitizers" "$tmp/vectors" g++ -std=c++17 -O1 -march=native -fsanitize=address,undefined -fno-sanitize-recover=all -x c++
        ;;
    esac
fi

# Each level prints, reads back, and prints the same; and C made from the printed text computes the same.
for level in relay tensorir tir; do
    case $level in relay) suffix=relay ;; *) suffix=py ;; esac
    "$tirc" "$folder/$text" $params -emit=$level -o "$tmp/first.$suffix" || die "-emit=$level"
    "$tirc" "$tmp/first.$suffix" -emit=$level -o "$tmp/second.$suffix" || die "reading the $level text back"
    cmp "$tmp/first.$suffix" "$tmp/second.$suffix" || {
        diff "$tmp/first.$suffix" "$tmp/second.$suffix" | cut -c 1-200 | head -n 20
        die "the $level text changes when it is read back and printed"
    }
    emit "$tmp/$level" "$tmp/first.$suffix"
    run "gcc from $level text" "$tmp/$level" gcc -std=c99 -O1
    rm -r "$tmp/$level"
done

# The evaluator and the C agree, on the folder's inputs and its outputs.
arguments=
i=0
while [ $i -lt "$nin" ]; do arguments="$arguments -input=$folder/input_$i.npy"; i=$((i + 1)); done
i=0
while [ $i -lt "$nout" ]; do arguments="$arguments -expect=$folder/output_$i.npy"; i=$((i + 1)); done
"$tirc" verify "$folder/$text" $params $arguments -rtol="$rtol" -atol="$atol" || die "tirc verify"
