# setup.sh: sourced by demo and test. Finds out which of the needed tools are missing and installs those with apt-get.
# Sets root (the folder of the project) and jobs.
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)
missing=

say() { echo "== $*"; }

# need_command NAME PACKAGE, need_library PKG-CONFIG-NAME PACKAGE, need_header FILE PACKAGE, need_file PATH PACKAGE
need_command() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need_library() { pkg-config --exists "$1" 2>/dev/null || missing="$missing $2"; }
need_file() { [ -f "$1" ] || missing="$missing $2"; }
need_header() { [ -f "/usr/include/$1" ] || [ -f "/usr/local/include/$1" ] || missing="$missing $2"; }

# Sanitizers and libFuzzer come apart from clang.
need_clang_runtime() {
    runtime=$(clang -print-runtime-dir 2>/dev/null || true)
    [ -d "$runtime" ] && ls "$runtime" 2>/dev/null | grep -q fuzzer || missing="$missing libclang-rt-dev"
}

need_build_tools() {
    need_command gcc gcc
    need_header stdlib.h libc6-dev
    need_command make make
    need_command cmake cmake
    need_command flex flex
    need_command bison bison
    need_command pkg-config pkg-config
    need_library yajl libyajl-dev
    need_library libarchive libarchive-dev
    need_header dlpack/dlpack.h libdlpack-dev
}

install_missing() {
    [ -n "$missing" ] || return 0
    missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Missing, and there is no apt-get to install it: $missing" >&2
        exit 1
    fi
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    say "installing with apt-get: $missing"
    $as_root apt-get update -qq || exit 1
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing || exit 1
}

# build PRESET TARGET... with the -D settings in $settings
build() {
    preset=$1
    shift
    say "building $preset in build/$preset"
    (cd "$root" && cmake --preset "$preset" $settings >"$root/build/$preset.log" 2>&1 && cmake --build --preset "$preset" -j "$jobs" --target "$@" >>"$root/build/$preset.log" 2>&1) || {
        tail -n 60 "$root/build/$preset.log"
        say "building $preset failed; the whole log is build/$preset.log"
        exit 1
    }
}
mkdir -p "$root/build"
