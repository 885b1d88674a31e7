#!/bin/sh
# example.sh BUILD NAME: runs the one command of an example and holds what it prints against its README: every line that stands
# there as a quotation (four blanks), and every number of "N of M (P %)". Exit status 77: a tool that the example needs is missing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
name=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
readme=$root/examples/$name/README.md
TIRGEN_BUILD=$build "$root/examples/$name/run.sh" "$build/bin/tirc" >"$tmp/out"
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || { cat "$tmp/out"; echo "FAILED run.sh"; exit 1; }
cat "$tmp/out"
failed=0
sed -n '/^prints/,$s/^    //p' "$readme" >"$tmp/lines"
while IFS= read -r line; do
    grep -qxF -- "$line" "$tmp/out" || { echo "FAILED README says it prints: $line"; failed=1; }
done <"$tmp/lines"
accuracy=$(sed -n 's/^Accuracy over the test split: \([0-9]*\) of \([0-9]*\) (\([0-9.]*\) %).*/over \2 digits never seen in training: \1 right, \3 %/p' "$readme")
if [ -n "$accuracy" ]; then
    grep -qF -- "$accuracy" "$tmp/out" || { echo "FAILED README says: $accuracy"; failed=1; }
elif [ ! -s "$tmp/lines" ]; then
    echo "FAILED $readme says nothing that can be checked"
    failed=1
fi
exit $failed
