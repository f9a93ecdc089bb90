"""Small forms of the benchmark networks, written with onnx.helper and seeded numpy weights.

Each has every kind of layer of its big sister (see `benchmarks/networks.py`) at 64x64 pixels and
few channels, and each uses another opset, so that the importer's versions are met as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from support.onnx.graph import OnnxGraph

SIZE = 64
TOKENS = 16
WORDS = 50


class Graph(OnnxGraph):
    """The layers of networks."""

    def __init__(self, opset: int) -> None:
        super().__init__()
        self.opset = opset

    def conv(
        self, x: str, cin: int, cout: int, kernel: int = 3, stride: int = 1, groups: int = 1
    ) -> str:
        """A convolution with `same` padding and a bias."""
        fan = cin // groups * kernel * kernel
        w = self.normal(cout, cin // groups, kernel, kernel, scale=(2 / fan) ** 0.5)
        b = self.normal(cout, scale=0.1)
        return self.op(
            "Conv",
            x,
            w,
            b,
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[kernel // 2] * 4,
            group=groups,
        )

    def norm(self, x: str, channels: int) -> str:
        """A batch norm with statistics that matter."""
        scale = self.uniform(0.5, 1.5, channels)
        bias = self.normal(channels, scale=0.2)
        mean = self.normal(channels, scale=0.2)
        variance = self.uniform(0.5, 2.0, channels)
        return self.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=1e-5)

    def act(self, x: str, kind: str) -> str:
        """relu, relu6, silu, gelu (as its erf formula) or none."""
        if kind == "relu":
            return self.op("Relu", x)
        if kind == "relu6":
            return self.op("Clip", x, self.scalar(0.0), self.scalar(6.0))
        if kind == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "gelu":
            erf = self.op("Erf", self.op("Div", x, self.scalar(2**0.5)))
            half = self.op("Mul", x, self.op("Add", erf, self.scalar(1.0)))
            return self.op("Mul", half, self.scalar(0.5))
        return x

    def conv_bn(
        self,
        x: str,
        cin: int,
        cout: int,
        kernel: int = 3,
        stride: int = 1,
        groups: int = 1,
        act: str = "relu",
    ) -> str:
        """Convolution, batch norm, activation."""
        return self.act(self.norm(self.conv(x, cin, cout, kernel, stride, groups), cout), act)

    def linear(self, x: str, cin: int, cout: int) -> str:
        """A matmul with a weight of two dimensions and a bias."""
        y = self.op("MatMul", x, self.normal(cin, cout, scale=cin**-0.5))
        return self.op("Add", y, self.normal(cout, scale=0.1))

    def classifier(self, x: str, channels: int, classes: int = 10) -> str:
        """Global pooling and Gemm."""
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        w = self.normal(classes, channels, scale=channels**-0.5)
        return self.op("Gemm", x, w, self.normal(classes), transB=1)

    def layer_norm(self, x: str, dim: int) -> str:
        """Layer norm: one node from opset 17 on, its formula before."""
        scale, bias = self.uniform(0.5, 1.5, dim), self.normal(dim, scale=0.2)
        if self.opset >= 17:
            return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-6)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        square = self.op("Pow", centred, self.scalar(2.0))
        variance = self.op("ReduceMean", square, axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.scalar(1e-6)))
        normal = self.op("Div", centred, deviation)
        return self.op("Add", self.op("Mul", normal, scale), bias)

    def attention(self, x: str, tokens: int, dim: int, heads: int, mask: str | None = None) -> str:
        """Multi-head self-attention, its projections split from one matmul."""
        split = [self.ints(dim, dim, dim)] if self.opset >= 13 else []
        attributes = {} if self.opset >= 13 else {"split": [dim] * 3}
        parts = self.op(
            "Split", self.linear(x, dim, 3 * dim), *split, outputs=3, axis=-1, **attributes
        )
        shape = self.ints(1, tokens, heads, dim // heads)
        q, k, v = (
            self.op("Transpose", self.op("Reshape", part, shape), perm=perm)
            for part, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = self.op("Mul", self.op("MatMul", q, k), self.scalar((dim // heads) ** -0.5))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        y = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        y = self.op("Transpose", y, perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.ints(1, tokens, dim)), dim, dim)

    def mlp(self, x: str, dim: int) -> str:
        """Two linear layers around a GELU."""
        return self.linear(self.act(self.linear(x, dim, 4 * dim), "gelu"), 4 * dim, dim)

    def model(self, inputs: Sequence[onnx.ValueInfoProto], *outputs: str) -> onnx.ModelProto:
        """The finished model; the output's shapes are inferred."""
        values = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in outputs]
        graph = helper.make_graph(self.nodes, "network", inputs, values, self.weights)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def image(size: int = SIZE) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])


def mobilenet_v1() -> onnx.ModelProto:
    """Depthwise separable convolutions with batch norms, opset 9."""
    g = Graph(9)
    x, cin = g.conv_bn("image", 3, 8, 3, 2), 8
    for cout, stride in ((16, 1), (24, 2)):
        x = g.conv_bn(g.conv_bn(x, cin, cin, 3, stride, groups=cin), cin, cout, 1)
        cin = cout
    return g.model([image()], g.classifier(x, cin))


