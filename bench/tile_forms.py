#!/usr/bin/env python3
"""Which C a compiler turns into vectors in registers: the measurement behind src/schedule/tile.c.

    tile_forms.py [--compilers "gcc -O3 -march=native;clang -O3"] [--tiles "3x4x8 6x2x8 ..."]

Each tile is rows x vectors x lanes of float accumulators of a convolution (1x1 and 3x3, channels last). Two forms:
    inside   for lane: acc[r][v][lane] += x[r] * w[v][lane]     a statement for each row and vector in one loop over lanes
    outside  for each row and vector: for lane: acc[..] += ..   a loop for each
Printed: GFLOP/s, best of 40 runs."""
import argparse
import os
import subprocess
import tempfile

H, IC, OC = 24, 32, 96
HEAD = """#include <stdint.h>
#include <stdio.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
static float x[(%(h)d + 2) * (%(h)d + 2) * %(ic)d], w[9 * %(ic)d * %(oc)d], bias[%(oc)d], y[%(h)d * %(h)d * %(oc)d];
""" % {"h": H, "ic": IC, "oc": OC}


def kernel(name, rows, vectors, lanes, inside, k):
    tile, pitch = vectors * lanes, (H + 2) * IC
    tap = "kh * %d + kw * %d + ic" % (pitch, IC) if k > 1 else "ic"
    weight = "kh * %d + kw * %d + ic * %d" % (k * IC * OC, IC * OC, OC) if k > 1 else "ic * %d" % OC
    out = ["__attribute__((noinline)) static void %s(const float *restrict in, const float *restrict wt, const float *restrict b,"
           " float *restrict out)" % name, "{",
           "for (int32_t c = 0; c < %d; ++c) for (int32_t h = 0; h < %d; ++h) for (int32_t o = 0; o < %d; ++o) {" % (OC // tile, H, H // rows),
           "float acc[%d];" % (rows * tile), "for (int32_t i = 0; i < %d; ++i) acc[i] = 0.0f;" % (rows * tile)]
    if k > 1:
        out.append("for (int32_t kh = 0; kh < %d; ++kh) for (int32_t kw = 0; kw < %d; ++kw)" % (k, k))
    out.append("for (int32_t ic = 0; ic < %d; ++ic) {" % IC)
    loop = "for (int32_t j = 0; j < %d; ++j)" % lanes
    if inside:
        out.append(loop + " {")
    for r in range(rows):
        for v in range(vectors):
            out.append("%s acc[%d + j] += in[h * %d + o * %d + %s + %d] * wt[%s + c * %d + %d + j];" % (
                "" if inside else loop, r * tile + v * lanes, pitch, rows * IC, tap, r * IC, weight, tile, v * lanes))
    out.append("}}" if inside else "}")
    out.append("for (int32_t i = 0; i < %d; ++i) for (int32_t j = 0; j < %d; ++j) {" % (rows, tile))
    out.append("float s = acc[i * %d + j] + b[c * %d + j]; out[(h * %d + o * %d + i) * %d + c * %d + j] = s > 0.0f ? s : 0.0f; }" % (
        tile, tile, H, rows, OC, tile))
    out.append("}}")
    return "\n".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compilers", default="gcc -O3 -march=native;gcc -O3 -march=native -ffast-math;gcc -O2 -march=native;gcc -O3 -march=haswell;"
                   "gcc -O3;gcc -O2;clang-14 -O3 -march=native;clang-14 -O3 -march=native -ffast-math;clang-14 -O2")
    p.add_argument("--tiles", default="2x2x8 4x2x8 6x2x8 3x4x8 4x4x8 8x1x8 1x8x8 4x1x16 6x1x16 3x1x32")
    args = p.parse_args()
    text, table, titles = [HEAD], [], []
    for tile in args.tiles.split():
        rows, vectors, lanes = map(int, tile.split("x"))
        for inside in (True, False):
            for k in (1, 3):
                name = "k%d_%s_%s" % (k, tile, "in" if inside else "out")
                text.append(kernel(name, rows, vectors, lanes, inside, k))
                flops = 2.0 * H * (H // rows * rows) * k * k * IC * (OC // (vectors * lanes) * vectors * lanes)
                table.append("{ %s, %.0f }" % (name, flops))
                titles.append("%s/%d%s" % (tile, k, "" if inside else "o"))
    text.append("""int main(void)
{
    for (size_t i = 0; i < sizeof x / sizeof x[0]; ++i) x[i] = (float)(i %% 17) - 8;
    for (size_t i = 0; i < sizeof w / sizeof w[0]; ++i) w[i] = (float)(i %% 13) - 6;
    static const struct { void (*run)(const float *, const float *, const float *, float *); double flops; } t[] = { %s };
    for (size_t k = 0; k < sizeof t / sizeof t[0]; ++k) {
        double best = 1e9;
        for (int r = 0; r < 40; ++r) { double s = now(); t[k].run(x, w, bias, y); s = now() - s; best = s < best ? s : best; }
        printf("%%9.0f", t[k].flops / best * 1e-9);
    }
    printf("\\n");
    return 0;
}
""" % ", ".join(table))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "forms.c")
        with open(source, "w") as f:
            f.write("\n".join(text))
        print(" " * 40 + "".join("%9s" % t for t in titles))
        for cc in args.compilers.split(";"):
            binary = os.path.join(folder, "forms")
            if subprocess.call(cc.split() + ["-std=gnu99", "-w", source, "-o", binary]) == 0:
                print("%-40s" % cc + subprocess.check_output([binary], text=True), end="")


main()
