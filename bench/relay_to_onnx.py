#!/usr/bin/env python3
"""Writes the ONNX twin of a Relay model, so that onnxruntime can be timed on the same network in the same run.

    relay_to_onnx.py model.relay model.params out.onnx

Covers the operators of the float convolutional models (conv2d, dense, pooling, elementwise, batch_norm, softmax).
Needs python3-numpy and python3-onnx. Not part of the build."""
import base64
import json
import re
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DTYPES = {(2, 32): np.float32, (0, 64): np.int64, (0, 32): np.int32, (0, 8): np.int8, (1, 8): np.uint8}


def read_blob(data, at):
    ndim, = struct.unpack_from("<i", data, at + 24)
    code, bits = data[at + 28], data[at + 29]
    shape = struct.unpack_from("<%dq" % ndim, data, at + 32)
    size, = struct.unpack_from("<q", data, at + 32 + 8 * ndim)
    start = at + 40 + 8 * ndim
    return np.frombuffer(data[start:start + size], DTYPES[code, bits]).reshape(shape), start + size


def read_params(path):
    with open(path, "rb") as f:
        data = f.read()
    count, = struct.unpack_from("<Q", data, 16)
    at, names = 24, []
    for _ in range(count):
        n, = struct.unpack_from("<Q", data, at)
        names.append(data[at + 8:at + 8 + n].decode())
        at += 8 + n
    at += 8
    out = {}
    for name in names:
        out[name], at = read_blob(data, at)
    return out


def read_meta(text):
    doc = json.loads(text)
    nodes = doc["nodes"]
    root = nodes[doc["root"]]
    array = nodes[root["data"][root["keys"].index("relay.Constant")]]
    blobs = doc["b64ndarrays"]
    return [read_blob(base64.b64decode(blobs[int(nodes[i]["attrs"]["data"])]), 0)[0] for i in array["data"]]