def _inverted(g: Graph, rows: Sequence[tuple[int, int, int, int]]) -> onnx.ModelProto:
    x, cin = g.conv_bn("image", 3, 8, 3, 2, act="relu6"), 8
    for expand, cout, stride, kernel in rows:
        hidden = cin * expand
        y = g.conv_bn(x, cin, hidden, 1, act="relu6") if expand > 1 else x
        y = g.conv_bn(y, hidden, hidden, kernel, stride, groups=hidden, act="relu6")
        y = g.conv_bn(y, hidden, cout, 1, act="none")
        x = g.op("Add", x, y) if stride == 1 and cin == cout else y
        cin = cout
    return g.model([image()], g.classifier(g.conv_bn(x, cin, 48, 1, act="relu6"), 48))


def mobilenet_v2() -> onnx.ModelProto:
    """Inverted residuals with ReLU6, opset 11."""
    return _inverted(Graph(11), ((1, 8, 1, 3), (6, 12, 2, 3), (6, 12, 1, 3)))


def efficientnet_lite0() -> onnx.ModelProto:
    """Inverted residuals with 5x5 kernels, opset 13."""
    return _inverted(Graph(13), ((1, 8, 1, 3), (6, 12, 2, 5), (6, 12, 1, 5)))


def _resnet(g: Graph, bottleneck: bool) -> onnx.ModelProto:
    x = g.conv_bn("image", 3, 16, 7, 2)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 16
    for width, stride in ((8, 2), (8, 1)) if bottleneck else ((8, 1), (16, 2), (16, 1)):
        cout = 4 * width if bottleneck else 2 * width
        if bottleneck:
            y = g.conv_bn(g.conv_bn(x, cin, width, 1), width, width, 3, stride)
            y = g.conv_bn(y, width, cout, 1, act="none")
        else:
            y = g.conv_bn(g.conv_bn(x, cin, cout, 3, stride), cout, cout, act="none")
        same = stride == 1 and cin == cout
        short = x if same else g.conv_bn(x, cin, cout, 1, stride, act="none")
        x, cin = g.op("Relu", g.op("Add", y, short)), cout
    return g.model([image()], g.classifier(x, cin))


def resnet18() -> onnx.ModelProto:
    """Basic residual blocks, opset 7."""
    return _resnet(Graph(7), bottleneck=False)


def resnet50() -> onnx.ModelProto:
    """Bottleneck residual blocks, opset 14."""
    return _resnet(Graph(14), bottleneck=True)


def squeezenet1_1() -> onnx.ModelProto:
    """Fire modules, ceil-mode pooling and a convolutional classifier, opset 12."""
    g = Graph(12)
    x = g.op("Relu", g.conv("image", 3, 16, 3, 2))
    cin = 16
    for squeeze, expand in ((4, 12), (6, 16)):
        x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
        s = g.op("Relu", g.conv(x, cin, squeeze, 1))
        left = g.op("Relu", g.conv(s, squeeze, expand, 1))
        right = g.op("Relu", g.conv(s, squeeze, expand, 3))
        x, cin = g.op("Concat", left, right, axis=1), 2 * expand
    x = g.op("Dropout", x)
    x = g.op("GlobalAveragePool", g.op("Relu", g.conv(x, cin, 10, 1)))
    return g.model([image()], g.op("Softmax", g.op("Flatten", x), axis=1))


def vit_tiny() -> onnx.ModelProto:
    """Patches, a class token and two encoder layers normalised first, opset 17."""
    g, dim, tokens = Graph(17), 24, 17
    patches = g.op("Conv", "image", g.normal(dim, 3, 16, 16, scale=0.03), strides=[16, 16])
    x = g.op("Transpose", g.op("Reshape", patches, g.ints(0, 0, -1)), perm=[0, 2, 1])
    x = g.op("Concat", g.normal(1, 1, dim), x, axis=1)
    x = g.op("Add", x, g.normal(1, tokens, dim))
    for _ in range(2):
        x = g.op("Add", x, g.attention(g.layer_norm(x, dim), tokens, dim, 3))
        x = g.op("Add", x, g.mlp(g.layer_norm(x, dim), dim))
    x = g.op("Gather", g.layer_norm(x, dim), g.weight(np.array(0, np.int64)), axis=1)
    return g.model([image()], g.linear(x, dim, 10))


def text_encoder() -> onnx.ModelProto:
    """Token embedding, attention mask and two encoder layers normalised last, opset 11."""
    g, dim = Graph(11), 32
    mask = g.op("Cast", g.op("Unsqueeze", "mask", axes=[1, 2]), to=TensorProto.FLOAT)
    bias = g.op("Mul", g.op("Sub", g.scalar(1.0), mask), g.scalar(-10000.0))
    x = g.op("Gather", g.normal(WORDS, dim), "tokens")
    x = g.layer_norm(g.op("Add", x, g.normal(1, TOKENS, dim)), dim)
    for _ in range(2):
        x = g.layer_norm(g.op("Add", x, g.attention(x, TOKENS, dim, 4, bias)), dim)
        x = g.layer_norm(g.op("Add", x, g.mlp(x, dim)), dim)
    first = g.op("Squeeze", g.op("Slice", x, g.ints(0), g.ints(1), g.ints(1)), axes=[1])
    pooled = g.op("Tanh", g.linear(first, dim, dim))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, TOKENS])
        for name in ("tokens", "mask")
    ]
    return g.model(inputs, x, pooled)


