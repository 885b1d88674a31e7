#!/usr/bin/python3
"""Writes the small models of this folder: text, parameters, inputs, and outputs computed here in double precision.

Run by hand when a model is added (Debian's python3-numpy is enough); the tests read only what is committed.
"""
import base64
import json
import os
import struct

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = {"f": 2, "i": 0, "u": 1}


# ---- operators, straight from their definitions ----

def conv2d(x, w, strides=1, pad=0, groups=1):
    """x[n][c][h][w], w[co][ci/groups][kh][kw]"""
    n, c, _, _ = x.shape
    co, cg, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow = (x.shape[2] - kh) // strides + 1, (x.shape[3] - kw) // strides + 1
    out = np.zeros((n, co, oh, ow))
    for o in range(co):
        first = o // (co // groups) * cg
        for i in range(oh):
            for j in range(ow):
                window = x[:, first:first + cg, i * strides:i * strides + kh, j * strides:j * strides + kw]
                out[:, o, i, j] = (window * w[o]).sum(axis=(1, 2, 3))
    return out


def pool(x, size, how):
    n, c, h, w = x.shape
    return how(x.reshape(n, c, h // size, size, w // size, size), axis=(3, 5))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def nhwc(x):
    return x.transpose(0, 3, 1, 2)


def relu(x):
    return np.maximum(x, 0)


# ---- formats ----

def blob(value):
    raw = np.ascontiguousarray(value).tobytes()
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, value.ndim, CODE[value.dtype.kind], 8 * value.itemsize, 1)
    return head + struct.pack(f"<{value.ndim}qq", *value.shape, len(raw)) + raw


def params_file(params):
    out = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(params))
    for name in params:
        out += struct.pack("<Q", len(name)) + name.encode()
    return out + struct.pack("<Q", len(params)) + b"".join(blob(value) for value in params.values())


def metadata(constants):
    first = 3 + len(constants)
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
             {"type_key": "Array", "data": list(range(3, first))}]
    nodes += [{"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": str(i), "span": "0",
                                                       "virtual_device_": "0"}} for i in range(len(constants))]
    blobs = [base64.b64encode(blob(value)).decode() for value in constants]
    return "#[metadata]\n" + json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": blobs,
                                         "attrs": {"tvm_version": "0.16.0"}}, indent=2) + "\n"


def tensor(value):
    name = {"f": "float", "i": "int", "u": "uint"}[value.dtype.kind] + str(8 * value.itemsize)
    return f"Tensor[({', '.join(map(str, value.shape))}), {name}]"


def write(name, text, inputs, outputs, params=None, constants=()):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.relay"), "w") as f:
        f.write('#[version = "0.0.5"]\n' + text + ("\n" + metadata(constants) if constants else ""))
    if params:
        with open(os.path.join(folder, "model.params"), "wb") as f:
            f.write(params_file(params))
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            np.save(os.path.join(folder, f"{kind}_{i}.npy"), value)


def f32(rng, *shape, scale=1.0):
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def declared(params):
    return "".join(f", %{name}: {tensor(value)}" for name, value in params.items())


# ---- the models ----

def residual_nhwc(rng):
    """Channels last, a stride, a projection and a residual addition; weights in the metadata section."""
    x, w1, b1 = f32(rng, 1, 8, 8, 5), f32(rng, 3, 3, 5, 12, scale=0.2), f32(rng, 12)
    w2, wp, wd = f32(rng, 3, 3, 12, 12, scale=0.1), f32(rng, 1, 1, 5, 12, scale=0.3), f32(rng, 7, 48, scale=0.2)
    text = """def @main(%x: Tensor[(1, 8, 8, 5), float32], output_tensor_names=["Identity"]) -> Tensor[(1, 7), float32] {
  %0 = nn.conv2d(%x, meta[relay.Constant][0], strides=[2, 2], padding=[1, 1, 1, 1], channels=12, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %1 = nn.bias_add(%0, meta[relay.Constant][1], axis=3);
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%2, meta[relay.Constant][2], padding=[1, 1, 1, 1], channels=12, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %4 = nn.conv2d(%x, meta[relay.Constant][3], strides=[2, 2], padding=[0, 0, 0, 0], channels=12, kernel_size=[1, 1], data_layout="NHWC", kernel_layout="HWIO");
  %5 = add(%3, %4);
  %6 = nn.relu(%5);
  %7 = nn.avg_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout="NHWC");
  %8 = reshape(%7, newshape=[-1, 48]);
  nn.dense(%8, meta[relay.Constant][4], units=7)
}
"""
    def hwio(w):
        return w.transpose(3, 2, 0, 1)
    h = relu(conv2d(nhwc(x), hwio(w1), 2, 1) + b1[:, None, None])
    h = relu(conv2d(h, hwio(w2), 1, 1) + conv2d(nhwc(x), hwio(wp), 2, 0))
    y = pool(h, 2, np.mean).transpose(0, 2, 3, 1).reshape(1, 48) @ wd.T
    write("residual_nhwc", text, [x], [y.astype(np.float32)], constants=[w1, b1, w2, wp, wd])


