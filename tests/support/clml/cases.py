"""The operations of the matrix, made of ONNX: shapes and attributes for each command of CLML."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from support.clml.single_ops import Case, statistics

TAILS = {
    "": "",
    "relu": "y = Relu(c)",
    "relu6": "y = Clip(c, zero, six)",
}
"""What may follow a convolution, by the activation it is for CLML."""


def _conv(
    name: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    attributes: str = "",
    *,
    bias: bool = True,
    tail: str = "",
    kind: str = "Conv",
) -> Case:
    channels = w[0] if kind == "Conv" else w[1]
    weights = {"w": w} | ({"b": (channels,)} if bias else {})
    if tail == "relu6":
        weights |= {"zero": np.array(0.0), "six": np.array(6.0)}
    operands = "x, w, b" if bias else "x, w"
    attributes = f"<{attributes}>" if attributes else ""
    nodes = f"{'c' if tail else 'y'} = {kind}{attributes}({operands}) {TAILS[tail]}"
    command = "conv_activation" if tail else "conv"
    # A result above 6 somewhere, so that relu6 is no relu.
    span = (-8.0, 8.0) if tail == "relu6" else (-1.0, 1.0)
    return Case(f"{name}_{tail}" if tail else name, nodes, {"x": x}, command, weights, span=span)


def _convolutions() -> Iterator[Case]:
    small = (1, 14, 10, 10)
    for tail in TAILS:
        yield _conv("conv_3x3", small, (4, 14, 3, 3), "pads = [1, 1, 1, 1]", tail=tail)
        yield _conv("depthwise_11", (1, 11, 20, 20), (11, 1, 3, 3), "group = 11", tail=tail)
        yield _conv(
            "transposed_3x3",
            (1, 16, 32, 32),
            (16, 16, 3, 3),
            "pads = [1, 1, 1, 1]",
            kind="ConvTranspose",
            tail=tail,
        )
    yield _conv("conv_plain", small, (4, 14, 3, 3), tail="relu", bias=False)
    yield _conv("conv_5x5", small, (7, 14, 5, 5), "strides = [2, 2]")
    yield _conv("conv_1x3", small, (6, 14, 1, 3), "pads = [0, 1, 0, 1]")
    yield _conv("conv_3x1", small, (6, 14, 3, 1), "pads = [1, 0, 1, 0]")
    yield _conv("conv_1x1", small, (9, 14, 1, 1), bias=False)
    yield _conv("conv_uneven", (1, 5, 13, 9), (6, 5, 3, 2), "pads = [2, 0, 1, 1], strides = [3, 1]")
    yield _conv(
        "conv_dilated", (1, 5, 13, 17), (6, 5, 3, 3), "dilations = [2, 3], pads = [2, 1, 0, 3]"
    )
    yield _conv("conv_128", (1, 128, 16, 16), (128, 128, 3, 3), "pads = [1, 1, 1, 1]")
    yield _conv("conv_256", (1, 128, 16, 16), (256, 128, 3, 3), "pads = [1, 1, 1, 1]")
    yield _conv("depthwise_16", (1, 16, 20, 20), (16, 1, 3, 3), "group = 16", bias=False)
    yield _conv("depthwise_5x5", (1, 32, 20, 20), (32, 1, 5, 5), "group = 32, pads = [2, 2, 2, 2]")
    yield _conv(
        "depthwise_128",
        (1, 128, 24, 24),
        (128, 1, 3, 3),
        "group = 128, pads = [2, 2, 2, 2], strides = [2, 2]",
    )
    yield _conv(
        "depthwise_uneven",
        (1, 6, 9, 14),
        (6, 1, 2, 5),
        "group = 6, dilations = [2, 1], pads = [0, 3, 2, 1], strides = [1, 2]",
    )
    yield _conv(
        "depthwise_dilated",
        (1, 6, 12, 12),
        (6, 1, 3, 3),
        "group = 6, dilations = [2, 2]",
        tail="relu6",
    )


def _transposed() -> Iterator[Case]:
    for name, x, w, attributes in (
        ("4x4", (1, 64, 20, 20), (64, 24, 4, 4), "strides = [2, 2], pads = [1, 1, 1, 1]"),
        ("256", (1, 256, 6, 6), (256, 64, 4, 4), "strides = [2, 2], pads = [1, 1, 1, 1]"),
        ("uneven", (1, 5, 7, 4), (5, 6, 2, 3), "strides = [3, 1], pads = [0, 2, 1, 0]"),
        ("dilated", (1, 5, 7, 4), (5, 6, 3, 2), "dilations = [2, 3], strides = [1, 2]"),
        (
            "output_padding",
            (1, 5, 7, 4),
            (5, 6, 3, 3),
            "strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 0]",
        ),
    ):
        yield _conv(
            f"transposed_{name}", x, w, attributes, kind="ConvTranspose", bias=name != "256"
        )


def _pool(
    name: str,
    x: tuple[int, ...],
    nodes: str,
    commands: str = "pool",
    axes: tuple[int, ...] = (),
) -> Case:
    fixed = {"axes": np.array(axes)} if axes else {}
    return Case(f"pool_{name}", nodes, {"x": x}, commands, fixed=fixed)


def _pools() -> Iterator[Case]:
    window = "kernel_shape = [3, 3]"
    inception = ((64, 147), (192, 71), (288, 35), (768, 17), (2048, 8))
    for channels, size in inception:
        x = (1, channels, size, size)
        yield _pool(f"max_{channels}", x, f"y = MaxPool<{window}, strides = [2, 2]>(x)")
        uneven = f"{window}, pads = [0, 0, 1, 1]"
        yield _pool(f"average_{channels}", x, f"y = AveragePool<{uneven}>(x)")
    x = (1, 6, 11, 14)
    for kind, node in (("max", "MaxPool"), ("average", "AveragePool")):
        uneven = "kernel_shape = [2, 4], strides = [3, 2], pads = [1, 2, 0, 3]"
        yield _pool(f"{kind}_uneven", x, f"y = {node}<{uneven}>(x)")
        up = f"{window}, strides = [2, 3], ceil_mode = 1"
        yield _pool(f"{kind}_ceil", x, f"y = {node}<{up}>(x)")
        same = f"{window}, pads = [1, 1, 1, 1]"
        yield _pool(f"{kind}_same", x, f"y = {node}<{same}>(x)")
        yield _pool(f"{kind}_global", x, f"y = Global{node}(x)")
    counted = f"{window}, pads = [1, 0, 2, 1], count_include_pad = 1"
    yield _pool(
        "average_counted",
        x,
        f"r = Relu(x) y = AveragePool<{counted}>(r)",
        "activation pad pool",
    )
    yield _pool(
        "mean",
        x,
        "y = ReduceMean(x, axes)",
        axes=(
            2,
            3,
        ),
    )
    yield _pool("mean_of_rows", x, "y = ReduceMean(x, axes)", axes=(3,))
    yield _pool("max_of_columns", x, "y = ReduceMax(x, axes)", axes=(2,))


def _products() -> Iterator[Case]:
    for m, k, n in ((5, 16, 32), (320, 64, 320)):
        yield Case(
            f"dense_{m}",
            "y = Gemm<transB = 1>(x, w)",
            {"x": (m, k)},
            "gemm",
            {"w": (n, k)},
        )
    yield Case("dense_as_it_is", "y = MatMul(x, w)", {"x": (5, 16)}, "gemm", {"w": (16, 32)})
    for k, n in ((16, 32), (5, 4)):
        weights = {"w": (n, k), "b": (n,)}
        nodes = "y = Gemm<transB = 1>(x, w, b)"
        yield Case(f"dense_bias_{k}", nodes, {"x": (1, k)}, "fully_connected", weights)
    yield Case(
        "dense_vector", "y = MatMul(x, w)", {"x": (1, 12)}, "fully_connected", {"w": (12, 7)}
    )
    yield Case(
        "dense_flattened",
        "r = Relu(x) f = Flatten(r) y = Gemm(f, w, b)",
        {"x": (1, 6, 3, 5)},
        "activation reshape fully_connected",
        {"w": (90, 7), "b": (7,)},
    )
    inputs = {"a": (1, 128, 128), "b": (1, 32, 128)}
    turned = "t = Transpose<perm = [0, 2, 1]>(b) y = MatMul(a, t)"
    yield Case("product_transposed", turned, inputs, "gemm")
    inputs = {"a": (1, 24, 40), "b": (1, 40, 33)}
    yield Case("product", "y = MatMul(a, b)", inputs, "gemm")
    for ta, tb in ((1, 0), (0, 1), (1, 1)):
        a, b = ((9, 6) if ta else (6, 9)), ((5, 9) if tb else (9, 5))
        nodes = f"y = Gemm<transA = {ta}, transB = {tb}>(a, b)"
        yield Case(f"product_{ta}{tb}", nodes, {"a": a, "b": b}, "gemm")


def _elements() -> Iterator[Case]:
    x = (1, 6, 7, 5)
    for node in ("Relu", "Sigmoid", "Tanh"):
        yield Case(f"{node.lower()}", f"y = {node}(x)", {"x": x}, "activation", span=(-4, 4))
        yield Case(f"{node.lower()}_flat", f"y = {node}(x)", {"x": (1, 37)}, "activation")
    for name, low, high, command in (
        ("relu6", 0.0, 6.0, "activation"),
        ("to_5", 0.0, 5.0, "clip"),
        ("to_1", -1.0, 1.0, "clip"),
        ("above", 2.5, 3.5, "clip"),
    ):
        weights = {"low": np.array(low), "high": np.array(high)}
        yield Case(
            f"clip_{name}", "y = Clip(x, low, high)", {"x": x}, command, weights, span=(-9, 9)
        )
    for node in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
        yield Case(
            f"{node.lower()}", f"y = {node}(a, b)", {"a": x, "b": x}, "binary", span=(0.5, 2)
        )
        for side, operands in (("left", "w, x"), ("right", "x, w")):
            yield Case(
                f"{node.lower()}_{side}",
                f"y = {node}({operands})",
                {"x": x},
                "binary",
                {"w": np.linspace(0.5, 2, 7 * 5).reshape(1, 1, 7, 5)},
                span=(0.5, 2),
            )
    vector = np.linspace(-2, 2, 6).reshape(6, 1, 1)
    yield Case("scaled", "y = Mul(x, w)", {"x": x}, "batch_norm", {"w": vector})
    yield Case("shifted", "y = Sub(x, w)", {"x": x}, "batch_norm", {"w": vector})
    both = {"w": vector, "v": vector[::-1] + 1}
    yield Case("affine", "m = Mul(x, w) y = Add(m, v)", {"x": x}, "batch_norm", both)
    for epsilon in (1e-5, 1e-2):
        nodes = f"y = BatchNormalization<epsilon = {epsilon:.5f}>(x, scale, bias, mean, variance)"
        name = f"norm_{epsilon:g}".replace("-", "_")
        yield Case(name, nodes, {"x": x}, "batch_norm", statistics(6))


def _softmaxes() -> Iterator[Case]:
    for shape in ((1, 5), (1, 16), (1, 1000)):
        yield Case(f"softmax_{shape[1]}", "y = Softmax(x)", {"x": shape}, "softmax", span=(-5, 5))
    for shape in ((1, 5, 3, 4), (1, 64, 64, 64)):
        nodes = "y = Softmax<axis = 1>(x)"
        yield Case(f"softmax_map_{shape[1]}", nodes, {"x": shape}, "softmax", span=(-5, 5))


def _movements() -> Iterator[Case]:
    for name, x, to in (
        ("4096", (1, 40, 64, 64), (1, 40, 4096)),
        ("inferred", (1, 2, 3, 4), (1, 0, -1)),
        ("blocks", (1, 6, 5, 4), (1, 10, 3, 4)),
    ):
        yield Case(
            f"reshape_{name}",
            "r = Relu(x) s = Reshape(r, shape) y = Tanh(s)",
            {"x": x},
            "activation reshape activation",
            fixed={"shape": np.array(to)},
        )
    for block in (4, 8):
        nodes = f'y = DepthToSpace<blocksize = {block}, mode = "DCR">(x)'
        yield Case(f"depth_to_space_{block}", nodes, {"x": (1, 64, 8, 8)}, "depth_to_space")
    nodes = "y = DepthToSpace<blocksize = 2>(x)"
    yield Case("depth_to_space_uneven", nodes, {"x": (1, 24, 5, 3)}, "depth_to_space")
    for name, channels in (("two", (5, 3)), ("three", (1, 6, 2)), ("four", (4, 8, 3, 7))):
        inputs = {f"x{i}": (1, count, 5, 6) for i, count in enumerate(channels)}
        nodes = f"y = Concat<axis = 1>({', '.join(inputs)})"
        yield Case(f"concat_{name}", nodes, inputs, "concat")
    for mode, pads in (
        ("constant", (2, 1, 0, 3)),
        ("reflect", (2, 1, 0, 3)),
        ("edge", (1, 0, 1, 1)),
    ):
        top, left, bottom, right = pads
        yield Case(
            f"pad_{mode}",
            f'r = Tanh(x) y = Pad<mode = "{mode}">(r, pads)',
            {"x": (1, 6, 5, 7)},
            "activation pad",
            fixed={"pads": np.array([0, 0, top, left, 0, 0, bottom, right])},
        )
    yield Case(
        "pad_convolution",
        "p = Pad(x, pads) y = Conv(p, w)",
        {"x": (1, 6, 5, 7)},
        "conv",
        {"w": (4, 6, 3, 3)},
        {"pads": np.array([0, 0, 2, 0, 0, 0, 1, 1])},
    )


def _resizes() -> Iterator[Case]:
    for name, x, scales, mode in (
        ("twice", (1, 16, 8, 8), (2, 2), "asymmetric"),
        ("corners", (1, 16, 7, 7), (2, 2), "align_corners"),
        ("uneven", (1, 5, 4, 6), (2, 1.5), "asymmetric"),
        ("smaller", (1, 5, 9, 6), (1 / 3, 0.5), "asymmetric"),
        ("uneven_corners", (1, 5, 4, 6), (2.5, 1.5), "align_corners"),
    ):
        nodes = (
            f'y = Resize<mode = "linear", coordinate_transformation_mode = "{mode}">(x, , scales)'
        )
        factors = np.array([1, 1, *scales], np.float32)
        yield Case(f"resize_{name}", nodes, {"x": x}, "resize_bilinear", fixed={"scales": factors})


CASES = [
    *_convolutions(),
    *_transposed(),
    *_pools(),
    *_products(),
    *_elements(),
    *_softmaxes(),
    *_movements(),
    *_resizes(),
]
