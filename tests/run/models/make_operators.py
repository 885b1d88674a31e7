#!/usr/bin/python3
"""Writes models of many operators each, a family a folder, beside those of make.py: whole families in one program keep the tests quick.

Every definition here is written from the operator's meaning, element by element where that is clearest, in double precision.
"""
import itertools
import math

import numpy as np

from make import conv2d, f32, tensor, write


def several(name, inputs, rows, constants=()):
    """A model whose outputs are rows of (Relay text of the call, expected value)."""
    declared = ", ".join(f"%{key}: {tensor(value) if value.dtype != bool else 'Tensor[(%s), bool]' % ', '.join(map(str, value.shape))}"
                         for key, value in inputs.items())
    lines, results = [], []
    for text, value in rows:
        steps = text.split(";")
        for step in steps:
            lines.append(f"  %{len(lines)} = {step.strip().replace('$', f'%{len(lines) - 1}')};\n")
        results.append(f"%{len(lines) - 1}")
    comma = "," if len(results) == 1 else ""
    text = f"def @main({declared}) {{\n{''.join(lines)}  ({', '.join(results)}{comma})\n}}\n"
    write(name, text, list(inputs.values()), [value for _, value in rows], constants=constants)


def as_type(dtype):
    return lambda v: np.asarray(v, dtype)


# ---- families ----

def functions(rng):
    """Transcendental functions, in float32 and float64."""
    x = rng.uniform(-0.95, 0.95, (3, 5))
    y = rng.uniform(0.2, 3.0, (5,))
    for dtype, name in ((np.float32, "functions"), (np.float64, "functions_float64")):
        a, b = x.astype(dtype), y.astype(dtype)
        d, e, to = a.astype(np.float64), b.astype(np.float64), as_type(dtype)
        rows = [(f"{f}(%x)", to(g(d))) for f, g in (
            ("tan", np.tan), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh),
            ("tanh", np.tanh), ("asinh", np.arcsinh), ("atanh", np.arctanh), ("sin", np.sin), ("cos", np.cos), ("exp", np.exp),
            ("erf", np.vectorize(math.erf)), ("sigmoid", lambda v: 1 / (1 + np.exp(-v))))]
        rows += [(f"{f}(%y)", to(g(e))) for f, g in (
            ("log", np.log), ("log2", np.log2), ("log10", np.log10), ("sqrt", np.sqrt), ("rsqrt", lambda v: 1 / np.sqrt(v)))]
        rows += [("exp(%y); acosh($)", to(np.arccosh(np.exp(e)))), ("abs(%x); power($, %y)", to(np.abs(d) ** e))]
        several(name, {"x": a, "y": b}, rows)


