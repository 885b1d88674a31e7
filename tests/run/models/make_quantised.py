#!/usr/bin/python3
"""Writes the quantised models of this folder: chains of integer operators, with outputs from the definitions of the operators in whole
numbers as wide as they need. The batch of each input holds the lowest codes, the highest, both mixed, and random ones.

Run by hand when a model is added (Debian's python3-numpy is enough); the tests read only what is committed.
"""
import math

import numpy as np

from make import tensor, write

RANGE = {np.int8: (-128, 127), np.uint8: (0, 255), np.int16: (-32768, 32767)}
NAME = {np.int8: "int8", np.uint8: "uint8", np.int16: "int16", np.int32: "int32"}


def wrap(v):
    """The low 32 bits."""
    return (np.asarray(v, dtype=object) + 2 ** 31) % 2 ** 32 - 2 ** 31


def fixed_point(factor):
    """A multiplier of 31 bits and a shift: factor = m / 2^31 * 2^s."""
    f, s = math.frexp(factor)
    m = math.floor(f * 2 ** 31 + 0.5)
    return (m // 2, s + 1) if m == 2 ** 31 else (m, s)


def multiply(x, m, s, away=False, one=True):
    """One multiplier for all: of 2^30 it is a shift, whose rounding wraps in 32 bits."""
    right = 31 + max(-s, 0)
    if m == 2 ** 30 and one and not away and s > -31:
        x = np.asarray(x, dtype=object)
        return wrap(x * 2 ** (s - 1)) if s > 0 else wrap(wrap(x + 2 ** -s) // 2 ** (1 - s))
    v = np.asarray(x, dtype=object) * m * 2 ** max(s, 0)
    half = np.where(v >= 0, 2 ** (right - 1), 2 ** (right - 1) - 1) if away else 2 ** (right - 1)
    return wrap((v + half) // 2 ** right)


def rescaled(x, s_in, z_in, s_out, z_out, dtype=None, axis=-1, away=False):
    """requantize with compute_dtype int64; without a dtype the sum stays in 32 bits."""
    s_in, s_out = np.asarray(s_in, np.float32), np.float32(s_out)
    t = wrap(np.asarray(x, dtype=object) - z_in)
    if s_in.ndim == 0:
        if s_in != s_out:
            t = multiply(t, *fixed_point(float(s_in) / float(s_out)), away)
    else:
        t = np.moveaxis(t.copy(), axis, 0)
        for c, s in enumerate(s_in):
            t[c] = multiply(t[c], *fixed_point(float(s) / float(s_out)), away, one=False)
        t = np.moveaxis(t, 0, axis)
    t = wrap(t + z_out)
    return (np.clip(t, *RANGE[dtype]) if dtype else t).astype(np.int64)


def windows(x, kernel, strides, dilation, pad):
    """x[n][c][h][w] padded with zeros: for each tap of the kernel what it meets, [n][c][oh][ow]."""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])))
    oh, ow = ((x.shape[2 + i] - (kernel[i] - 1) * dilation[i] - 1) // strides[i] + 1 for i in range(2))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            y, z = i * dilation[0], j * dilation[1]
            yield i, j, x[:, :, y:y + (oh - 1) * strides[0] + 1:strides[0], z:z + (ow - 1) * strides[1] + 1:strides[1]]


def conv2d(x, w, zx, zw, strides=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), groups=1):
    """x[n][c][h][w], w[co][ci / groups][kh][kw], all int64"""
    x, w = x - zx, w.astype(np.int64) - zw
    cg, og, out = x.shape[1] // groups, w.shape[0] // groups, 0
    for i, j, part in windows(x, w.shape[2:], strides, dilation, pad):
        out = out + np.concatenate([np.einsum("nchw,oc->nohw", part[:, g * cg:(g + 1) * cg], w[g * og:(g + 1) * og, :, i, j])
                                    for g in range(groups)], axis=1)
    return out


