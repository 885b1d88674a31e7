#!/bin/sh
# docs.sh TIRC: the man page names every option that --help lists, and the pages refer to files that exist.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
for option in $("$1" --help | sed -n 's/^  \(-[a-z-]*\).*/\1/p; s/^ *also \(-[a-z-]*\)$/\1/p'); do
    escaped=$(printf '%s' "$option" | sed 's/-/\\\\-/g')
    grep -q -e "$escaped\\b" "$root/docs/tirc.1" || { echo "FAILED docs/tirc.1 does not name $option"; failed=1; }
done
cd "$root" || exit 1
scripts/operators "$1" | diff docs/operators.md - >/dev/null || { echo "FAILED docs/operators.md is old: scripts/operators > docs/operators.md"; failed=1; }
for page in README.md docs/*.md examples/*/README.md; do
    for link in $(grep -o '](\([^)#]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^http'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "FAILED $page refers to $link"; failed=1; }
    done
done
[ $failed -eq 0 ] && echo "docs: every option named, every link leads somewhere"
exit $failed
