#!/bin/sh
# Golden tests: text in, text out. For an input FOLDER/NAME.relay, .tir or .py the suffix of the expected file says what is
# compared:
#   NAME.ir           standard output of tirc (a module printed by -emit, -stop-after or -passes)
#   NAME.c, NAME.h    the emitted PREFIX.c and PREFIX.h, which are also compiled in every dialect; NAME_workspace.c likewise
#   NAME.err          standard error of tirc, whose exit status must not be 0
# The first line of the input may hold more arguments: "// tirc: -prefix=t" in Relay text, "# tirc: ..." in TVMScript.
#
#   run.sh [--tirc PATH] [FOLDER/NAME]...            compare; a difference is shown and left as NAME.SUFFIX.new
#   run.sh [--tirc PATH] --accept FOLDER/NAME...     make what comes out now the expected text
# With CI set in the environment nothing is written.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tirc=${TIRC:-$root/build/release/bin/tirc}
accept=no
while [ $# -gt 0 ]; do
    case $1 in
    --tirc) tirc=$2; shift 2 ;;
    --accept) accept=yes; shift ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 0 ;;
    -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
if [ ! -x "$tirc" ]; then
    echo "run.sh: no program $tirc; build first or say --tirc PATH" >&2
    exit 2
fi
case $tirc in /*) ;; *) tirc=$(pwd)/$tirc ;; esac
if [ $accept = yes ] && [ $# -eq 0 ]; then
    echo "run.sh: --accept needs the names of tests: look at each change" >&2
    exit 2
fi
if [ $# -eq 0 ]; then
    set -- $(cd "$here" && find . -name '*.relay' -o -name '*.tir' -o -name '*.py' | sed 's|^\./||; s|\.[a-z]*$||' | LC_ALL=C sort)
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
warnings="-O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
failed=0
passed=0

# differs EXPECTED ACTUAL: shows and keeps a difference.
differs() {
    if [ $accept = yes ]; then
        cmp -s "$1" "$2" || { cp "$2" "$1"; echo "accepted $1"; }
        rm -f "$1.new"
        return 1
    fi
    if [ -f "$1" ] && cmp -s "$1" "$2"; then
        rm -f "$1.new" 2>/dev/null
        return 1
    fi
    if [ -f "$1" ]; then diff -u "$1" "$2"; else echo "no expected file $1; tirc gives:"; cat "$2"; fi
    [ -n "${CI:-}" ] || cp "$2" "$1.new"
    return 0
}

# compiles FOLDER: every emitted file in every dialect at hand.
compiles() {
    for file in "$1"/*.c; do
        for cc in gcc clang; do
            command -v $cc >/dev/null || continue
            $cc -std=c99 $warnings -I"$1" -I"$root/runtime/include" -c "$file" -o "$tmp/object.o" || return 1
        done
        g++ -std=c++17 -x c++ $warnings -I"$1" -I"$root/runtime/include" -c "$file" -o "$tmp/object.o" || return 1
    done
}

# one NAME: 0 when everything agrees.
one() {
    input=
    for suffix in relay tir py; do
        if [ -f "$here/$1.$suffix" ]; then input=$here/$1.$suffix; fi
    done
    if [ -z "$input" ]; then
        echo "no input $here/$1.relay, .tir or .py"
        return 1
    fi
    base=${input%.*}
    arguments=$(sed -n '1s/^\(\/\/\|#\) *tirc: *//p' "$input")
    rm -rf "$tmp/out"
    (cd "$(dirname "$input")" && "$tirc" "$(basename "$input")" $arguments -output="$tmp/out") >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    status=$?
    bad=0
    if [ -f "$base.err" ] || { [ $status -ne 0 ] && [ ! -f "$base.ir" ] && [ ! -f "$base.c" ]; }; then
        [ $status -eq 1 ] || [ $status -eq 2 ] || { echo "exit status $status, expected 1 or 2"; cat "$tmp/stderr"; bad=1; }
        [ ! -e "$tmp/out" ] || { echo "an output was left although tirc failed"; bad=1; }
        differs "$base.err" "$tmp/stderr" && bad=1
        return $bad
    fi
    if [ $status -ne 0 ]; then
        echo "tirc $(basename "$input") $arguments: exit status $status"
        cat "$tmp/stderr"
        return 1
    fi
    if [ -d "$tmp/out" ]; then
        prefix=$(cd "$tmp/out" && ls *.h | head -n 1)
        prefix=${prefix%.h}
        for kind in .c .h _workspace.c; do
            [ -f "$base$kind" ] || { [ $kind = .c ] && [ ! -f "$base.h" ]; } || continue
            differs "$base$kind" "$tmp/out/$prefix$kind" && bad=1
        done
        compiles "$tmp/out" || bad=1
    else
        differs "$base.ir" "$tmp/out" && bad=1
    fi
    return $bad
}

for name in "$@"; do
    if one "$name" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
        cat "$tmp/log"
    else
        failed=$((failed + 1))
        echo "FAILED golden/$name"
        cat "$tmp/log"
    fi
done
echo "golden: $passed passed, $failed failed"
[ $failed -eq 0 ]