def truncated(v, n):
    return np.sign(v) * (np.abs(v) // n)


def avg_pool(x, size):
    return truncated(sum(part for _, _, part in windows(x, size, size, (1, 1), (0, 0, 0, 0))), size[0] * size[1])


def last(x):
    """[n][c][h][w] as [n][h][w][c]"""
    return x.transpose(0, 2, 3, 1)


def first(x):
    return x.transpose(0, 3, 1, 2)


# ---- texts ----

class Text:
    """A module as it grows: lines, constants."""

    def __init__(self):
        self.lines, self.constants = [], []

    def constant(self, value):
        self.constants.append(value)
        return f"meta[relay.Constant][{len(self.constants) - 1}] /* ty={tensor(value)} */"

    def let(self, call):
        self.lines.append(f"  %{len(self.lines)} = {call};\n")
        return f"%{len(self.lines) - 1}"

    def requantize(self, x, s_in, z_in, s_out, z_out, dtype, axis=-1, rounding="UPWARD"):
        s_in = self.constant(np.asarray(s_in, np.float32)) if np.ndim(s_in) else f"{s_in}f"
        return self.let(f'qnn.requantize({x}, {s_in}, {z_in}, {s_out}f, {z_out}, axis={axis}, rounding="{rounding}", '
                        f'compute_dtype="int64", out_dtype="{NAME[dtype]}")')

    def write(self, name, inputs, results, outputs):
        result = results[0] if len(results) == 1 else f"({', '.join(results)})"
        parameters = ", ".join(f"%{k}: {tensor(v)}" for k, v in inputs.items())
        write(name, f"def @main({parameters}) {{\n{''.join(self.lines)}  {result}\n}}\n", inputs.values(), outputs,
              constants=self.constants)


def codes(rng, dtype, *shape):
    """Lowest, highest, mixed, random: one for each of the batch of four."""
    low, high = RANGE[dtype]
    x = rng.integers(low, high + 1, shape)
    x[0], x[1], x[2] = low, high, np.where(rng.random(shape[1:]) < 0.5, low, high)
    return x.astype(dtype)


def weights(rng, dtype, *shape):
    low, high = RANGE[dtype]
    return rng.integers(low, high + 1, shape).astype(dtype)


def bias(rng, n):
    return rng.integers(-5000, 5000, n).astype(np.int32)


# ---- the models ----

def q_residual(rng):
    """int8, channels last: three channels in, one scale a channel, depthwise, a residual addition, an average, a dense layer."""
    t, x = Text(), codes(rng, np.int8, 4, 7, 9, 3)
    w1, b1, s1 = weights(rng, np.int8, 16, 3, 3, 3), bias(rng, 16), rng.uniform(0.001, 0.004, 16).astype(np.float32)
    w2, b2, s2 = weights(rng, np.int8, 16, 16, 3, 3), bias(rng, 16), rng.uniform(0.0004, 0.002, 16).astype(np.float32)
    w3, b3, s3 = weights(rng, np.int8, 16, 1, 3, 3), bias(rng, 16), rng.uniform(0.001, 0.005, 16).astype(np.float32)
    w4, w5, b5 = weights(rng, np.int8, 24, 16, 1, 1), weights(rng, np.int8, 10, 24), bias(rng, 10)
    common = 'data_layout="NHWC", out_dtype="int32"'
    a = t.let(f'qnn.conv2d(%x, {t.constant(w1.transpose(2, 3, 1, 0).copy())}, -7, 0, 0.5f, 0.1f, strides=[2, 1], padding=[1, 1, 1, 1], '
              f'channels=16, kernel_size=[3, 3], kernel_layout="HWIO", {common})')
    a = t.requantize(t.let(f"nn.bias_add({a}, {t.constant(b1)}, axis=3)"), s1, 0, 0.5, -128, np.int8, 3)
    a = t.let(f"clip({a}, a_min=-128f, a_max=127f)")
    h = rescaled(conv2d(first(x).astype(np.int64), w1, -7, 0, (2, 1), (1, 1, 1, 1)) + b1[:, None, None], s1, 0, 0.5, -128, np.int8, 1)
    b = t.let(f'qnn.conv2d({a}, {t.constant(w2.transpose(2, 3, 1, 0).copy())}, -128, 0, 0.5f, 0.1f, padding=[1, 1, 1, 1], channels=16, '
              f'kernel_size=[3, 3], kernel_layout="HWIO", {common})')
    b = t.requantize(t.let(f"nn.bias_add({b}, {t.constant(b2)}, axis=3)"), s2, 0, 0.75, 11, np.int8, 3)
    g = rescaled(conv2d(h, w2, -128, 0, pad=(1, 1, 1, 1)) + b2[:, None, None], s2, 0, 0.75, 11, np.int8, 1)
    c = t.let(f"qnn.add({a}, {b}, 0.5f, -128, 0.75f, 11, 0.9f, -128)")
    h = np.clip(rescaled(h, 0.5, -128, 0.9, -128) + rescaled(g, 0.75, 11, 0.9, -128) + 128, -128, 127)
    d = t.let(f'qnn.conv2d({c}, {t.constant(w3.transpose(2, 3, 0, 1).copy())}, -128, 0, 0.9f, 0.1f, padding=[1, 1, 1, 1], groups=16, '
              f'channels=16, kernel_size=[3, 3], kernel_layout="HWOI", {common})')
    d = t.requantize(t.let(f"nn.bias_add({d}, {t.constant(b3)}, axis=3)"), s3, 0, 0.8, 3, np.int8, 3)
    d = t.let(f"clip({d}, a_min=-100f, a_max=90f)")
    h = np.clip(rescaled(conv2d(h, w3, -128, 0, pad=(1, 1, 1, 1), groups=16) + b3[:, None, None], s3, 0, 0.8, 3, np.int8, 1), -100, 90)
    e = t.let(f'qnn.conv2d({d}, {t.constant(w4.transpose(2, 3, 1, 0).copy())}, 3, 0, 0.8f, 0.1f, padding=[0, 0, 0, 0], channels=24, '
              f'kernel_size=[1, 1], kernel_layout="HWIO", {common})')
    e = t.requantize(e, 0.08, 0, 19.0, -60, np.int8, 3, "TONEAREST")
    h = rescaled(conv2d(h, w4, 3, 0), np.float32(0.08), 0, 19.0, -60, np.int8, 1, True)
    f = t.let(f'nn.avg_pool2d({t.let(f"""cast({e}, dtype="int32")""")}, pool_size=[4, 9], layout="NHWC")')
    f = t.let(f'reshape({t.let(f"""cast({f}, dtype="int8")""")}, newshape=[4, 24])')
    h = avg_pool(h, (4, 9)).reshape(4, 24)
    f = t.let(f'qnn.dense({f}, {t.constant(w5)}, -60, 0, 19f, 0.1f, units=10, out_dtype="int32")')
    f = t.requantize(t.let(f"add({f}, {t.constant(b5)})"), 1.9, 0, 170.0, 14, np.int8)
    t.write("q_residual", {"x": x}, [f], [rescaled((h + 60) @ w5.T.astype(np.int64) + b5, 1.9, 0, 170.0, 14, np.int8).astype(np.int8)])


def q_asymmetric(rng):
    """uint8, channels first, zero points in weights too: grouped, dilated, one channel, pooling, concatenation."""
    t, x = Text(), codes(rng, np.uint8, 4, 6, 9, 8)
    w1, w2, w3 = weights(rng, np.uint8, 9, 2, 3, 3), weights(rng, np.uint8, 9, 1, 3, 2), weights(rng, np.uint8, 1, 18, 3, 3)
    a = t.let(f'qnn.conv2d(%x, {t.constant(w1)}, 119, 131, 0.05f, 0.02f, padding=[2, 1, 1, 2], dilation=[2, 1], groups=3, channels=9, '
              'kernel_size=[3, 3], out_dtype="int32")')
    a = t.requantize(a, 0.001, 0, 0.13, 100, np.uint8, 1, "TONEAREST")
    h = rescaled(conv2d(x.astype(np.int64), w1, 119, 131, pad=(2, 1, 1, 2), dilation=(2, 1), groups=3), 0.001, 0, 0.13, 100, np.uint8,
                 1, True)
    b = t.let(f'qnn.conv2d({a}, {t.constant(w2)}, 100, 7, 0.13f, 0.02f, strides=[1, 1], padding=[1, 0, 1, 1], groups=9, channels=9, '
              'kernel_size=[3, 2], out_dtype="int32")')
    b = t.requantize(b, 0.0026, 0, 0.9, 0, np.uint8, 1)
    g = rescaled(conv2d(h, w2, 100, 7, pad=(1, 0, 1, 1), groups=9), 0.0026, 0, 0.9, 0, np.uint8, 1)
    parts = t.let(f"({a}, {b})"), t.let("(0.13f, 0.9f)"), t.let("(100, 0)")
    c = t.let(f"qnn.concatenate({', '.join(parts)}, 0.9f, 0, axis=1)")
    h = np.concatenate([rescaled(h, 0.13, 100, 0.9, 0, np.uint8), g], axis=1)
    d = t.let(f"nn.max_pool2d({c}, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])")
    h = np.maximum.reduce([part for _, _, part in windows(h, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0))])
    e = t.let(f"qnn.avg_pool2d({d}, 0.9f, 0, 0.4f, 30, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])")
    p = np.clip(avg_pool(rescaled(h, 0.9, 0, 0.4, 30), (2, 2)), 0, 255)
    f = t.let(f'qnn.conv2d({d}, {t.constant(w3)}, 0, 128, 0.9f, 0.01f, padding=[1, 1, 1, 1], channels=1, kernel_size=[3, 3], out_dtype="int32")')
    f = t.requantize(f, 0.009, 0, 3.0, 128, np.uint8, 1)
    h = rescaled(conv2d(h, w3, 0, 128, pad=(1, 1, 1, 1)), 0.009, 0, 3.0, 128, np.uint8, 1)
    t.write("q_asymmetric", {"x": x}, [e, f], [p.astype(np.uint8), h.astype(np.uint8)])