def whole_numbers(rng):
    """Division of every sign, shifts, comparisons and logic on integers and bool."""
    a = np.array([[-7, -6, -1, 0, 1, 6, 7, 127, -128]], np.int8)
    b = np.array([[3], [-3], [1], [-128], [127]], np.int8)
    p, q = np.broadcast_arrays(a.astype(int), b.astype(int))
    trunc = np.array([int(math.trunc(i / j)) for i, j in zip(p.flat, q.flat)]).reshape(p.shape)
    wrap = as_type(np.int64)

    def to8(v):
        return (wrap(v) & 0xff).astype(np.uint8).view(np.int8)
    t = np.array([[True], [False], [True], [True], [False]])
    u = np.array([200, 3, 255, 128], np.uint8)
    rows = [("divide(%a, %b)", to8(trunc)), ("mod(%a, %b)", to8(p - trunc * q)), ("trunc_divide(%a, %b)", to8(trunc)),
            ("trunc_mod(%a, %b)", to8(p - trunc * q)), ("floor_divide(%a, %b)", to8(p // q)), ("floor_mod(%a, %b)", to8(p % q)),
            ("maximum(%a, %b)", to8(np.maximum(p, q))), ("minimum(%a, %b)", to8(np.minimum(p, q))),
            ("multiply(%a, %b)", to8(p * q)), ("subtract(%a, %b)", to8(p - q)), ("less(%a, %b)", p < q), ("greater_equal(%a, %b)", p >= q),
            ("equal(%a, %b); logical_or($, %t)", (p == q) | t), ("not_equal(%a, %b); logical_and($, %t)", (p != q) & t),
            ("less(%a, %b); logical_xor($, %t)", (p < q) ^ t), ("logical_not(%t)", ~t), ("bitwise_and(%a, %b)", to8(p & q)),
            ("bitwise_or(%a, %b)", to8(p | q)), ("bitwise_xor(%a, %b)", to8(p ^ q)), ("bitwise_not(%a)", ~a), ("negative(%a)", to8(-a.astype(int))),
            ("abs(%a)", to8(np.abs(a.astype(int)))), ("sign(%a)", np.sign(a)), ("add(%u, %u)", u + u), ("multiply(%u, %u)", u * u),
            ("cast(%a, dtype=\"uint8\")", a.view(np.uint8)), ("cast(%u, dtype=\"int64\")", u.astype(np.int64)),
            ("cast(%a, dtype=\"float16\")", a.astype(np.float16)), ("cast(%t, dtype=\"int32\")", t.astype(np.int32))]
    several("whole_numbers", {"a": a, "b": b, "t": t, "u": u}, rows)


def markers(rng):
    """Operators that leave the value as it is, and those that only ask for its size."""
    x = f32(rng, 2, 3)
    rows = [("on_device(%x, virtual_device=None, constrain_result=True)", x), ("device_copy(%x, src_dev_type=1, dst_dev_type=2)", x),
            ("annotation.stop_fusion(%x)", x), ("annotation.checkpoint(%x)", x), ("annotation.cast_hint(%x, dtype=\"int8\")", x),
            ("annotation.bitpack_start(%x)", x), ("annotation.bitpack_end(%x)", x),
            ("annotation.compiler_begin(%x, compiler=\"npu\"); annotation.compiler_end($, compiler=\"npu\")", x),
            ("annotation.with_funcid(%x)", x), ("copy(%x); add($, $)", x + x), ("debug(%x)", x), ("ones_like(%x)", np.ones_like(x)), ("zeros_like(%x)", np.zeros_like(x)),
            ("contrib.ndarray_size(%x)", np.array(6, np.int32)), ("ndarray_size(%x, dtype=\"int64\")", np.array(6, np.int64)),
            ("shape_of(%x, dtype=\"int32\")", np.array([2, 3], np.int32)), ("_contrib_reverse_reshape(%x, newshape=[3, -1])", x.reshape(3, 2)),
            ("transpose(%x, axes=[1, 0])", x.T.copy()), ("strided_slice(%x, begin=[1, 2], end=[-3, -4], strides=[-1, -1])", x[::-1, ::-1].copy())]
    several("markers", {"x": x}, rows)


def windows(x, out, axes_kernel, reduce):
    """Adaptive pooling over the last axes: output i takes [floor(i*n/m), ceil((i+1)*n/m))."""
    lead = x.ndim - len(out)
    y = np.zeros(x.shape[:lead] + tuple(out))
    for at in itertools.product(*map(range, out)):
        cut = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, m, n in zip(at, out, x.shape[lead:]))
        y[(Ellipsis,) + at] = reduce(x[(Ellipsis,) + cut], axis=tuple(range(lead, x.ndim)))
    return y


def pool3d(x, size, stride, pad, reduce, count_pad):
    fill = -np.inf if reduce is np.max else 0.0
    p = np.pad(x, ((0, 0), (0, 0)) + ((pad, pad),) * 3, constant_values=fill)
    ones = np.pad(np.ones_like(x), ((0, 0), (0, 0)) + ((pad, pad),) * 3)
    out = [(n - size) // stride + 1 for n in p.shape[2:]]
    y = np.zeros(x.shape[:2] + tuple(out))
    for at in itertools.product(*map(range, out)):
        cut = (slice(None), slice(None)) + tuple(slice(i * stride, i * stride + size) for i in at)
        if reduce is np.max:
            y[(Ellipsis,) + at] = p[cut].max(axis=(2, 3, 4))
        else:
            y[(Ellipsis,) + at] = p[cut].sum(axis=(2, 3, 4)) / (size ** 3 if count_pad else ones[cut].sum(axis=(2, 3, 4)))
    return y


def pooling(rng):
    """Adaptive windows in two and three dimensions, pools over volumes."""
    x, v = f32(rng, 1, 2, 7, 5), f32(rng, 1, 2, 5, 6, 7)
    dx, dv, to = x.astype(np.float64), v.astype(np.float64), as_type(np.float32)
    rows = []
    for op, how in (("max", np.max), ("avg", np.mean)):
        rows += [(f"nn.adaptive_{op}_pool2d(%x, output_size=[3, 2])", to(windows(dx, (3, 2), 2, how))),
                 (f"contrib.adaptive_{op}_pool2d(%x, output_size=[2, 4])", to(windows(dx, (2, 4), 2, how))),
                 (f"nn.adaptive_{op}_pool3d(%v, output_size=[2, 3, 4])", to(windows(dv, (2, 3, 4), 3, how))),
                 (f"nn.global_{op}_pool2d(%x)", to(windows(dx, (1, 1), 2, how)))]
    rows += [("nn.max_pool3d(%v, pool_size=[3, 3, 3], strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1])", to(pool3d(dv, 3, 2, 1, np.max, False))),
             ("nn.avg_pool3d(%v, pool_size=[3, 3, 3], strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1])", to(pool3d(dv, 3, 2, 1, np.mean, False))),
             ("nn.avg_pool3d(%v, pool_size=[2, 2, 2], strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1], count_include_pad=True)",
              to(pool3d(dv, 2, 2, 1, np.mean, True)))]
    several("pooling", {"x": x, "v": v}, rows)


def conv_transpose(x, w, stride, pad, outpad, groups=1):
    """x[n][c][spatial], w[c][co/groups][kernel]; any rank."""
    rank = x.ndim - 2
    cg, c = w.shape[1], x.shape[1]
    full = [(n - 1) * stride + k + outpad for n, k in zip(x.shape[2:], w.shape[2:])]
    y = np.zeros((x.shape[0], cg * groups) + tuple(full), x.dtype)
    for at in itertools.product(*map(range, x.shape[2:])):
        cut = tuple(slice(i * stride, i * stride + k) for i, k in zip(at, w.shape[2:]))
        for i in range(c):
            g = i // (c // groups)
            y[(slice(None), slice(g * cg, (g + 1) * cg)) + cut] += \
                x[(slice(None), i) + at].reshape((-1,) + (1,) * (rank + 1)) * w[i]
    return y[(Ellipsis,) + tuple(slice(pad, n - pad) for n in full)]


def convolutions(rng):
    """Transposed convolution of volumes, depthwise convolution in blocks of channels."""
    v, w = f32(rng, 1, 2, 3, 4, 3), f32(rng, 2, 3, 2, 3, 2, scale=0.5)
    x, k = f32(rng, 1, 2, 6, 5, 4), f32(rng, 2, 1, 3, 3, 1, 4, scale=0.5)
    to, rows = as_type(np.float32), []
    dv, dw = v.astype(np.float64), w.astype(np.float64)
    rows.append(("nn.conv3d_transpose(%v, %w, channels=3, kernel_size=[2, 3, 2], strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1], output_padding=[1, 1, 1])",
                 to(conv_transpose(dv, dw, 2, 1, 1))))
    p = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1), (0, 0)))
    y = np.zeros((1, 2, 6, 5, 4))
    for i, j in itertools.product(range(3), range(3)):
        y += p[:, :, i:i + 6, j:j + 5] * k[None, :, 0, i, j, 0][:, :, None, None]
    rows.append(("nn.contrib_depthwise_conv2d_NCHWc(%x, %k, padding=[1, 1, 1, 1], groups=8, channels=8, kernel_size=[3, 3], "
                 "data_layout=\"NCHW4c\", kernel_layout=\"OIHW1i4o\", out_layout=\"NCHW4c\")", to(y)))
    several("convolutions", {"v": v, "w": w, "x": x, "k": k}, rows)


