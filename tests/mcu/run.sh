#!/bin/sh
# run.sh MACHINE TIRC FOLDER...: emulated machines. The model of each folder (model.relay, model.params, input_N.npy, output_N.npy) is
# emitted for MACHINE, compiled with the machine's compiler under the strict warnings, and run there by tests/run/harness.c.
#   cortex-m4    32 bits, bare metal with the DSP and single precision instructions: the MPS2 board in qemu-system-arm
#   cortex-m3    the same without either
#   mips         32 bits, big-endian: user mode
#   aarch64      64 bits with NEON and its byte dot products: user mode
# Without the machine's compiler or emulator there is nothing to do, which is said and passes; scripts/test installs both.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
machine=$1
tirc=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
example=$root/examples/04_cortex_m_emulated
board="$example/start.c -specs=rdimon.specs -T $example/board.ld -Wl,--gc-sections"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
case $machine in
cortex-m4)
    cc="arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections"
    target="c -mcpu=cortex-m4" emulator=qemu-system-arm qemu_machine=mps2-an386 ;;
cortex-m3)
    cc="arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -mfloat-abi=soft -ffunction-sections"
    target="c -mcpu=cortex-m3" emulator=qemu-system-arm qemu_machine=mps2-an385 ;;
mips)
    cc="mips-linux-gnu-gcc" board=-static target=c emulator=qemu-mips ;;
aarch64)
    cc="aarch64-linux-gnu-gcc -march=armv8.2-a+dotprod" board=-static target="c -mcpu=cortex-a76" emulator=qemu-aarch64 ;;
*)
    echo "run.sh: no machine $machine" >&2
    exit 2 ;;
esac
for tool in "${cc%% *}" "$emulator"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "no $tool: nothing to do"; exit 0; }
done

# emulate PROGRAM ARGUMENTS...
emulate() {
    program=$1
    shift
    if [ "$board" = -static ]; then
        timeout 120 "$emulator" "$program" "$@"
    else
        arguments=enable=on,target=native,arg=program
        for argument; do arguments=$arguments,arg=$argument; done
        timeout 120 qemu-system-arm -M "$qemu_machine" -display none -serial null -monitor none \
            -semihosting-config "$arguments" -kernel "$program"
    fi
}

failed=0
for folder; do
    name=$(basename "$folder")
    nin=$(ls "$folder" | grep -c '^input_[0-9]*\.npy$')
    nout=$(ls "$folder" | grep -c '^output_[0-9]*\.npy$')
    set -- "$folder/model.relay"
    [ ! -f "$folder/model.params" ] || set -- "$@" "-params=$folder/model.params"
    define="-DPREFIX=tvmgen_net -DMACRO=TVMGEN_NET -DHEADER=\"tvmgen_net.h\" -DNIN=$nin -DNOUT=$nout"
    rm -rf "$tmp/c"
    # shellcheck disable=SC2086
    if "$tirc" "$@" -target="$target" -prefix=tvmgen_net -o "$tmp/c" &&
        (cd "$tmp" && $cc -std=c99 -O2 $warnings -I"$tmp/c" -I"$root/runtime/include" -c "$tmp"/c/*.c) &&
        $cc -std=c99 -O2 $define -I"$tmp/c" -I"$root/tests/run" "$tmp"/*.o "$root/tests/run/harness.c" $board -lm -o "$tmp/program" &&
        emulate "$tmp/program" "$folder"; then
        echo "ok $name"
    else
        echo "FAILED $name"
        failed=1
    fi
    rm -f "$tmp"/*.o
done
exit $failed
