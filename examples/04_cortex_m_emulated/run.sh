#!/bin/sh
# From Relay text to a microcontroller in one command: run.sh [TIRC]. The board is emulated.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tirc=${1:-$root/build/release/bin/tirc}
for tool in arm-none-eabi-gcc qemu-system-arm; do
    command -v "$tool" >/dev/null || { echo "this needs $tool (Debian: gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm)" >&2; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
digits=$root/examples/02_digits
"$tirc" "$digits/digits.relay" -params "$digits/digits.params" -target "c -mcpu=cortex-m4" -prefix tvmgen_digits -o "$out"
machine="-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
arm-none-eabi-gcc $machine -std=c99 -O2 -Wall -Wextra -ffunction-sections -I"$out" "$here/main.c" "$here/start.c" "$out"/*.c \
    -specs=rdimon.specs -T "$here/board.ld" -Wl,--gc-sections -lm -o "$out/firmware.elf"
qemu-system-arm -M mps2-an386 -display none -serial null -monitor none -icount shift=0 \
    -semihosting-config enable=on,target=native,arg=firmware,arg="$digits/test_split.txt" -kernel "$out/firmware.elf"