def linear_resize(x, size):
    """Half-pixel linear interpolation of the last axes, one axis after the other."""
    lead = x.ndim - len(size)
    for axis, m in enumerate(size):
        n = x.shape[lead + axis]
        at = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
        low = np.floor(at).astype(int)
        high, f = np.minimum(low + 1, n - 1), at - low
        shape = [1] * x.ndim
        shape[lead + axis] = m
        x = np.take(x, low, lead + axis) * (1 - f).reshape(shape) + np.take(x, high, lead + axis) * f.reshape(shape)
    return x


def placed(rng):
    """Elements that move: scatter, resizing of volumes, and shapes that constants of the text decide."""
    x, v, i = f32(rng, 3, 4), f32(rng, 1, 2, 3, 4, 3), np.array([[2, 0, 1, 2]], np.int64)
    u = f32(rng, 1, 4)
    s = x.copy()
    for j in range(4):
        s[i[0, j], j] = u[0, j]
    to = as_type(np.float32)
    ints = [np.array(c, np.int64) for c in ([2, 3, 4], [0], [5, 2], [[1, 0], [0, 2]], [5, 6])]
    names = [f"meta[relay.Constant][{n}]" for n in range(len(ints))]
    one, row, img = f32(rng, 1, 3, 1), f32(rng, 1, 4), f32(rng, 1, 1, 3, 2)
    hot = np.array([1, 0, 2], np.int32)
    onehot = np.zeros((3, 3), np.float32)
    onehot[np.arange(3), hot] = 1
    dense = np.zeros((5, 2), np.float32)
    dense[1, 0], dense[4, 1] = 7, -3
    nearest2 = img.repeat(2, 2).repeat(2, 3)
    nearest3 = v.repeat(2, 2).repeat(2, 3).repeat(2, 4)
    consts = ints + [np.array(2.0, np.float32), np.array(1.0, np.float32), np.array(0.0, np.float32), np.array(3, np.int32),
                     np.array([[1, 0], [4, 1]], np.int64), np.array([7, -3], np.float32), np.zeros(0, np.float32), np.array([2], np.int64)]
    c = [f"meta[relay.Constant][{n}]" for n in range(len(consts))]
    rows = [("scatter(%x, %i, %u, axis=0)", s), ("image.resize3d(%v, size=[5, 6, 7])", to(linear_resize(v.astype(np.float64), (5, 6, 7)))),
            (f"dyn.broadcast_to(%row, {names[0]})", np.broadcast_to(row, (2, 3, 4)).copy()), (f"dyn.full({c[5]}, {names[2]}, dtype=\"float32\")", np.full((5, 2), 2, np.float32)),
            (f"dyn.ones({names[2]}, dtype=\"float32\")", np.ones((5, 2), np.float32)), (f"dyn.zeros({names[2]}, dtype=\"int32\")", np.zeros((5, 2), np.int32)),
            (f"dyn.squeeze(%one, {names[1]})", one[0]), (f"dyn.expand_dims(%x, {c[12]}, num_newaxis=1)", x[:, :, None]),
            (f"dyn.one_hot(%hot, {c[6]}, {c[7]}, {c[8]}, axis=-1, dtype=\"float32\")", onehot),
            (f"dyn.nn.pad(%x, {names[3]}, {c[5]})", np.pad(x, ((1, 0), (0, 2)), constant_values=2)),
            (f"dyn.nn.upsampling(%img, {c[5]}, {c[5]})", nearest2), (f"dyn.nn.upsampling3d(%v, {c[5]}, {c[5]}, {c[5]}, coordinate_transformation_mode=\"asymmetric\")", nearest3),
            (f"dyn.image.resize2d(%img, {names[4]}, {c[11]})", to(linear_resize(img.astype(np.float64), (5, 6)))),
            (f"dyn.sparse_to_dense({c[9]}, {names[2]}, {c[10]}, {c[7]})", dense)]
    several("placed", {"x": x, "v": v, "i": i, "u": u, "one": one, "row": row, "img": img, "hot": hot}, rows, consts)