def depthwise_nchw(rng):
    """Channels first: depthwise and pointwise convolutions, batch norm, clip, padding, global pooling, softmax."""
    x = f32(rng, 1, 6, 9, 7)
    p = {"v0.d.weight": f32(rng, 6, 1, 3, 3, scale=0.5), "v0.p.weight": f32(rng, 10, 6, 1, 1, scale=0.4),
         "bn.gamma": f32(rng, 10), "bn.beta": f32(rng, 10), "bn.mean": f32(rng, 10, scale=0.3),
         "bn.var": np.abs(f32(rng, 10)) + np.float32(0.5), "onnx::Conv_12": f32(rng, 20, 5, 3, 3, scale=0.3)}
    text = f"""def @main(%input: {tensor(x)}{declared(p)}) -> Tensor[(1, 20), float32] {{
  %0 = nn.conv2d(%input, %v0.d.weight, padding=[1, 1, 1, 1], groups=6, channels=6, kernel_size=[3, 3]);
  %1 = nn.conv2d(%0, %v0.p.weight, padding=[0, 0, 0, 0], channels=10, kernel_size=[1, 1]);
  %2 = nn.batch_norm(%1, %bn.gamma, %bn.beta, %bn.mean, %bn.var, epsilon=0.001f);
  %3 = %2.0;
  %4 = clip(%3, a_min=0f, a_max=6f);
  %5 = nn.pad(%4, 0f, pad_width=[[0, 0], [0, 0], [2, 1], [0, 2]]);
  %6 = nn.conv2d(%5, %onnx::Conv_12, strides=[2, 2], padding=[0, 0, 0, 0], groups=2, channels=20, kernel_size=[3, 3]);
  %7 = nn.global_avg_pool2d(%6);
  %8 = nn.batch_flatten(%7);
  nn.softmax(%8)
}}
"""
    h = conv2d(conv2d(x, p["v0.d.weight"], 1, 1, 6), p["v0.p.weight"])
    scale = p["bn.gamma"] / np.sqrt(p["bn.var"].astype(np.float64) + 0.001)
    h = np.clip((h - p["bn.mean"][:, None, None]) * scale[:, None, None] + p["bn.beta"][:, None, None], 0, 6)
    h = np.pad(h, ((0, 0), (0, 0), (2, 1), (0, 2)))
    y = softmax(conv2d(h, p["onnx::Conv_12"], 2, 0, 2).mean(axis=(2, 3)))
    write("depthwise_nchw", text, [x], [y.astype(np.float32)], params=p)


def several_outputs(rng):
    """Two inputs, three outputs, one of them an input; names that C and its headers own."""
    a, b = f32(rng, 3, 4), f32(rng, 3, 4)
    p = {"register": f32(rng, 5, 4), "v1.bias": f32(rng, 5)}
    text = f"""def @main(%int: {tensor(a)}, %serving_default_input_1:0: {tensor(b)}{declared(p)}) {{
  %0 = add(%int, %serving_default_input_1:0);
  %1 = nn.relu(%0);
  %2 = nn.dense(%1, %register, units=5);
  %3 = nn.bias_add(%2, %v1.bias);
  (%1, %3, %int)
}}
"""
    h = relu(a + b)
    y = h.astype(np.float64) @ p["register"].T + p["v1.bias"]
    write("several_outputs", text, [a, b], [h, y.astype(np.float32), a], params=p)


def integers(rng):
    """Whole numbers compare exactly; addition wraps around."""
    a = rng.integers(-2 ** 31, 2 ** 31, (2, 3, 5)).astype(np.int32)
    b = rng.integers(-2 ** 31, 2 ** 31, (3, 1)).astype(np.int32)
    b[0, 0] = a[0, 0, 0] = -2 ** 31
    text = f"""def @main(%a: {tensor(a)}, %b: {tensor(b)}) -> Tensor[(2, 15), int32] {{
  %0 = add(%a, %b);
  reshape(%0, newshape=[2, -1])
}}
"""
    write("integers", text, [a, b], [(a + b).reshape(2, 15)])


def odd_sizes(rng):
    """Extents that no tile divides: 13 channels, 17 units, 7 by 5 pixels, max pooling."""
    x = f32(rng, 1, 3, 14, 10)
    p = {"c.weight": f32(rng, 13, 3, 3, 3, scale=0.3), "c.bias": f32(rng, 13), "d.weight": f32(rng, 17, 455, scale=0.1),
         "d.bias": f32(rng, 17)}
    text = f"""def @main(%x: {tensor(x)}{declared(p)}) -> Tensor[(1, 17), float32] {{
  %0 = nn.conv2d(%x, %c.weight, padding=[1, 1, 1, 1], channels=13, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %c.bias);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %4 = nn.batch_flatten(%3);
  %5 = nn.dense(%4, %d.weight, units=17);
  add(%5, %d.bias)
}}
"""
    h = pool(relu(conv2d(x, p["c.weight"], 1, 1) + p["c.bias"][:, None, None]), 2, np.max)
    y = h.reshape(1, -1) @ p["d.weight"].T + p["d.bias"]
    write("odd_sizes", text, [x], [y.astype(np.float32)], params=p)


if __name__ == "__main__":
    for make in (residual_nhwc, depthwise_nchw, several_outputs, integers, odd_sizes):
        make(np.random.default_rng(20240))
