#!/bin/sh
# driver.sh TIRC: what the command promises on good input: where files go, what is printed where, run and verify, spellings.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tirc=$1
models=$here/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR
failed=0
passed=0

# is SENTENCE COMMAND...: the command succeeds.
is() {
    sentence=$1
    shift
    if "$@" >log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $sentence"
        sed 's/^/    /' log | head -n 20
    fi
}
quiet() { "$tirc" "$@" >stdout 2>stderr </dev/null && [ ! -s stderr ]; }
small=$models/several_outputs
residual=$models/residual_nhwc/model.relay

files_land_in_a_folder_named_like_the_prefix() {
    quiet "$residual" -prefix=tvmgen_a && [ ! -s stdout ] && [ -f tvmgen_a/tvmgen_a.c ] && [ -f tvmgen_a/tvmgen_a.h ] &&
        [ "$(ls -A tvmgen_a | grep -c '^\.')" -eq 0 ]
}
is "files land in a folder named like the prefix, and nothing is said" files_land_in_a_folder_named_like_the_prefix

folders_are_made_with_parents() { quiet "$residual" -prefix tvmgen_a -o deep/er/out && [ -f deep/er/out/tvmgen_a.c ]; }
is "an output folder is made with its parents" folders_are_made_with_parents

second_run_replaces() {
    cp -r tvmgen_a before && quiet "$residual" -prefix=tvmgen_a && diff -r before tvmgen_a
}
is "a second run puts the same files in place of the first's" second_run_replaces

two_dashes() {
    quiet --target=c --prefix=tvmgen_a --output two "$residual" && diff -r before two &&
        quiet "$residual" --target="c" --module-name=a --executor=aot --runtime=crt --executor-aot-interface-api=c \
            --executor-aot-unpacked-api=1 --executor-aot-workspace-byte-alignment=16 --executor-aot-link-params=1 \
            --target-c-constants-byte-alignment=16 -o tvm && diff -r before tvm
}
is "one dash or two, and TVM's spellings, say the same" two_dashes

text_goes_to_stdout() {
    quiet "$residual" -emit=relay && head -n 1 stdout | grep -q '^#\[version = "0.0.5"\]' && cp stdout relay.txt &&
        quiet "$residual" -emit=relay -o text/relay.txt && [ ! -s stdout ] && cmp relay.txt text/relay.txt
}
is "text goes to standard output or to the file of -o" text_goes_to_stdout

stop_after() {
    quiet "$residual" -stop-after=lower-ops && grep -q 'T\.block' stdout && cp stdout stopped.py &&
        quiet "$residual" -emit=tensorir -o emitted.py && cmp stopped.py emitted.py
}
is "-stop-after prints the module as it is after that pass" stop_after

wrong_level() { "$tirc" "$residual" -emit=relay -stop-after=lower-ops 2>log2; [ $? -eq 2 ] && grep -q 'TensorIR' log2; }
is "-emit of another level than the module's is refused" wrong_level

dumps() {
    "$tirc" "$residual" -prefix=tvmgen_a -print-after=all >stdout 2>dump && [ ! -s stdout ] &&
        for pass in $("$tirc" --list-passes | awk '{ print $1 }'); do
            grep -qxE "(//|#) after $pass" dump || { echo "no dump after $pass"; return 1; }
        done
}
is "-print-after=all dumps every pass on standard error" dumps

one_dump() {
    "$tirc" "$residual" -emit=relay -print-after=infer-types >plain.relay 2>dump.relay && [ "$(sed -n 1p dump.relay)" = "// after infer-types" ] &&
        sed 1d dump.relay | cmp - plain.relay && quiet dump.relay -emit=relay && cmp stdout plain.relay &&
        "$tirc" "$residual" -print-after=lower-ops -prefix=tvmgen_a 2>dump.py && [ "$(sed -n 1p dump.py)" = "# after lower-ops" ] &&
        quiet dump.py -emit=tensorir
}
is "a dump begins with a comment and can be read back" one_dump