def edges(rng):
    """Tensors without elements, of rank 0, of one element, and read with strides, through each family."""
    z, r, o, x = np.zeros((0, 3), np.float32), np.array(2.5, np.float32), f32(rng, 1), f32(rng, 4, 6)
    half = x[::2, ::-1]
    cut = "strided_slice(%x, begin=[0, 5], end=[4, -7], strides=[2, -1]); "
    soft = np.exp(half.astype(np.float64))
    soft /= soft.sum(axis=1, keepdims=True)
    to = as_type(np.float32)
    rows = [("nn.relu(%z)", z), ("exp(%z)", z), ("add(%z, %o)", z), ("add(%z, %r)", z), ("sum(%z, axis=[0])", np.zeros(3, np.float32)),
            ("sum(%z)", np.array(0, np.float32)), ("prod(%z, axis=[0], keepdims=True)", np.ones((1, 3), np.float32)),
            ("reshape(%z, newshape=[3, 0], allowzero=True)", z.T.copy()), ("transpose(%z, axes=None)", z.T.copy()), ("nn.softmax(%z)", z), ("zeros_like(%z)", z),
            ("cast(%z, dtype=\"int8\")", z.astype(np.int8)), ("nn.dense(%z, %o3)", np.zeros((0, 2), np.float32)), ("tile(%z, reps=[2, 2])", np.zeros((0, 6), np.float32)),
            ("take(%x, %none, axis=0)", np.zeros((0, 6), np.float32)), ("exp(%r)", to(np.exp(2.5))), ("add(%r, %r)", np.array(5, np.float32)),
            ("sum(%r)", r), ("expand_dims(%r, axis=0)", r.reshape(1)), ("reshape(%r, newshape=[1, 1])", r.reshape(1, 1)), ("clip(%r, a_min=0f, a_max=1f)", np.array(1, np.float32)),
            ("broadcast_to(%r, shape=[2, 3])", np.full((2, 3), 2.5, np.float32)), ("where(%yes, %r, %o)", r.reshape(1)), ("nn.softmax(%o)", np.ones(1, np.float32)),
            ("max(%o)", o.max()), ("argmax(%o)", np.array(0, np.int32)), ("sort(%o)", o), ("cumsum(%o)", o), ("mean(%o, axis=[0])", to(o.mean())),
            ("squeeze(%o)", o[0]), (cut + "nn.relu($)", np.maximum(half, 0)), (cut + "sum($, axis=[1])", to(half.astype(np.float64).sum(axis=1))),
            (cut + "nn.softmax($)", to(soft)), (cut + "transpose($, axes=None)", half.T.copy()), (cut + "argmax($, axis=[1])", half.argmax(axis=1).astype(np.int32)),
            (cut + "reshape($, newshape=[3, 4])", half.reshape(3, 4)), (cut + "nn.dense($, %w6)", None), (cut + "sort($, axis=1)", np.sort(half, axis=1)),
            (cut + "cumsum($, axis=1)", to(np.cumsum(half.astype(np.float64), axis=1))), (cut + "take($, %two, axis=1)", half[:, [3, 1]].copy())]
    low = np.finfo(np.float32).min
    rows += [("nn.conv2d(%zi, %zw, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])", np.zeros((0, 4, 8, 8), np.float32)),
             ("nn.max_pool2d(%zi, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])", np.zeros((0, 3, 4, 4), np.float32)),
             ("nn.dense(%zk, %zl)", np.zeros((2, 3), np.float32)), ("max(%z, axis=[0])", np.full(3, low)), ("min(%z, axis=[0])", np.full(3, -low)),
             ("nn.softmax(%zk)", np.zeros((2, 0), np.float32)), ("sort(%z, axis=0)", z), ("cumsum(%z, axis=0)", z), ("topk(%z, k=0, axis=0, ret_type=\"values\")", z),
             ("image.resize2d(%zi, size=[5, 5])", np.zeros((0, 3, 5, 5), np.float32)),
             ("nn.pad(%z, 1f, pad_width=[[1, 0], [0, 1]])", np.ones((1, 4), np.float32)),
             ("strided_slice(%x, begin=[10], end=[20], strides=[1])", np.zeros((0, 6), np.float32)),
             ("strided_slice(%x, begin=[-1], end=[-10], strides=[-1])", x[::-1].copy())]
    o3, w6 = f32(rng, 2, 3), f32(rng, 5, 6)
    rows = [(t, to(half.astype(np.float64) @ w6.T.astype(np.float64)) if v is None else v) for t, v in rows]
    several("edges", {"zi": np.zeros((0, 3, 8, 8), np.float32), "zw": f32(rng, 4, 3, 3, 3), "zk": np.zeros((2, 0), np.float32),
                      "zl": np.zeros((3, 0), np.float32), "z": z, "r": r, "o": o, "x": x, "o3": o3, "w6": w6, "none": np.zeros(0, np.int32), "two": np.array([3, 1], np.int32),
                      "yes": np.array([True])}, rows)


