#!/bin/sh
# readme.sh TIRC: what README.md shows is what happens: its net.relay compiles, the C that it quotes stands in the file that it
# names, and the files that it lists are those that are written.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# quotation N: the Nth indented block of the section "What it does".
quotation() {
    sed -n '/^## What it does/,/^## Using it/p' "$root/README.md" |
        awk -v want="$1" '/^    / { if (!inside) { ++block; inside = 1 } } !/^    / && !/^$/ { inside = 0 }
                          inside && block == want { held = held (started++ ? "\n" : "") substr($0, 5) } END { print held }' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}
quotation 1 > net.relay
quotation 2 > expected.c
failed=0
"$1" net.relay -target c -prefix tvmgen_net || exit 1
[ -s expected.c ] || { echo "FAILED README.md quotes no C"; failed=1; }
awk 'NR == FNR { want[++n] = $0; next } { line[++m] = $0 }
     END { for (i = 1; i + n - 1 <= m; ++i) { for (k = 1; k <= n && line[i + k - 1] == want[k]; ++k) { } if (k > n) exit 0 } exit 1 }' \
    expected.c tvmgen_net/tvmgen_net.c || { echo "FAILED the C in README.md is not what comes out:"; cat tvmgen_net/tvmgen_net.c; failed=1; }
for file in $(sed -n '/^## Using it/,/^## /s/^| `\(tvmgen_net[^`]*\)` |.*/\1/p' "$root/README.md"); do
    [ -f "tvmgen_net/$file" ] || { echo "FAILED README.md lists $file"; failed=1; }
done
for file in tvmgen_net/*; do
    grep -q "$(basename "$file")" "$root/README.md" || { echo "FAILED README.md does not list $file"; failed=1; }
done
[ $failed -eq 0 ] && echo "README.md shows what happens"
exit $failed