pass_times() { "$tirc" "$residual" -prefix=tvmgen_a -time-passes 2>spent && grep -q 'ms.*%.*fuse-ops' spent && grep -q 'all passes' spent; }
is "-time-passes tells the time of each pass" pass_times

helps() {
    quiet --help && grep -q -e '-workspace-byte-alignment' stdout && quiet --version && grep -qx 'tirc [0-9.]*' stdout &&
        quiet -list-passes && grep -q '^infer-types ' stdout
}
is "--help, --version and --list-passes answer on standard output" helps

verbose() { "$tirc" "$residual" -prefix=tvmgen_a -v 2>said && grep -q 'wrote tvmgen_a/tvmgen_a.h' said && grep -q 'bytes of workspace' said; }
is "-v names files and sizes" verbose

runs() {
    quiet run "$small/model.relay" -params="$small/model.params" -input "$small/input_0.npy" -input "$small/input_1.npy" \
        -output o0.npy -output o1.npy -output o2.npy && [ ! -s stdout ] &&
        quiet run "$small/model.relay" -params="$small/model.params" -input "$small/input_0.npy" -input "$small/input_1.npy" \
            -output e0.npy -output e1.npy -output e2.npy -evaluator && cmp o2.npy "$small/input_0.npy" && cmp e2.npy o2.npy &&
        cmp o0.npy "$small/output_0.npy" && cmp e0.npy o0.npy
}
is "run writes each output as .npy, with the C compiler and with the evaluator" runs

compilers() {
    for cc in gcc 'clang -O3' "gcc '-DA=\"b c\"' -g"; do
        "$tirc" verify "$small/model.relay" -params="$small/model.params" -cc "$cc" || return 1
    done
    CC='gcc -O1' "$tirc" verify "$small/model.relay" -params="$small/model.params" -seed 7
}
is "verify takes the compiler from -cc and from CC" compilers

expects() {
    "$tirc" verify "$small/model.relay" -params="$small/model.params" -input "$small/input_0.npy" -input "$small/input_1.npy" \
        -expect "$small/output_0.npy" -expect "$small/output_1.npy" -expect "$small/output_2.npy" >report && [ "$(grep -c '^pass' report)" -eq 6 ]
}
is "verify compares with the evaluator and with files" expects

notices() {
    "$tirc" verify "$small/model.relay" -params="$small/model.params" -input "$small/input_1.npy" -input "$small/input_1.npy" \
        -expect "$small/output_0.npy" -expect "$small/output_1.npy" -expect "$small/output_2.npy" >report
    [ $? -eq 1 ] && grep -q '^FAIL.*elements are off' report
}
is "verify notices wrong numbers: exit status 1" notices

packed() { "$tirc" verify "$small/model.relay" -params="$small/model.params" -interface-api=packed; }
is "verify calls a model with the packed interface too" packed
packed_unpacked() { "$tirc" verify "$small/model.relay" -params="$small/model.params" -interface-api=packed -unpacked-api=0; }
is "and with packed operators" packed_unpacked

merges() {
    cat >one.relay <<'TEXT'
def @twice(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] { add(%x, %x) }
TEXT
    cat >two.relay <<'TEXT'
def @main(%a: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] { @twice(%a) }
TEXT
    "$tirc" one.relay two.relay -emit=relay
}
is "several files merge into one module" merges