def q_wide(rng):
    """int16 codes, factors far above and below one, and what stays in 32 bits."""
    t, x = Text(), codes(rng, np.int16, 4, 5, 3, 6)
    w = weights(rng, np.int8, 4, 6, 3, 3)
    a = t.let(f'qnn.conv2d(%x, {t.constant(w.transpose(2, 3, 1, 0).copy())}, 1000, 0, 0.5f, 0.1f, strides=[2, 2], padding=[1, 1, 1, 1], '
              'channels=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")')
    sums = wrap(conv2d(first(x).astype(np.int64), w, 1000, 0, (2, 2), (1, 1, 1, 1)))
    results, outputs = [], []
    for s_out, dtype, rounding in ((250.0, np.int16, "UPWARD"), (0.0125, np.int32, "UPWARD"), (0.05, np.int32, "TONEAREST"),
                                   (0.1, np.int16, "UPWARD"), (0.025, np.int32, "UPWARD"), (3e8, np.int8, "TONEAREST")):
        results.append(t.requantize(a, 0.05, 0, s_out, -3, dtype, 3, rounding))
        y = rescaled(sums, 0.05, 0, s_out, -3, None if dtype == np.int32 else dtype, away=rounding == "TONEAREST")
        outputs.append(last(y).astype(dtype))
    t.write("q_wide", {"x": x}, results, outputs)


