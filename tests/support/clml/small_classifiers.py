"""Small classifiers for CLML, of the same layers as those of `builders`."""

from __future__ import annotations

import onnx

from support.onnx import builders
from support.onnx.builders import Graph


class _Layers(Graph):
    """Layers that the other networks do not have."""

    def conv_relu(
        self,
        x: str,
        cin: int,
        cout: int,
        kernel: tuple[int, int],
        same: bool = True,
        **more: object,
    ) -> str:
        """A convolution with a batch norm and ReLU, padded on all sides or not at all."""
        h, w = kernel
        filters = self.normal(cout, cin, h, w, scale=(2 / (cin * h * w)) ** 0.5)
        pads = [h // 2, w // 2] * 2 if same else [0] * 4
        return self.act(self.norm(self.op("Conv", x, filters, pads=pads, **more), cout), "relu")


def inception_v3() -> onnx.ModelProto:
    """Branches side by side, uneven kernels, averages that count their padding; opset 15."""
    g = _Layers(15)
    x = g.conv_relu("image", 3, 8, (3, 3), same=False, strides=[2, 2])
    x = g.conv_relu(x, 8, 12, (3, 3))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    cin = 12
    for _ in range(2):
        fives = g.conv_relu(g.conv_relu(x, cin, 4, (1, 1)), 4, 6, (5, 5))
        sevens = g.conv_relu(
            g.conv_relu(g.conv_relu(x, cin, 4, (1, 1)), 4, 4, (1, 7)), 4, 6, (7, 1)
        )
        pooled = g.op("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
        parts = g.conv_relu(x, cin, 6, (1, 1)), fives, sevens, g.conv_relu(pooled, cin, 6, (1, 1))
        x, cin = g.op("Concat", *parts, axis=1), 24
    left = g.conv_relu(x, cin, 8, (3, 3), same=False, strides=[2, 2])
    right = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    x, cin = g.op("Concat", left, right, axis=1), 32
    fork = g.conv_relu(x, cin, 8, (1, 1))
    row, column = (g.conv_relu(fork, 8, 6, kernel) for kernel in ((1, 3), (3, 1)))
    return g.model([builders.image()], g.classifier(g.op("Concat", row, column, axis=1), 12))


def mobilenet_v1_with_all_layers() -> onnx.ModelProto:
    """MobileNetV1 that keeps each layer by itself that TVM's first integration of CLML took:
    convolution, batch norm, dense, pad, clip, ReLU and its like, global pools, softmax, reshape.

    A batch norm stays one where its convolution cannot take it: behind an activation. A pad that
    reflects is part of no convolution, and neither is the clip between other bounds than 0 and 6.
    """
    g = Graph(13)
    x = g.op("Conv", "image", g.normal(8, 3, 3, 3, scale=0.3), strides=[2, 2], pads=[0, 0, 1, 1])
    x = g.norm(g.act(x, "relu"), 8)
    for cin, cout, stride in ((8, 16, 1), (16, 24, 2), (24, 32, 2)):
        x = g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        w = g.normal(cin, 1, 3, 3, scale=0.4)
        x = g.op("Conv", x, w, strides=[stride] * 2, group=cin)
        x = g.norm(g.act(x, "relu6"), cin)
        x = g.conv(x, cin, cout, 1)
        x = g.op("Clip", x, g.scalar(-0.5), g.scalar(2.0))
    x = g.norm(x, 32)
    x = g.op("Add", g.op("Relu", x), g.op("Clip", x, g.scalar(0.0), g.scalar(6.0)))
    x = g.op("Concat", g.op("GlobalAveragePool", x), g.op("GlobalMaxPool", x), axis=1)
    x = g.op("Relu", g.op("Reshape", x, g.ints(1, 16, 2, 2)))
    x = g.op("Reshape", x, g.ints(1, 64))
    x = g.op("Gemm", x, g.normal(10, 64, scale=0.1), g.normal(10), transB=1)
    return g.model([builders.image()], g.op("Softmax", x, axis=-1))