def products(rng):
    """Shapes that products and permutations get wrong first: batches of one, rotated axes, groups, 1x1 with a stride, biases of each rank."""
    a, b, x = f32(rng, 1, 2, 3), f32(rng, 4, 5, 3), f32(rng, 2, 3, 4)
    i, g, p = f32(rng, 1, 4, 5, 5), f32(rng, 6, 2, 3, 3, scale=0.3), f32(rng, 3, 4, 1, 1)
    m, n = f32(rng, 2, 7), f32(rng, 3, 7)
    to = as_type(np.float32)
    product = m.astype(np.float64) @ n.T
    halves = np.concatenate([conv2d(i[:, :2], g[:3], 1, 1), conv2d(i[:, 2:], g[3:], 1, 1)], axis=1)
    rows = [("nn.batch_matmul(%a, %b, transpose_b=True)", to(np.einsum("bmk,bnk->bmn", np.broadcast_to(a, (4, 2, 3)).astype(np.float64), b))),
            ("transpose(%x, axes=[1, 2, 0])", x.transpose(1, 2, 0).copy()), ("transpose(%x, axes=[2, 0, 1])", x.transpose(2, 0, 1).copy()),
            ("nn.conv2d(%i, %g, padding=[1, 1, 1, 1], groups=2, channels=6, kernel_size=[3, 3])", to(halves)),
            ("nn.conv2d(%i, %p, strides=[2, 2], padding=[0, 0, 0, 0], channels=3, kernel_size=[1, 1])", to(conv2d(i, p, 2, 0)))]
    inputs = {"a": a, "b": b, "x": x, "i": i, "g": g, "p": p, "m": m, "n": n}
    for k, shape in enumerate(((), (3,), (1, 3), (2, 1), (2, 3))):
        inputs[f"c{k}"] = f32(rng, *shape) if shape else np.array(0.75, np.float32)
        rows.append((f"nn.dense(%m, %n); add($, %c{k})", to(product + inputs[f"c{k}"])))
    several("products", inputs, rows)