def q_canonical(rng):
    """What a compiler leaves of a quantised model: plain convolutions into int32, fixed point products, shifts, clips, casts."""
    t, x = Text(), codes(rng, np.int8, 4, 6, 5, 8)
    w1, w2, b1 = weights(rng, np.int8, 32, 8, 3, 3), weights(rng, np.int8, 32, 1, 3, 3), bias(rng, 32)
    m, s = fixed_point(0.0021)
    a = t.let("nn.pad(%x, 5i8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]])")
    a = t.let(f'nn.conv2d({a}, {t.constant(w1.transpose(2, 3, 1, 0).copy())}, padding=[0, 0, 0, 0], channels=32, kernel_size=[3, 3], '
              'data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")')
    fold = (b1 - 5 * w1.astype(np.int64).sum(axis=(1, 2, 3))).astype(np.int32).reshape(1, 1, 1, 32)
    a = t.let(f"fixed_point_multiply({t.let(f'add({a}, {t.constant(fold)})')}, multiplier={m}, shift={s})")
    a = t.let(f'cast({t.let(f"clip({a}, a_min=-128f, a_max=127f)")}, dtype="int8")')
    h = np.clip(multiply(conv2d(first(x).astype(np.int64), w1, 5, 0, pad=(1, 1, 1, 1)) + b1[:, None, None], m, s), -128, 127).astype(np.int64)
    b = t.let(f'nn.conv2d({a}, {t.constant(w2.transpose(2, 3, 0, 1).copy())}, padding=[0, 0, 0, 0], groups=32, channels=32, '
              'kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32")')
    b = t.let(f"right_shift({t.let(f'add({b}, 64)')}, 7)")
    b = t.let(f'cast({t.let(f"clip({b}, a_min=0f, a_max=255f)")}, dtype="uint8")')
    h = np.clip((conv2d(h, w2, 0, 0, groups=32) + 64) >> 7, 0, 255)
    t.write("q_canonical", {"x": x}, [a, b], [last(rounded_a(x, w1, b1, m, s)), last(h).astype(np.uint8)])


