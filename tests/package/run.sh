#!/bin/sh
# run.sh BUILD: installs the build into a temporary folder and uses it from there: a C program through CMake's package and
# through pkg-config, with the shared and the static library, and the installed tirc with the installed runtime.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/install.log"
echo "--- CMake package"
cmake -S "$here" -B "$tmp/consumer" -DCMAKE_PREFIX_PATH="$tmp/prefix" -DCMAKE_BUILD_TYPE=Release >"$tmp/cmake.log" || {
    cat "$tmp/cmake.log"
    exit 1
}
cmake --build "$tmp/consumer" >"$tmp/build.log" 2>&1 || {
    cat "$tmp/build.log"
    exit 1
}
"$tmp/consumer/consumer_shared"
"$tmp/consumer/consumer_static"
echo "--- pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$tmp/prefix" -name tirgen.pc)")
export PKG_CONFIG_PATH
version=$(sed -n 's/.*TIRGEN_VERSION "\(.*\)"/\1/p' "$tmp/prefix/include/tirgen/version.h")
[ "$(pkg-config --modversion tirgen)" = "$version" ]
libdir=$(pkg-config --variable=libdir tirgen)
case $libdir in "$tmp"/*) ;; *)
    # The file was written for the configured prefix; take it where it stands now.
    libdir=$(dirname "$PKG_CONFIG_PATH")
    ;;
esac
${CC:-cc} $(pkg-config --define-variable=prefix="$tmp/prefix" --cflags tirgen) "$here/consumer.c" \
    $(pkg-config --define-variable=prefix="$tmp/prefix" --libs tirgen) -o "$tmp/consumer_pc"
LD_LIBRARY_PATH=$libdir "$tmp/consumer_pc"
echo "--- public headers, each alone"
for header in "$tmp"/prefix/include/tirgen/*.h "$tmp"/prefix/include/tirgen_rt/*.h; do
    [ -f "$header" ] || continue
    name=${header#"$tmp/prefix/include/"}
    printf '#include <%s>\ntypedef int not_empty;\n' "$name" >"$tmp/alone.c"
    for compiler in "cc -std=c99" "c++ -std=c++17 -x c++"; do
        $compiler -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$tmp/prefix/include" -fsyntax-only "$tmp/alone.c"
    done
done
echo "--- the installed tirc"
printf 'def @main(%%x: Tensor[(4), float32]) -> Tensor[(4), float32] {\n  nn.relu(%%x)\n}\n' >"$tmp/relu.relay"
cd "$tmp"
prefix/bin/tirc relu.relay -prefix=tvmgen_relu
[ -f tvmgen_relu/tvmgen_relu.h ]
prefix/bin/tirc verify relu.relay
[ -f prefix/share/man/man1/tirc.1 ]
echo "package: installed, used in three ways"
