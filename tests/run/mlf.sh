#!/bin/sh
# mlf.sh TIRC: model libraries: what is in one, the same bytes again, back through our own reader, TVM's older versions, and
# archives that are damaged or lie.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tirc=$1
models=$here/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset SOURCE_DATE_EPOCH
failed=0
passed=0

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
has() { grep -q -e "$1" "$2" || { echo "no \"$1\" in $2:"; cat "$2"; return 1; }; }
# refused PATTERN FILE...: exit status 1 and a message, and no crash.
refused() {
    pattern=$1
    shift
    "$tirc" "$@" -o refused.out 2>err </dev/null
    status=$?
    [ $status -eq 1 ] && has "$pattern" err && [ ! -e refused.out ]
}
python() { python3 - "$@"; }

# Weights that do not fit the alphabetical order of names, beside two inputs in an order that is not theirs.
cat >net.relay <<'R'
#[version = "0.0.5"]
def @main(%zebra: Tensor[(2, 3), float32], %ant: Tensor[(2, 4), float32], %w: Tensor[(4, 3), float32]) {
  %0 = nn.dense(%zebra, %w, units=4);
  %1 = add(%0, %ant);
  (%1, nn.relu(%1))
}
R
python <<'P'
import struct
def text(s): return struct.pack("<Q", len(s)) + s.encode()
data = struct.pack("<12f", *[k * 0.25 - 1 for k in range(12)])
array = struct.pack("<QQIIiBBHqqq", 0xDD5E40F096B4A13F, 0, 1, 0, 2, 2, 32, 1, 4, 3, len(data)) + data
open("net.params", "wb").write(struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, 1) + text("w") + struct.pack("<Q", 1) + array)
P
"$tirc" net.relay -params net.params -prefix tvmgen_net -o net.tar || exit 1
mkdir model && tar xf net.tar -C model || exit 1

the_layout() {
    tar tf net.tar >list && cat >expected <<'L'
./
./codegen/
./codegen/host/
./codegen/host/include/
./codegen/host/include/tvmgen_net.h
./codegen/host/src/
./codegen/host/src/net_lib0.c
./codegen/host/src/net_lib1.c
./metadata.json
./parameters/
./parameters/net.params
./src/
./src/net.relay
./tirc.json
L
    diff expected list && [ "$(head -c 262 net.tar | tail -c 5)" = ustar ] && [ "$(tar tvf net.tar | grep -c ' root/root .* 1970-01-01 ')" -eq 14 ]
}
is "the members are those of version 7, in order, of nobody and no time" the_layout

the_metadata() {
    python <<'P'
import json, re
meta = json.load(open("model/metadata.json"))
net = meta["modules"]["net"]
main = net["memory"]["functions"]["main"][0]
assert meta["version"] == 7 and list(meta["modules"]) == ["net"]
assert net["model_name"] == "net" and net["style"] == "full-model" and net["executors"] == ["aot"]
assert net["target"] == ["c"] and net["export_datetime"] == "1970-01-01 00:00:00Z" and net["external_dependencies"] == []
assert main["device"] == 1 and main["io_size_bytes"] == 24 + 32 + 32 + 32
assert main["inputs"] == {"ant": {"dtype": "float32", "size": 32}, "zebra": {"dtype": "float32", "size": 24}}
assert main["input_order"] == ["zebra", "ant"] and len(main["output_order"]) == len(main["outputs"]) == 2
assert main["constants_size_bytes"] >= 48
header = open("model/codegen/host/include/tvmgen_net.h").read()
assert main["workspace_size_bytes"] == int(re.search(r"WORKSPACE_SIZE\s+\(?(\d+)", header).group(1))
assert all(f["workspace"][0]["workspace_size_bytes"] <= main["workspace_size_bytes"] for f in net["memory"]["functions"]["operator_functions"])
def keys_sorted(v):
    if isinstance(v, dict):
        assert list(v) == sorted(v), list(v)
        v = list(v.values())
    for x in v if isinstance(v, list) else []:
        keys_sorted(x)
keys_sorted(meta)
more = json.load(open("model/tirc.json"))
assert [(t["name"], t["shape"]) for t in more["inputs"]] == [("zebra", [2, 3]), ("ant", [2, 4])]
assert more["sources"] == ["./codegen/host/src/net_lib0.c", "./codegen/host/src/net_lib1.c"]
P
}
is "metadata.json has the figures of the header, sorted keys, and the order of inputs" the_metadata