def rounded_a(x, w, b, m, s):
    sums = conv2d(first(x).astype(np.int64), w, 5, 0, pad=(1, 1, 1, 1)) + b[:, None, None]
    return np.clip(multiply(sums, m, s), -128, 127).astype(np.int8)


def q_elementwise(rng):
    """Sums, differences and products of codes of several scales, broadcast; leaky ReLU; softmax of codes."""
    t, x, y = Text(), codes(rng, np.int8, 4, 3, 32), codes(rng, np.int8, 4, 1, 32)
    results, outputs, a, b = [], [], x.astype(np.int64), y.astype(np.int64)
    for op, so, zo in (("add", 0.3, 5), ("subtract", 0.04, -128), ("add", 0.1, 3), ("mul", 0.9, -20)):
        results.append(t.let(f"qnn.{op}(%x, %y, 0.1f, 3, 0.25f, -9, {so}f, {zo})"))
        if op == "mul":
            v = rescaled(wrap((a - 3) * (b + 9)), np.float32(0.1) * np.float32(0.25), 0, so, zo, np.int8)
        else:
            p = a if (so, zo) == (0.1, 3) else rescaled(a, 0.1, 3, so, zo)
            q = rescaled(b, 0.25, -9, so, zo)
            v = np.clip(p + q - zo if op == "add" else p - q + zo, -128, 127)
        outputs.append(v.astype(np.int8))
    results.append(t.let("qnn.leaky_relu(%x, 0.1f, 3, 0.15f, -20, alpha=0.3f)"))
    r = rescaled(a, 0.1, 3, 0.15, -20)
    low = multiply(r, *fixed_point(float(np.float32(0.3)))) + multiply(-20, *fixed_point(1 - float(np.float32(0.3))))
    outputs.append(np.where(a < 3, low, r).astype(np.int64).astype(np.int8))
    results.append(t.let("qnn.softmax(%x, 0.1f, 3, 0.00390625f, -128)"))
    outputs.append(softmax_of_codes(a - 3, 10))
    t.write("q_elementwise", {"x": x, "y": y}, results, outputs)