def yolo() -> onnx.ModelProto:
    """A SiLU backbone, pooling pyramid, upsampling, concatenation and 255-channel heads."""
    g = Graph(18)
    c3 = g.conv_bn(g.conv_bn("image", 3, 8, 3, 2, act="silu"), 8, 16, 3, 2, act="silu")
    left = g.conv_bn(c3, 16, 8, 1, act="silu")
    block = g.conv_bn(g.conv_bn(left, 8, 8, 1, act="silu"), 8, 8, act="silu")
    right = g.conv_bn(c3, 16, 8, 1, act="silu")
    c3 = g.op("Concat", g.op("Add", left, block), right, axis=1)
    x = g.conv_bn(c3, 16, 16, 3, 2, act="silu")
    pools = [x]
    for _ in range(2):
        pooled = g.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2])
        pools.append(pooled)
    p4 = g.conv_bn(g.op("Concat", *pools, axis=1), 48, 16, 1, act="silu")
    scales = g.weight(np.array([1, 1, 2, 2], np.float32))
    up = g.op(
        "Resize",
        p4,
        "",
        scales,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    p3 = g.conv_bn(g.op("Concat", up, c3, axis=1), 32, 16, 3, act="silu")
    boxes = []
    for p, extent in ((p3, 16), (p4, 8)):
        y = g.op("Reshape", g.conv(p, 16, 255, 1), g.ints(1, 3, 85, extent, extent))
        y = g.op("Sigmoid", g.op("Transpose", y, perm=[0, 1, 3, 4, 2]))
        boxes.append(g.op("Reshape", y, g.ints(1, -1, 85)))
    return g.model([image()], g.op("Concat", *boxes, axis=1))


def unet() -> onnx.ModelProto:
    """Skip connections, a transposed convolution and a bilinear resize, opset 16."""
    g = Graph(16)
    skips, x, cin = [], "image", 3
    for width in (8, 12):
        x = g.conv_bn(x, cin, width)
        skips.append((x, width))
        x, cin = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width
    x = g.conv_bn(x, cin, 16)
    skip, width = skips[1]
    w = g.normal(16, 12, 4, 4, scale=0.1)
    x = g.op("ConvTranspose", x, w, g.normal(12), strides=[2, 2], pads=[1, 1, 1, 1])
    x = g.conv_bn(g.op("Concat", x, skip, axis=1), 12 + width, 12)
    skip, width = skips[0]
    sizes = g.ints(1, 12, SIZE, SIZE)
    x = g.op("Resize", x, "", "", sizes, mode="linear")
    x = g.conv_bn(g.op("Concat", x, skip, axis=1), 12 + width, 8)
    return g.model([image()], g.conv(x, 8, 3, 1))


def densenet121() -> onnx.ModelProto:
    """Norms before convolutions, the channels of a layer behind all before it, opset 8."""
    g = Graph(8)
    x, cin, growth = g.conv_bn("image", 3, 8, 7, 2), 8, 4
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for layers in (2, 1):
        for _ in range(layers):
            y = g.conv_bn(g.act(g.norm(x, cin), "relu"), cin, 2 * growth, 1)
            x = g.op("Concat", x, g.conv(y, 2 * growth, growth), axis=1)
            cin += growth
        x = g.conv(g.act(g.norm(x, cin), "relu"), cin, cin // 2, 1)
        x, cin = g.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), cin // 2
    return g.model([image()], g.classifier(g.act(g.norm(x, cin), "relu"), cin))


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    build.__name__: build
    for build in (
        mobilenet_v1,
        mobilenet_v2,
        resnet18,
        resnet50,
        squeezenet1_1,
        efficientnet_lite0,
        vit_tiny,
        text_encoder,
        yolo,
        unet,
        densenet121,
    )
}

VARIED = ("mobilenet_v2", "resnet18", "vit_tiny", "yolo", "unet")
"""Networks that differ most from each other."""


def by_effort() -> Sequence[object]:
    """The networks' names for `parametrize`: those not in `VARIED` only in the long form."""
    return [
        pytest.param(name, marks=() if name in VARIED else pytest.mark.long) for name in NETWORKS
    ]


def inputs_for(model: onnx.ModelProto, seed: int = 1) -> dict[str, np.ndarray]:
    """Seeded inputs of the model's types and shapes."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.name == "mask":
            arrays["mask"] = (np.arange(shape[-1]) < shape[-1] - 3).astype(np.int64)[None]
        elif value.name == "tokens":
            arrays["tokens"] = rng.integers(0, WORDS, shape)
        else:
            arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
    return arrays