the_c_builds() {
    for file in model/codegen/host/src/*.c; do
        ${CC:-cc} -std=c99 -Wall -Wextra -Werror -Imodel/codegen/host/include -c "$file" -o unit.o || return 1
    done
}
is "the C builds from the archive alone" the_c_builds

text_and_weights_come_back() { cmp model/src/net.relay net.relay && cmp model/parameters/net.params net.params; }
is "text and weights are in it as they were read" text_and_weights_come_back

same_again() {
    mkdir -p elsewhere && cp net.relay net.params elsewhere && (cd elsewhere && TZ=Asia/Tokyo LC_ALL=C "$tirc" net.relay -params net.params -prefix tvmgen_net -o net.tar) &&
        cmp net.tar elsewhere/net.tar && "$tirc" net.tar -o round.tar && cmp net.tar round.tar
}
is "the same bytes in another place, and after a round trip through our reader" same_again

same_c() {
    "$tirc" net.relay -params net.params -prefix tvmgen_net -o direct && "$tirc" net.tar -o back && diff -r direct back &&
        "$tirc" net.tar -prefix tvmgen_other -o other && [ -f other/tvmgen_other.h ]
}
is "an archive compiles to the C of its text; its prefix is a default" same_c
is "an archive is verified like a text" "$tirc" verify net.tar

options_come_back() {
    sed 's/(2, 3)/(?, 3)/; s/(2, 4)/(?, 4)/' net.relay >open.relay &&
        "$tirc" open.relay -params net.params -shape zebra=5,3 -shape ant=5,4 -prefix acme_net -o open.tar && "$tirc" open.tar -o open &&
        has 'zebra.*5' open/acme_net.h
}
is "shapes given on the command line are kept, and so is a prefix that is not tvmgen" options_come_back

epoch() {
    SOURCE_DATE_EPOCH=86400 "$tirc" net.tar -o epoch.tar && tar xOf epoch.tar ./metadata.json | grep -q '"1970-01-02 00:00:00Z"' &&
        [ "$(tar tvf epoch.tar --utc | grep -c '1970-01-02')" -eq 14 ] || return 1
    SOURCE_DATE_EPOCH=tomorrow "$tirc" net.tar -o bad.tar 2>err
    [ $? -eq 2 ] && has SOURCE_DATE_EPOCH err && [ ! -e bad.tar ]
}
is "the time is SOURCE_DATE_EPOCH" epoch

every_model() {
    for folder in "$models"/*/; do
        [ -f "$folder/model.relay" ] || continue
        set -- "$folder/model.relay"
        [ ! -f "$folder/model.params" ] || set -- "$@" -params "$folder/model.params"
        [ ! -f "$folder/shape" ] || continue
        "$tirc" "$@" -o a.tar 2>err || continue     # models that need options of their own
        "$tirc" a.tar -o b.tar && "$tirc" b.tar -o c.tar && cmp b.tar c.tar || { echo "$folder"; return 1; }
        count=$((${count:-0} + 1))
    done
    [ "${count:-0}" -gt 10 ]
}
is "every model comes back" every_model