class Importer:
    def __init__(self, text, params):
        self.body, _, meta = text.partition("#[metadata]")
        self.meta = read_meta(meta) if meta else []
        self.params = params
        self.nodes, self.inits, self.value = [], [], {}

    def constant(self, array, hint):
        name = "%s_%d" % (hint, len(self.inits))
        self.inits.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def emit(self, op, inputs, **attrs):
        out = "t%d" % len(self.nodes)
        self.nodes.append(helper.make_node(op, inputs, [out], **attrs))
        return out

    def arg(self, text):
        text = text.strip()
        if text.startswith("meta["):
            return self.meta[int(re.search(r"\]\[(\d+)\]", text).group(1))]
        if text.startswith("%"):
            return self.value[text[1:]]
        return np.float32(text.rstrip("f"))

    @staticmethod
    def split(text):
        parts, depth, start = [], 0, 0
        for i, c in enumerate(text):
            depth += c in "([" and 1 or c in ")]" and -1 or 0
            if c == "," and depth == 0:
                parts.append(text[start:i])
                start = i + 1
        return [p.strip() for p in parts + [text[start:]] if p.strip()]

    def tensor(self, v, hint="c"):
        return v if isinstance(v, str) else self.constant(v, hint)

    def call(self, op, args, attrs):
        ints = lambda key, default: [int(x) for x in re.findall(r"-?\d+", attrs.get(key, default))]
        nhwc = attrs.get("data_layout", attrs.get("layout", '"NCHW"')) == '"NHWC"'

        def pads(n):
            p = ints("padding", "[0, 0]")
            return p if len(p) == 4 else [p[0], p[-1]] * 2

        if op == "nn.conv2d":
            w = args[1]
            if attrs.get("kernel_layout") == '"HWIO"':
                w = w.transpose(3, 2, 0, 1)
            x = self.emit("Transpose", [args[0]], perm=[0, 3, 1, 2]) if nhwc else args[0]
            y = self.emit("Conv", [x, self.constant(w, "w")], strides=ints("strides", "[1, 1]"), pads=pads(2),
                          group=int(attrs.get("groups", "1")), dilations=ints("dilation", "[1, 1]"))
            return self.emit("Transpose", [y], perm=[0, 2, 3, 1]) if nhwc else y
        if op == "nn.bias_add":
            axis = int(attrs.get("axis", "1"))
            b = args[1] if axis in (3, -1) else args[1].reshape(-1, 1, 1) if self.rank[args[0]] == 4 else args[1]
            return self.emit("Add", [args[0], self.constant(b, "b")])
        if op == "nn.dense":
            return self.emit("Gemm", [args[0], self.constant(args[1], "w")], transB=1)
        if op in ("nn.max_pool2d", "nn.avg_pool2d"):
            x = self.emit("Transpose", [args[0]], perm=[0, 3, 1, 2]) if nhwc else args[0]
            y = self.emit("MaxPool" if "max" in op else "AveragePool", [x], kernel_shape=ints("pool_size", ""),
                          strides=ints("strides", "[1, 1]"), pads=pads(2))
            return self.emit("Transpose", [y], perm=[0, 2, 3, 1]) if nhwc else y
        if op == "nn.batch_norm":
            return self.emit("BatchNormalization", [args[0]] + [self.constant(a, "bn") for a in args[1:5]], epsilon=1e-5)
        if op == "clip":
            low, high = (np.float32(attrs[k].rstrip("f")) for k in ("a_min", "a_max"))
            return self.emit("Clip", [args[0], self.constant(low, "lo"), self.constant(high, "hi")])
        if op == "reshape":
            return self.emit("Reshape", [args[0], self.constant(np.array(ints("newshape", ""), np.int64), "s")])
        if op == "nn.pad":
            assert set(re.findall(r"\d+(?=i64)", attrs["pad_width"])) <= {"0"}, "padding is not translated"
            return args[0]
        if op == "nn.softmax":
            return self.emit("Softmax", [args[0]], axis=int(attrs.get("axis", "-1")))
        simple = {"nn.relu": "Relu", "add": "Add", "nn.batch_flatten": "Flatten", "nn.global_avg_pool2d": "GlobalAveragePool"}
        return self.emit(simple[op], [self.tensor(a) for a in args])

    def run(self):
        body = re.sub(r"/\*.*?\*/", "", self.body, flags=re.S)
        head = body[body.index("def @main(") + 10:body.index(") ->")]
        self.rank, inputs = {}, []
        for p in re.finditer(r"%([^,]*?): Tensor\[\(([^)]*)\), (\w+)\]", head):
            name, shape = p.group(1), [int(d) for d in re.findall(r"\d+", p.group(2))]
            key = name[1:] if name.startswith("v") and name[1:] in self.params else name
            if key in self.params:
                self.value[name] = self.params[key]
                continue
            self.value[name] = name
            self.rank[name] = len(shape)
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        result = None
        for line in self.body[self.body.index("{") + 1:self.body.rindex("}")].splitlines():
            types = re.findall(r"ty=Tensor\[\(([^)]*)\)", line)
            line = re.sub(r"/\*.*?\*/", "", line).strip().rstrip(";")
            if not line:
                continue
            m = re.match(r"(?:%(\d+) = )?(?:([a-z_][\w.]*)\((.*)\)|%(\d+)\.0 *)$", line.strip())
            assert m, line
            if m.group(4):
                result = self.value[m.group(4)]
            else:
                parts = self.split(m.group(3))
                attrs = dict(p.split("=", 1) for p in parts if re.match(r"[a-z_]+=", p))
                args = [self.arg(p) for p in parts if not re.match(r"[a-z_]+=", p)]
                result = self.call(m.group(2), args, attrs)
            if types:
                self.rank[result] = len(re.findall(r"\d+", types[-1]))
            if m.group(1):
                self.value[m.group(1)] = result
        out = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "model", inputs, [out], self.inits)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def main():
    model, params, out = sys.argv[1:4]
    with open(model, encoding="utf-8", errors="replace") as f:
        text = f.read()
    onnx.save(Importer(text, read_params(params) if params != "-" else {}).run(), out)


main()
