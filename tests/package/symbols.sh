#!/bin/sh
# symbols.sh BUILD: what the binaries of a build folder promise and hold.
#   * libtirgen.so exports tirgen_* and nothing else
#   * every symbol of libtirgen.a is named tirgen_* or tg_*, so that it meets nobody else's
#   * neither the library nor the runtime holds writable data
set -u
build=$1
failed=0
fail() { echo "FAILED $1"; sed 's/^/    /' | head -n 20; failed=1; }

exported=$(nm -D --defined-only "$build/lib/libtirgen.so" | awk '{ print $NF }' | sed 's/@.*//')
other=$(echo "$exported" | grep -v '^tirgen_')
[ -z "$other" ] || echo "$other" | fail "libtirgen.so exports names of its own"
count=$(echo "$exported" | grep -c '^tirgen_')
[ "$count" -gt 5 ] || echo "$exported" | fail "libtirgen.so exports next to nothing"

other=$(nm -g --defined-only "$build/lib/libtirgen.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -v -e '^tirgen_' -e '^tg_' | sort -u)
[ -z "$other" ] || echo "$other" | fail "libtirgen.a has global names that are not tg_* or tirgen_*"

# Objects in .data or .bss; .data.rel.ro is constant once loaded.
for lib in libtirgen.a libtirgen_rt.a; do
    [ -f "$build/lib/$lib" ] || continue
    writable=$(objdump -t "$build/lib/$lib" | awk '$3 ~ /^\.(data|bss)$/ && $NF !~ /^\./ || $4 ~ /^\.(data|bss)$/ && $NF !~ /^\./ || $2 == "O" && $3 == "*COM*"')
    [ -z "$writable" ] || echo "$writable" | fail "$lib holds writable data"
done
[ $failed -eq 0 ] && echo "symbols: $count exported, no writable data"
exit $failed
