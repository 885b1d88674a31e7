#!/usr/bin/env python3
"""Where the time of an emitted model goes, kernel by kernel, beside the fused multiply-add rate of this machine.

    kernel_peak.py build/release/bin/tirc model.relay [-params model.params] [--cc "gcc -O3 -march=native"]

Emits the model, compiles it with every kernel called by its name and timed, and prints for each: microseconds, multiply-adds (from the
shapes in its comment), GFLOP/s and percent of the peak with vectors of 32 and of 64 bytes."""
import argparse
import os
import re
import subprocess
import tempfile

PEAK = """
#include <stdio.h>
#include <time.h>
typedef float vec __attribute__((vector_size(BYTES)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void)
{
    vec a[12], b = { 0 }, c = { 0 };
    double best = 1e9;
    for (int i = 0; i < 12; ++i) a[i] = b + (float)i;
    b += 0.999f; c += 0.5f;
    for (int r = 0; r < 20; ++r) {
        double s = now();
        for (long n = 0; n < 1000000; ++n) {
            a[0] = a[0] * b + c; a[1] = a[1] * b + c; a[2] = a[2] * b + c; a[3] = a[3] * b + c; a[4] = a[4] * b + c; a[5] = a[5] * b + c;
            a[6] = a[6] * b + c; a[7] = a[7] * b + c; a[8] = a[8] * b + c; a[9] = a[9] * b + c; a[10] = a[10] * b + c; a[11] = a[11] * b + c;
        }
        s = now() - s;
        best = s < best ? s : best;
    }
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += a[i][0];
    printf("%.1f %g\\n", 12e6 * 2 * (BYTES / 4) / best * 1e-9, (double)sum);
    return 0;
}
"""

MAIN = """
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "model.c"
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3; }
double kernel_time[1000], kernel_start;
long kernel_runs[1000];
static unsigned char in[1 << 26], out[1 << 26], workspace[M_WORKSPACE_SIZE + 64];
int main(void)
{
    struct m_inputs i; struct m_outputs o;
    void **p = (void **)&i;
    for (size_t k = 0; k < sizeof i / sizeof *p; ++k) p[k] = in + k * (sizeof in / 16);
    p = (void **)&o;
    for (size_t k = 0; k < sizeof o / sizeof *p; ++k) p[k] = out + k * (sizeof out / 16);
    float *x = (float *)(void *)in;
    for (size_t k = 0; k < sizeof in / 4; ++k) x[k] = (float)(k % 17) / 17.0f;
    void *w = (void *)(((uintptr_t)workspace + 63) / 64 * 64);
    for (int r = 0; r < 3; ++r) m_run_with_workspace(&i, &o, w);
    memset(kernel_time, 0, sizeof kernel_time);
    memset(kernel_runs, 0, sizeof kernel_runs);
    long n = 0;
    for (double end = now() + 1.5e6; now() < end; ++n) m_run_with_workspace(&i, &o, w);
    for (int k = 0; k < COUNT; ++k) printf("%d %.3f %ld\\n", k, kernel_time[k] / (double)n, kernel_runs[k] / n);
    return 0;
}
"""


def product(text):
    n = 1
    for d in text.split(","):
        n *= int(d) if d else 1
    return n


def multiply_adds(comment):
    """Of convolutions and products: output elements times what each sums over; 0 for anything else."""
    shapes = re.findall(r"\w+\[([\d,]*)\]", comment)
    result = re.search(r"->\s*\*?\s*\w+\[([\d,]*)\]", comment)
    if result is None or len(shapes) < 3:
        return 0
    out, weight = result.group(1), shapes[1]
    last = [int(d) for d in weight.split(",")]
    if "conv2d" in comment and "NHWC" in comment:
        depthwise = last[-1] == 1 and int(out.split(",")[-1]) == last[-2]
        return product(out) * (last[0] * last[1] if depthwise else last[0] * last[1] * last[2])
    if "nn.matmul" in comment:
        return product(out) * last[0]
    if "nn.dense" in comment:
        return product(out) * last[-1]
    return 0


def timed(source):
    """Every call of a kernel between two readings of the clock; kernels stay functions."""
    kernels = {}
    for m in re.finditer(r"/\* ((?:[^*]|\*(?!/))*)\*/\nTIRGEN_KERNEL void (\w+)\(", source):
        kernels[m.group(2)] = m.group(1).replace("\n *", "")
    names = list(kernels)
    call = re.compile(r"^(\s+)((?:\w+ = )?(%s)\((?:[^;])*\);)" % "|".join(names), re.M)
    source = call.sub(lambda m: "%skernel_start = kernel_now(); %s kernel_time[%d] += kernel_now() - kernel_start; ++kernel_runs[%d];"
                      % (m.group(1), m.group(2), names.index(m.group(3)), names.index(m.group(3))), source)
    head = ("#include <time.h>\nextern double kernel_time[], kernel_start; extern long kernel_runs[];\nstatic double kernel_now(void) "
            "{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3; }\n")
    return head + source, kernels


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tirc")
    p.add_argument("model")
    p.add_argument("-params", default=None)
    p.add_argument("-target", default="c")
    p.add_argument("--cc", default="gcc -O3 -march=native")
    args = p.parse_args()
    cc = args.cc.split()
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        for size in (32, 64):
            with open(os.path.join(folder, "peak.c"), "w") as f:
                f.write(PEAK)
            subprocess.check_call(cc + ["-w", "-DBYTES=%d" % size, os.path.join(folder, "peak.c"), "-o", os.path.join(folder, "peak")])
            peaks.append(float(subprocess.check_output([os.path.join(folder, "peak")], text=True).split()[0]))
        subprocess.check_call([args.tirc, args.model, "-prefix", "m", "-o", folder, "-target", args.target]
                              + (["-params", args.params] if args.params else []))
        with open(os.path.join(folder, "m.c")) as f:
            source, kernels = timed(f.read())
        with open(os.path.join(folder, "model.c"), "w") as f:
            f.write(source)
        with open(os.path.join(folder, "main.c"), "w") as f:
            f.write("#define _POSIX_C_SOURCE 200809L\n" + MAIN)
        subprocess.check_call(cc + ["-w", "-DCOUNT=%d" % len(kernels), "-I", folder, os.path.join(folder, "main.c"), "-lm", "-o",
                                    os.path.join(folder, "main")])
        lines = subprocess.check_output([os.path.join(folder, "main")], text=True).splitlines()
    print("peak: %.0f GFLOP/s with vectors of 32 bytes, %.0f with 64 (%s)" % (peaks[0], peaks[1], args.cc))
    total = 0
    for line, (name, comment) in zip(lines, kernels.items()):
        microseconds, runs = float(line.split()[1]), int(line.split()[2])
        total += microseconds
        rate = 2e-3 * multiply_adds(comment) * runs / microseconds if microseconds > 0 else 0
        print("%9.2f us %3d x %8.3f M %7.1f GFLOP/s %4.0f %% %4.0f %%  %s" % (
            microseconds, runs, multiply_adds(comment) * runs * 1e-6, rate, 100 * rate / peaks[0], 100 * rate / peaks[1], name))
    print("%9.2f us" % total)


main()