def q_edges(rng):
    """Fixed point products at their edges: multipliers, shifts and values, both roundings, one factor and one a channel."""
    edges = [0, 1, -1, 2, -2, 3, -3, 5, -5, 6, -7, 127, -128, 128, -129, 255, 1000, -1000, 32767, -32768, 65535, 123456, -123456,
             8388607, -8388608, 2 ** 30 - 1, -2 ** 30, 2 ** 30, 1610612735, -1610612736, 2147483520, -2147483520, 2 ** 31 - 2,
             2 ** 31 - 1, 1 - 2 ** 31, -2 ** 31]
    x = np.array([edges + list(rng.integers(-2 ** 31, 2 ** 31, 48 - len(edges)))], np.int32)
    scales = np.array([1, 0.5, 0.25, 0.125, 2, 4, 0.75, 0.3, 0.1, 0.9999999, 1.0000001, 0.49999997, 0.50000006, 0.015625, 3, 7.3, 0.001,
                       1e-5, 3.1e-7, 4.656613e-10, 2.3283064e-10, 1.1641532e-10, 1e-12, 1000, 65536, 1234567, 1e8, 2 ** 30, 2 ** -30,
                       2 ** -31, 0.6, 1.5], np.float32)
    t, rows, want = Text(), [], []
    for s in scales:
        for away in (False, True):
            rows.append(t.requantize("%x", f"{s:.9g}", 0, 1, 0, np.int32, 1, "TONEAREST" if away else "UPWARD"))
            want.append(rescaled(x, s, 0, 1, 0, away=away))
            rows.append(t.requantize("%x", f"{s:.9g}", -7, 0.7, 100, np.int32, 1, "TONEAREST" if away else "UPWARD"))
            want.append(rescaled(x, s, -7, 0.7, 100, away=away))
    for m in (1, 2 ** 30, 2 ** 30 + 1, 1431655765, 2 ** 31 - 1):
        for shift in (-31, -30, -17, -8, -1, 0, 1, 2, 8, 30, 31):
            rows.append(t.let(f"fixed_point_multiply(%x, multiplier={m}, shift={shift})"))
            want.append(multiply(x, m, shift))
    one = t.let(f"concatenate({t.let('(' + ', '.join(rows) + ')')}, axis=0)")
    turned, channels, several = t.let("transpose(%x, axes=[1, 0])"), [], []
    wide = t.let(f"broadcast_to({turned}, shape=[48, 32])")
    values = np.broadcast_to(x.T, (48, 32))
    for away in (False, True):
        channels.append(t.requantize(wide, scales, 3, 0.7, -5, np.int32, 1, "TONEAREST" if away else "UPWARD"))
        several.append(rescaled(values, scales, 3, 0.7, -5, axis=1, away=away))
    several_text = t.let(f"concatenate({t.let('(' + ', '.join(channels) + ')')}, axis=0)")
    t.write("q_edges", {"x": x}, [one, several_text],
            [np.concatenate(want).astype(np.int32), np.concatenate(several).astype(np.int32)])


def softmax_of_codes(x, one):
    """Along the last axis, of codes without their zero point; one = 1 / scale."""
    x = x - x.max(axis=-1, keepdims=True)
    p = x + (x >> 1) - (x >> 4)
    n = np.clip(truncated(-p, one), 0, 20)
    e = ((p + n * one) // 2 + one) << (n.max(axis=-1, keepdims=True) - n)
    y = (truncated(np.int64(2 ** 30), e.sum(axis=-1, keepdims=True)) * e) >> 23
    return rescaled(y, 1 / 128, 0, 1 / 256, -128, np.int8).astype(np.int8)


if __name__ == "__main__":
    for make in (q_residual, q_asymmetric, q_wide, q_canonical, q_elementwise, q_edges):
        make(np.random.default_rng(20262))