kernels() {
    cat >kernels.py <<'TEXT'
# from tvm.script import tir as T
@T.prim_func
def scaled(A: T.Buffer((5, 3), "int32"), B: T.Buffer((5, 3), "int32"), s: T.Buffer((3,), "int32"), n: T.int32):
    T.func_attr({"global_symbol": "scaled"})
    for i, j in T.grid(5, 3):
        B[i, j] = T.q_multiply_shift_per_axis(A[i, j], 1518500250, s[j], s[2 - j], 31, T.bool(True), T.bool(True)) // n

@T.prim_func
def matmul(A: T.Buffer((9, 7), "float32"), B: T.Buffer((7, 11), "float32"), C: T.Buffer((9, 11), "float32")):
    T.func_attr({"global_symbol": "matmul"})
    for i, j, k in T.grid(9, 11, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
TEXT
    "$tirc" verify kernels.py -seed 3 -cc "gcc -fsanitize=address,undefined -fno-sanitize-recover=all" >report && cat report &&
        [ "$(grep -c '^pass' report)" -eq 2 ] && "$tirc" verify kernels.py -input x.npy 2>said
    [ $? -eq 2 ] && grep -q 'are for models' said
}
is "verify runs every public kernel against the evaluator" kernels

lowered() {
    cat >lowered.py <<'TEXT'
# from tvm.script import ir as I
# from tvm.script import tir as T
@I.ir_module
class Module:
    @T.prim_func
    def __tvm_main__(x: T.Buffer((4,), "float32"), Identity: T.Buffer((4,), "float32")) -> T.int32:
        T.func_attr({"global_symbol": "tvmgen_default___tvm_main__", "runner_function": T.bool(True)})
        T.tvm_check_return(0, -1, T.call_extern("int32", "twice", x.data, Identity.data))
        return 0
    @T.prim_func
    def twice(p0: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")) -> T.int32:
        T.func_attr({"global_symbol": "twice", "tir.noalias": T.bool(True)})
        for i in range(4):
            y[i] = p0[i] * T.float32(2)
        return 0
TEXT
    "$tirc" verify lowered.py >report && grep -q '^pass  Identity' report
}
is "a lowered module runs as a model whatever its output is called" lowered

kernels_in_models() {
    cat >net.relay <<'TEXT'
#[version = "0.0.5"]
def @triple(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] { add(%x, 100f) }
def @main(%x: Tensor[(4, 8), float32]) {
  %0 = nn.relu(%x);
  %1 = @triple(%0);
  %2 = (%1,);
  %3 = call_lowered(@triple, %2);
  add(%3, 1f)
}
TEXT
    cat >triple.py <<'TEXT'
# from tvm.script import tir as T
@T.prim_func
def triple(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        B[i, j] = A[i, j] * T.float32(3)
TEXT
    cat >fused.py <<'TEXT'
# from tvm.script import tir as T
@T.prim_func
def fused_nn_relu(data: T.Buffer((4, 8), "float32"), relu: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        relu[i, j] = T.max(data[i, j], T.float32(0)) + T.float32(7)
TEXT
    "$tirc" net.relay triple.py fused.py -emit=tensorir >all.py && ! grep -q '100' all.py && grep -q 'A\[.*\] \* T.float32(3)' all.py &&
        grep -q 'T.float32(0)) + T.float32(7)' all.py || return 1
    "$tirc" verify net.relay triple.py fused.py && "$tirc" verify triple.py net.relay || return 1
    sed 's/(4, 8)/(8, 4)/g' fused.py >other.py
    ! "$tirc" net.relay triple.py other.py -o wrong 2>said && grep -q 'error: fused_nn_relu stands in for the fused function' said &&
        grep -q 'note: it is fn (Tensor\[(8, 4), float32\])' said && grep -q 'note: the fused function is fn (Tensor\[(4, 8), float32\])' said
}
is "a kernel stands in for a function or a fused operator of the model" kernels_in_models

# Numbers that differ from step to step make kernels that differ, which is what costs.
long_chain() {
    awk 'BEGIN { print "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32]) {\n  %0 = exp(%x);"
                 for (i = 1; i < 20000; ++i) printf "  %%%d = add(%%%d, %d.5f);\n", i, i - 1, i % 1000
                 print "  %19999\n}" }' >chain.relay
    limit=1000000           # KB; a sanitizer asks for more from the start
    (ulimit -v $limit && "$tirc" -version) >log 2>&1 || limit=unlimited
    (ulimit -v $limit && "$tirc" chain.relay -o chain)
}
is "a chain of 20,000 operators with numbers of their own stays within a gigabyte" long_chain

[ -z "$(ls -A tmp)" ] || { echo "FAILED temporary folders are left: $(ls tmp)"; failed=$((failed + 1)); }
echo "driver: $passed passed, $failed failed"
[ $failed -eq 0 ]
