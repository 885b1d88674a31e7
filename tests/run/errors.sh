#!/bin/sh
# Wrong input and wrong command lines: tirc answers with a message that names the place and the reason and with exit status 1
# or 2, and the files of an earlier run stay as they were.   errors.sh TIRC [CHECKER]   where CHECKER is put before tirc,
# for example "valgrind -q --error-exitcode=99".
set -u
here=$(cd "$(dirname "$0")" && pwd)
tirc=$1
checker=${2:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR
passed=0
failed=0

cp "$here/models/residual_nhwc/model.relay" meta.relay
cp "$here/models/depthwise_nchw/model.relay" deep.relay
cp "$here/models/depthwise_nchw/model.params" deep.params
cp "$here/models/residual_nhwc/input_0.npy" x.npy
refill() {
    rm -rf out
    mkdir out
    for name in tvmgen_t.c tvmgen_t.h tvmgen_t_workspace.c; do echo "earlier" >out/$name; done
}
refill

# bad STATUS PATTERN ARGUMENTS...: tirc must exit with STATUS and say a line that PATTERN (extended) matches.
bad() {
    status=$1
    pattern=$2
    shift 2
    $checker "$tirc" "$@" -prefix=tvmgen_t -o out >stdout 2>stderr </dev/null
    verdict "$status" "$pattern" "$?" "$*"
}

# plain STATUS PATTERN ARGUMENTS...: the same without the arguments that bad adds.
plain() {
    status=$1
    pattern=$2
    shift 2
    $checker "$tirc" "$@" >stdout 2>stderr </dev/null
    verdict "$status" "$pattern" "$?" "$*"
}

# change SED FROM TO: TO is FROM after the sed command, which must have found something.
change() {
    sed "$1" "$2" >"$3"
    ! cmp -s "$2" "$3" || { echo "FAILED sed $1 changes nothing in $2"; failed=$((failed + 1)); }
}

verdict() {
    why=
    [ "$3" -eq "$1" ] || why="exit status $3, expected $1"
    grep -qE -- "$2" stderr || why="$why; no line matches $2"
    for name in tvmgen_t.c tvmgen_t.h tvmgen_t_workspace.c; do
        [ "$(cat out/$name)" = earlier ] || why="$why; out/$name changed"
    done
    [ "$(ls -A out | wc -l)" -eq 3 ] || why="$why; out holds other files: $(ls -A out | tr '\n' ' ')"
    [ ! -s stdout ] || why="$why; something on standard output"
    ! grep -q -e Sanitizer -e 'runtime error' -e '^==' stderr || why="$why; a checker complains"
    if [ -z "$why" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED tirc $4: $why"
        sed 's/^/    /' stderr | head -n 30
        refill
    fi
}

# A text cut at any place: in a type, a name, a call, before the closing brace, in the metadata. Few cuts with a slow checker.
size=$(wc -c <deep.relay)
steps=24
[ -z "$checker" ] || steps=4
i=1
while [ $i -lt $steps ]; do
    head -c $((size * i / steps)) deep.relay >cut.relay
    bad 1 '^cut\.relay:[0-9]+:[0-9]+: error: ' cut.relay
    i=$((i + 1))
done
start=$(grep -b -m 1 '^#\[metadata\]' meta.relay | cut -d: -f1)
size=$(wc -c <meta.relay)
i=1
while [ $i -lt $steps ]; do
    head -c $((start + (size - start) * i / steps)) meta.relay >cut.relay
    bad 1 '^cut\.relay:[0-9]+:[0-9]+: error: ' cut.relay
    i=$((i + 1))
done
: >empty.relay
bad 1 '^empty.relay:1:1: error: the text is empty' empty.relay

# Metadata that lies.
change 's/P6G0lvBAXt0A/P6G0lvBAXt1A/' meta.relay magic.relay
bad 1 '^magic\.relay:[0-9]+:[0-9]+: error: ' magic.relay
change 's/P6G0lvBAXt0A/P6G0lv@AXt0A/' meta.relay base64.relay
bad 1 '^base64\.relay:[0-9]+:[0-9]+: error: ' base64.relay
change 's/\(P6G0lvBAXt0A*\)EA/\1IA/' meta.relay device.relay
bad 1 '^device\.relay:[0-9]+:[0-9]+: error: ' device.relay
change 's/\(P6G0lvBAXt0[A-Za-z0-9+\/]*\)[A-Za-z0-9+\/]\{8\}"/\1"/' meta.relay short.relay
bad 1 '^short\.relay:[0-9]+:[0-9]+: error: ' short.relay
change 's/"root": 1/"root": 1000/' meta.relay root.relay
bad 1 '^root\.relay:[0-9]+:[0-9]+: error: ' root.relay
change 's/relay.Constant\]\[4\]/relay.Constant][99]/' meta.relay index.relay
bad 1 '^index\.relay:[0-9]+:[0-9]+: error: ' index.relay

# Operators, attributes, types.
change 's/nn\.avg_pool2d/nn.avg_pool2/' meta.relay operator.relay
bad 1 '^operator\.relay:[0-9]+:[0-9]+: error: .*nn\.avg_pool2' operator.relay
change 's/groups=6, //' deep.relay groups.relay
bad 1 '^groups\.relay:[0-9]+:[0-9]+: error: nn\.conv2d: ' groups.relay -params=deep.params
change 's/groups=6/grops=6/' deep.relay attribute.relay
bad 1 '^attribute\.relay:[0-9]+:[0-9]+: (error|warning): .*grops' attribute.relay -params=deep.params
change 's/units=7/units=8/; s/(1, 7)/(1, 8)/' meta.relay units.relay
bad 1 '^units\.relay:[0-9]+:[0-9]+: error: nn\.dense: ' units.relay
change 's/float32\] {/float23] {/' meta.relay dtype.relay
bad 1 '^dtype\.relay:[0-9]+:[0-9]+: error: ' dtype.relay
change 's/bias_add(%0/bias_add(%77/' meta.relay unbound.relay
bad 1 '^unbound\.relay:[0-9]+:[0-9]+: error: .*%77' unbound.relay
printf 'def @main(%%x: Tensor[(99999999, 99999999, 99999999), float32]) { nn.relu(%%x) }\n' >huge.relay
bad 1 '^huge\.relay:[0-9]+:[0-9]+: error: ' huge.relay
awk 'BEGIN { printf "def @main(%%x: Tensor[(2), float32]) { "; for (i = 0; i < 60000; ++i) printf "nn.relu("; printf "%%x" }' >nested.relay
bad 1 '^nested\.relay:[0-9]+:[0-9]+: error: ' nested.relay
head -c 4096 /dev/urandom >noise.relay
bad 1 'noise\.relay.*error: ' noise.relay

# Parameter files: missing tensors, wrong shapes, cut, not one at all, not there.
change 's/%bn\.beta/%bn.beto/g' deep.relay missing.relay
bad 1 'missing\.relay:[0-9]+:[0-9]+: error: .*bn\.beto' missing.relay -params=deep.params
change 's/%bn\.gamma: Tensor\[(10)/%bn.gamma: Tensor[(11)/' deep.relay shape.relay
bad 1 '^shape\.relay:[0-9]+:[0-9]+: error: .*bn\.gamma' shape.relay -params=deep.params
size=$(wc -c <deep.params)
i=0
while [ $i -lt 6 ]; do
    head -c $((size * i / 6)) deep.params >cut.params
    bad 1 'cut\.params.*error: ' deep.relay -params=cut.params
    i=$((i + 1))
done
bad 1 'meta\.relay.*error: ' deep.relay -params=meta.relay
bad 1 'absent\.params' deep.relay -params=absent.params
bad 1 'absent\.relay' absent.relay
bad 1 '[Ff]older|directory' out
bad 1 'nothing' meta.relay -entry=nothing

# Command lines. The message names the option.
prefix() { plain 2 "prefix.*$2" meta.relay -o out -prefix="$1"; }
prefix _x ''
prefix 1x ''
prefix a__b ''
prefix int ''
prefix 'a-b' ''
prefix 'é' ''
bad 2 "'-prefx=a'.*-prefix" meta.relay -prefx=a
bad 2 '-emit.*relai' meta.relay -emit=relai
bad 2 'target.*llvm' meta.relay -target=llvm
bad 2 '-interface-api' meta.relay -interface-api=rust
bad 2 '-unpacked-api|unpacked' meta.relay -interface-api=c -unpacked-api=0
bad 2 'workspace-byte-alignment' meta.relay -workspace-byte-alignment=3
bad 2 'constant-byte-alignment' meta.relay -constant-byte-alignment=many
bad 2 'stop-after.*simplify-grph.*simplify-graph' meta.relay -stop-after=simplify-grph
bad 2 'print-after' meta.relay -print-after=simplify-grph
bad 2 '-expect' meta.relay -expect=a.npy
bad 2 '-executor' meta.relay --executor=graph
bad 2 '-module-name.*-prefix' meta.relay -module-name=net
plain 2 'no model' -prefix=tvmgen_t -o out
plain 2 "'-params'.*value" meta.relay -params
plain 2 '-output' run meta.relay -input x.npy -o out/tvmgen_t.c -o out/tvmgen_t.h
plain 2 '-evaluator.*-cc|-cc.*-evaluator' run meta.relay -input x.npy -o y.npy -evaluator -cc gcc

# run and verify.
plain 1 'absent\.npy' run meta.relay -input absent.npy -output y.npy
head -c 100 x.npy >cut.npy
plain 1 'cut\.npy' run meta.relay -input cut.npy -output y.npy
cp "$here/models/depthwise_nchw/input_0.npy" other.npy
plain 1 'other\.npy.*\(1, 6, 9, 7\)' run meta.relay -input other.npy -output y.npy
plain 2 "'-input'.*1 input" run meta.relay -output y.npy
plain 1 'no-such-compiler' run meta.relay -input x.npy -output y.npy -cc no-such-compiler
[ ! -e y.npy ] || { echo "FAILED y.npy was written"; failed=$((failed + 1)); }
[ -z "$(ls -A tmp)" ] || { echo "FAILED temporary folders are left: $(ls tmp)"; failed=$((failed + 1)); }

# A folder that cannot be written, a file in the place of a folder.
plain 1 'meta\.relay: a file' meta.relay -prefix=tvmgen_t -o meta.relay/sub
echo "errors: $passed passed, $failed failed"
[ $failed -eq 0 ]
