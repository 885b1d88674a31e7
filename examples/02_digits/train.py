#!/usr/bin/python3
"""Trains the network of this example and writes digits.relay, digits.params and test_split.txt beside itself.

Needs Debian's python3-numpy and python3-sklearn (which bundles 1797 handwritten digits of 8x8 pixels, values 0 to 16).
A quarter of the digits is held back for testing and never seen in training. The seed is fixed; the numbers still differ
in the last digits between builds of numpy, so what was written once is committed.

    conv 3x3, 1 -> 8, ReLU, 2x2 max pool     8x8 -> 4x4
    conv 3x3, 8 -> 16, ReLU, 2x2 max pool    4x4 -> 2x2
    dense 64 -> 32, ReLU; dense 32 -> 10, softmax
"""
import os
import struct

import numpy as np
from sklearn.datasets import load_digits

SEED, EPOCHS, BATCH, RATE = 20240, 60, 32, 2e-3


class Conv:
    """3x3 convolution with one pixel of padding, as a product with the 9 shifted images of each channel."""

    def __init__(self, rng, cin, cout):
        self.w = rng.normal(0, np.sqrt(2 / (9 * cin)), (cout, cin, 3, 3)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        n, c, h, w = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        shifts = [padded[:, :, i:i + h, j:j + w] for i in range(3) for j in range(3)]
        self.columns = np.stack(shifts, axis=2).transpose(0, 3, 4, 1, 2).reshape(n * h * w, c * 9)
        self.shape = x.shape
        out = self.columns @ self.w.reshape(len(self.b), -1).T + self.b
        return out.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, grad):
        n, c, h, w = self.shape
        flat = grad.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.dw = (flat.T @ self.columns).reshape(self.w.shape)
        self.db = flat.sum(axis=0)
        columns = (flat @ self.w.reshape(len(self.b), -1)).reshape(n, h, w, c, 3, 3)
        padded = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i in range(3):
            for j in range(3):
                padded[:, :, i:i + h, j:j + w] += columns[..., i, j].transpose(0, 3, 1, 2)
        return padded[:, :, 1:-1, 1:-1]


class Dense:
    def __init__(self, rng, cin, cout):
        self.w = rng.normal(0, np.sqrt(2 / cin), (cout, cin)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, grad):
        self.dw = grad.T @ self.x
        self.db = grad.sum(axis=0)
        return grad @ self.w


class Relu:
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class Pool:
    """2x2 maximum; the gradient goes to the pixel that won."""

    def forward(self, x):
        n, c, h, w = x.shape
        self.windows = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
        self.winner = self.windows.argmax(axis=-1)
        return self.windows.max(axis=-1)

    def backward(self, grad):
        n, c, h, w = grad.shape
        out = np.zeros((n, c, h, w, 4), np.float32)
        np.put_along_axis(out, self.winner[..., None], grad[..., None], axis=-1)
        return out.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, grad):
        return grad.reshape(self.shape)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train(layers, x, y, rng):
    """Adam on the cross entropy; the rate falls along a cosine."""
    weights = [(layer, name) for layer in layers if hasattr(layer, "w") for name in ("w", "b")]
    mean = [np.zeros_like(getattr(layer, name)) for layer, name in weights]
    square = [np.zeros_like(m) for m in mean]
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x))
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for start in range(0, len(x), BATCH):
            pick = order[start:start + BATCH]
            out = x[pick]
            for layer in layers:
                out = layer.forward(out)
            grad = softmax(out)
            grad[np.arange(len(pick)), y[pick]] -= 1
            grad = (grad / len(pick)).astype(np.float32)
            for layer in reversed(layers):
                grad = layer.backward(grad)
            step += 1
            for k, (layer, name) in enumerate(weights):
                g = getattr(layer, "d" + name)
                mean[k] += 0.1 * (g - mean[k])
                square[k] += 0.001 * (g * g - square[k])
                m, v = mean[k] / (1 - 0.9 ** step), square[k] / (1 - 0.999 ** step)
                setattr(layer, name, (getattr(layer, name) - rate * m / (np.sqrt(v) + 1e-8)).astype(np.float32))


def right(layers, x, y):
    for layer in layers:
        x = layer.forward(x)
    return int((x.argmax(axis=1) == y).sum())


def relay(params):
    declared = "".join(f",\n          %{name}: Tensor[{tuple_text(value.shape)}, float32]" for name, value in params)
    return f"""#[version = "0.0.5"]
def @main(%image: Tensor[(1, 1, 8, 8), float32]{declared}) -> Tensor[(1, 10), float32] {{
  %0 = nn.conv2d(%image, %conv1.weight, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %conv1.bias);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %4 = nn.conv2d(%3, %conv2.weight, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %5 = nn.bias_add(%4, %conv2.bias);
  %6 = nn.relu(%5);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %8 = nn.batch_flatten(%7);
  %9 = nn.dense(%8, %fc1.weight, units=32);
  %10 = add(%9, %fc1.bias);
  %11 = nn.relu(%10);
  %12 = nn.dense(%11, %fc2.weight, units=10);
  %13 = add(%12, %fc2.bias);
  nn.softmax(%13, axis=1)
}}
"""


def tuple_text(shape):
    return "(" + ", ".join(str(n) for n in shape) + ")"


def params_file(params):
    """TVM's parameter format: names, then for each a header of dtype and shape and the bytes."""
    out = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(params))
    for name, _ in params:
        out += struct.pack("<Q", len(name)) + name.encode()
    out += struct.pack("<Q", len(params))
    for _, value in params:
        raw = np.ascontiguousarray(value, "<f4").tobytes()
        out += struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, value.ndim, 2, 32, 1)
        out += struct.pack(f"<{value.ndim}q", *value.shape) + struct.pack("<q", len(raw)) + raw
    return out


def main():
    rng = np.random.default_rng(SEED)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    pixels, labels = digits.images[order].astype(np.int64), digits.target[order]
    x = (pixels[:, None] / 16).astype(np.float32)
    held = len(labels) // 4
    layers = [Conv(rng, 1, 8), Relu(), Pool(), Conv(rng, 8, 16), Relu(), Pool(), Flatten(),
              Dense(rng, 64, 32), Relu(), Dense(rng, 32, 10)]
    train(layers, x[held:], labels[held:], rng)
    print(f"training: {right(layers, x[held:], labels[held:])} of {len(labels) - held} right")
    print(f"test: {right(layers, x[:held], labels[:held])} of {held} right")

    named = zip(("conv1", "conv2", "fc1", "fc2"), (layer for layer in layers if hasattr(layer, "w")))
    params = [(f"{name}.{part}", value) for name, layer in named for part, value in (("weight", layer.w), ("bias", layer.b))]
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "digits.relay"), "w") as f:
        f.write(relay(params))
    with open(os.path.join(here, "digits.params"), "wb") as f:
        f.write(params_file(params))
    with open(os.path.join(here, "test_split.txt"), "w") as f:
        for label, image in zip(labels[:held], pixels[:held]):
            f.write(f"{label} {''.join('0123456789abcdefg'[p] for p in image.ravel())}\n")


if __name__ == "__main__":
    main()