def numbers(rng):
    """Values that are no numbers, halves, and what does not fit: by the rules of the dialect, whatever the optimiser does."""
    nan, inf = np.nan, np.inf
    a, b = np.array([nan, 1, -0.0, inf, 3], np.float32), np.array([1, nan, 0.0, -inf, nan], np.float32)
    h = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0], np.float32)
    away = np.sign(h) * np.floor(np.abs(h.astype(np.float64)) + 0.5)
    q = np.array([1, 3, -1, -3], np.int32)
    k = np.array([nan, inf, -inf, 0, 3], np.float32)
    pick = lambda test: np.where(test(a, b), a, b)
    consts = [k, np.array(0.5, np.float32), np.array(1.0, np.float32), np.array(0, np.int32), h]
    c = [f"meta[relay.Constant][{i}]" for i in range(len(consts))]
    with np.errstate(invalid="ignore"):
        rows = [("maximum(%a, %b)", pick(np.greater)), ("minimum(%a, %b)", pick(np.less)), ("nn.relu(%a)", np.where(a > 0, a, np.float32(0))),
                ("isnan(%a)", np.isnan(a)), ("isinf(%a)", np.isinf(a)), ("isfinite(%b)", np.isfinite(b)), (f"add(%a, {c[0]})", a + k),
                ("round(%h)", as_type(np.float32)(away)), (f"round({c[4]})", as_type(np.float32)(away)), ("clip(%h, a_min=-inff, a_max=1f)", np.minimum(h, np.float32(1))),
                ("add(%h, --1f)", h + np.float32(1)),
                ("equal(%a, %a)", a == a), ("less(%a, %b)", a < b),
                (f"qnn.requantize(%q, {c[1]}, {c[3]}, {c[2]}, {c[3]}, rounding=\"UPWARD\", out_dtype=\"int8\")", np.array([1, 2, 0, -1], np.int8)),
                (f"qnn.requantize(%q, {c[1]}, {c[3]}, {c[2]}, {c[3]}, rounding=\"TONEAREST\", out_dtype=\"int8\")", np.array([1, 2, -1, -2], np.int8))]
    several("numbers", {"a": a, "b": b, "h": h, "q": q}, rows, consts)