# Archives of other writers; the first line of a header names the archive.
old_versions() {
    python <<'P'
import io, json, tarfile
relay, params = open("net.relay", "rb").read(), open("net.params", "rb").read()
def write(name, meta, members, dot="./"):
    with tarfile.open(name, "w") as tar:
        for path, data in [("metadata.json", meta if isinstance(meta, bytes) else json.dumps(meta).encode())] + members:
            info = tarfile.TarInfo(dot + path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
p = ("parameters/old.params", params)
for v in 1, 3: write(f"v{v}.tar", {"version": v, "model_name": "old"}, [("relay.txt", relay), p])
for v in 4, 5, 6: write(f"v{v}.tar", {"version": v, "model_name": "old", "style": "full-model"}, [("src/relay.txt", relay), p])
one = {"model_name": "old", "style": "full-model", "unknown": [1, {}]}
write("v7.tar", {"version": 7, "modules": {"old": one}}, [("src/old.relay", relay), p])
write("plain.tar", {"version": 7, "modules": {"old": one}}, [("src/old.relay", relay), p], dot="")
two = {"old": one, "new": dict(one, model_name="new")}
write("two.tar", {"version": 7, "modules": two}, [("src/old.relay", relay), p])
write("v8.tar", {"version": 8, "modules": {"old": one}}, [])
write("operator.tar", {"version": 6, "model_name": "old", "style": "operator"}, [])
write("empty.tar", {"version": 7, "modules": {}}, [])
write("list.tar", [], [])
write("kinds.tar", {"version": "7", "modules": 3}, [])
write("noname.tar", {"version": 7, "modules": {"old": {"style": "full-model"}}}, [])
write("notext.tar", {"version": 7, "modules": {"old": one}}, [p])
write("weights.tar", {"version": 7, "modules": {"old": one}}, [("src/old.relay", relay), ("parameters/old.params", params[:-9])])
write("syntax.tar", {"version": 7, "modules": {"old": one}}, [("src/old.relay", relay.replace(b"add(", b"add((")), p])
write("json.tar", b'{"version": 7, "modules": {', [])
write("deep.tar", b'{"version":' + b"[" * 1000000, [])
write("nul.tar", b'{"version": 7}\0', [])
write("twice.tar", {"version": 7, "modules": {"old": one}}, [("src/old.relay", relay), ("src/old.relay", relay)])
listed = lambda d: [("src/old.relay", relay), ("tirc.json", json.dumps(d).encode())]
write("missing.tar", {"version": 7, "modules": {"old": one}}, listed({"sources": ["./codegen/host/src/x.c"]}))
write("listkind.tar", {"version": 7, "modules": {"old": one}}, listed({"sources": [], "headers": [7]}))
write("prefix.tar", {"version": 7, "modules": {"old": one}}, listed({"sources": [], "headers": [], "texts": ["./src/old.relay"], "parameters": [], "shapes": [], "prefix": "_x"}))
with tarfile.open("link.tar", "w") as tar:
    info = tarfile.TarInfo("./metadata.json")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    tar.addfile(info)
whole = open("net.tar", "rb").read()
open("cut.tar", "wb").write(whole[:len(whole) // 2])
open("sum.tar", "wb").write(whole[:1000] + bytes(64) + whole[1064:])
P
    for v in v1 v3 v4 v5 v6 v7 plain; do
        "$tirc" $v.tar -o $v.out && [ -f $v.out/tvmgen_old.c ] && tail -n +2 $v.out/tvmgen_old.h >$v.h && cmp $v.h v1.h || { echo $v; return 1; }
    done
    "$tirc" two.tar -module-name old -o two.out && [ -f two.out/tvmgen_old.c ]
}
is "versions 1 to 7 as TVM writes them are read" old_versions

hostile() {
    refused "2 models" two.tar && refused "1 to 7" v8.tar && refused "style" operator.tar && refused "modules" empty.tar &&
        refused "object" list.tar && refused "1 to 7" kinds.tar && refused "model_name" noname.tar && refused "no ./src/old.relay" notext.tar &&
        refused "weights.tar:parameters/old.params" weights.tar && refused "syntax.tar:src/old.relay:[0-9]*:[0-9]*: error" syntax.tar &&
        refused "metadata.json: " json.tar && refused "nests deeper" deep.tar && refused "NUL" nul.tar && refused "same name" twice.tar &&
        refused "no ./codegen/host/src/x.c" missing.tar && refused "list of texts" listkind.tar && refused "prefix" prefix.tar &&
        refused "no ./metadata.json" link.tar && refused "cut.tar" cut.tar && refused "sum.tar" sum.tar
}
is "archives that are damaged or lie are refused with a reason" hostile

every_cut() {
    size=$(wc -c <v7.tar)
    at=512
    while [ $at -lt "$size" ]; do
        head -c $at v7.tar >part.tar
        "$tirc" part.tar -o part.out >/dev/null 2>err
        status=$?
        [ $status -le 1 ] && { [ $status -eq 0 ] || [ -s err ]; } || { echo "cut at $at: status $status"; return 1; }
        at=$((at + 347))
    done
}
is "an archive cut anywhere ends in a message" every_cut

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