# ---- quantised ----

def half_away(v):
    return np.sign(v) * np.floor(np.abs(v) + 0.5)


def quantised(rng):
    """Products of int8 and uint8 with zero points, and functions as tables."""
    def i8(*shape):
        return rng.integers(-128, 128, shape).astype(np.int8)
    a, b, x, w = i8(2, 3, 5), i8(2, 4, 5), i8(1, 3, 4, 4), i8(3, 2, 3, 3)
    d, e = rng.integers(0, 256, (3, 8)).astype(np.uint8), i8(4, 8)
    codes = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    c = [np.array(v, np.int32) for v in (3, -5, 128)] + [np.array(v, np.float32) for v in (0.05, 0.25, 0.02, 0.0078125)]
    k = [f"meta[relay.Constant][{i}]" for i in range(len(c))]
    wide = as_type(np.int32)
    rows = [(f"qnn.batch_matmul(%a, %b, {k[0]}, {k[1]}, {k[3]}, {k[4]}, out_dtype=\"int32\")",
             wide(np.einsum("bmk,bnk->bmn", a.astype(int) - 3, b.astype(int) + 5))),
            (f"qnn.conv2d_transpose(%x, %w, {k[0]}, {k[1]}, {k[3]}, {k[4]}, channels=2, kernel_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], "
             "output_padding=[1, 1], out_dtype=\"int32\")", wide(conv_transpose(x.astype(int) - 3, w.astype(int) + 5, 2, 1, 1))),
            (f"qnn.contrib_dense_pack(%d, %e, {k[2]}, {k[1]}, {k[3]}, {k[4]}, units=4, out_dtype=\"int32\")",
             wide((d.astype(int) - 128) @ (e.astype(int) + 5).T))]
    packed = e.reshape(2, 2, 8).transpose(0, 2, 1).copy()
    for name, f in (("exp", np.exp), ("sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("erf", lambda v: np.vectorize(math.erf)(v).astype(np.float32)),
                    ("hardswish", lambda v: v * np.clip(v + 3, 0, 6) / 6), ("tanh", np.tanh), ("abs", np.abs)):
        real = ((codes.astype(np.float32) - np.float32(-5)) * np.float32(0.02)).astype(np.float32)
        y = half_away(f(real).astype(np.float32) / np.float32(0.05)) + 3
        rows.append((f"qnn.{name}(%codes, {k[5]}, {k[1]}, {k[3]}, {k[0]})", np.clip(y, -128, 127).astype(np.int8)))
    real = (np.arange(1, 129, dtype=np.float32) * np.float32(0.02)).astype(np.float32)
    y = half_away((1 / np.sqrt(real)).astype(np.float32) / np.float32(0.05)) + 3
    several("quantised", {"a": a, "b": b, "x": x, "w": w, "d": d, "e": packed, "codes": codes,
                          "positive": np.arange(-4, 124).astype(np.int8)},
            rows + [(f"qnn.rsqrt(%positive, {k[5]}, {k[1]}, {k[3]}, {k[0]})", np.clip(y, -128, 127).astype(np.int8))], c)


if __name__ == "__main__":
    for make in (functions, whole_numbers, markers, pooling, convolutions, placed, edges, products, numbers, quantised):
        make(np.random.default_rng(20261))
