"""The creators of the CLML reference refuse misuse and say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from support.clml.reference.operations import (
    FIRST,
    MISSING,
    UNUSED,
    Driver,
    Operand,
    Operation,
    Tensor,
)


def tensor(*sizes: int, layout: str = "OPTIMAL", half: bool = False) -> Tensor:
    """A feature map."""
    return Tensor(np.zeros(sizes, np.float16 if half else np.float32), layout)


def constant(*sizes: int, layout: str = "OPTIMAL") -> Tensor:
    """A parameter."""
    return Tensor(np.zeros(sizes, np.float32), layout, "PARAMETER")


def conv(kind: str = "CONVOLUTION", groups: int = 1, pads: str = "1111", **tensors: Operand):
    """A 3 x 3 convolution of 4 channels to 6, or of 4 to 4 by channel, that keeps the sizes."""
    outputs, weight = (6, (6, 4, 3, 3)) if kind != "DEPTHWISE" else (4, (1, 4, 3, 3))
    used: dict[str, Operand] = {
        "x": tensor(1, 4, 8, 8),
        "w": constant(*weight),
        "b": constant(1, outputs, 1, 1),
        "y": tensor(1, outputs, 8, 8),
    }
    integers = [f"CONVOLUTION_MODE_{kind}", groups, *map(int, pads), 1, 1, 1, 1]
    return Operation("convolution", integers, list((used | tensors).values()))


def fused(function: str = "RELU", parameter: Operand = UNUSED) -> Operation:
    """A convolution and an activation."""
    plain = conv()
    tensors = [*plain.tensors[:3], parameter, plain.tensors[3]]
    integers = [*plain.integers, f"ACTIVATION_{function}"]
    return Operation("convolution_activation", integers, tensors)


def norm(**tensors: Operand) -> Operation:
    """A batch norm of 4 channels."""
    x = tensor(1, 4, 8, 8)
    vectors = {name: constant(1, 4, 1, 1) for name in ("mean", "variance", "scale", "bias")}
    used = {"x": x, **vectors, "y": tensor(1, 4, 8, 8), **tensors}
    return Operation("batch_norm", [], list(used.values()))


def pool(window: int = 3, pad: int = 1, stride: int = 2, size: int = 4, channels: int = 4):
    """A pooling of 8 x 8 elements."""
    pads, strides, windows = [pad] * 4, [stride] * 2, [window] * 2
    tensors = [tensor(1, 4, 8, 8), UNUSED, tensor(1, channels, size, size)]
    return Operation("pooling", ["POOLING_MODE_MAX", *pads, *strides, *windows], tensors)


def pad(kind: str, width: int, result: int, more: int = 0) -> Operation:
    """Padding at the top of 4 x 4 elements."""
    tensors = [tensor(1, 4, 4, 4), tensor(1, 4, result, 4)]
    return Operation("pad", [f"PAD_MODE_{kind}", width, 0, 0, 0, more], tensors)


def pair(name: str, x: Tensor, y: Tensor, *integers: int | str) -> Operation:
    """An operation of one tensor."""
    return Operation(name, integers, [x, y])


def dense(transform: str = "TRANSPOSE", axis: int = 1, **tensors: Operand) -> Operation:
    """A layer of 6 inputs and 5 outputs."""
    used = {"x": tensor(1, 6, 1, 1), "w": constant(1, 1, 5, 6), "b": UNUSED}
    used = {**used, "y": tensor(1, 5, 1, 1), **tensors}
    return Operation(
        "fully_connected", [f"FC_WEIGHT_TRANSFORM_{transform}", axis], list(used.values())
    )


def gemm(m: int = 2, n: int = 3, k: int = 4, layout: str = "NCHW") -> Operation:
    """A product of 2 x 4 by 4 x 3."""
    words = ["GEMM_TRANSFORM_NONE"] * 2
    shapes = ((2, 4, 1, 1), (1, 1, 4, 3), (2, 3, 1, 1))
    tensors = [tensor(*shape, layout=layout) for shape in shapes]
    return Operation("gemm", [m, n, k, *words], tensors, floats=(1, 0))


def binary(a: Operand, b: Operand, c: Operand, kind: str = "ADD") -> Operation:
    """A sum."""
    return Operation("binary", [f"TENSOR_OP_{kind}"], [a, b, c], floats=(1, 1, 0))


def concat(axis: int, *channels: int) -> Operation:
    """A concatenation to 6 channels."""
    tensors = [*(tensor(1, count, 4, 4) for count in channels), tensor(1, 6, 4, 4)]
    return Operation("concat", [axis], tensors)


MAP, HALF = tensor(1, 4, 8, 8), tensor(1, 4, 8, 8, half=True)
NCHW = tensor(1, 4, 8, 8, layout="NCHW")

MISUSES: dict[str, tuple[Callable[[], Operation], str]] = {
    "groups": (lambda: conv(groups=2), "group_count is 2 instead of 1"),
    "weight": (lambda: conv(w=constant(4, 6, 3, 3)), "weight"),
    "weight's layout": (lambda: conv(w=constant(6, 4, 3, 3, layout="NCHW")), "weight"),
    "no parameter": (lambda: conv(w=tensor(6, 4, 3, 3)), "weight"),
    "OIHW depthwise": (lambda: conv("DEPTHWISE", w=constant(4, 1, 3, 3)), "weight"),
    "multiplier": (lambda: conv("DEPTHWISE", y=tensor(1, 8, 8, 8)), "of 4 channels gives 8"),
    "bias": (lambda: conv(b=constant(1, 1, 1, 6)), "bias"),
    "bias NULL": (lambda: conv(b=MISSING), "bias"),
    "input NULL": (lambda: conv(x=MISSING), "input"),
    "input unused": (lambda: conv(x=UNUSED), "input"),
    "input's layout": (lambda: conv(x=NCHW), "input"),
    "output's layout": (lambda: conv(y=tensor(1, 6, 8, 8, layout="NHWC")), "output"),
    "batch": (lambda: conv(x=tensor(2, 4, 8, 8), y=tensor(2, 6, 8, 8)), "batch of 2"),
    "mixed types": (lambda: conv(x=HALF), "another type"),
    "arithmetic": (lambda: replace(conv(), arithmetic="FP16"), "arithmetic"),
    "size": (lambda: conv(pads="0011"), "output has 8 elements along H instead of 7"),
    "size of W": (lambda: conv(pads="1011"), "output has 8 elements along W instead of 7"),
    "transposed": (lambda: conv("TRANSPOSE", pads="0011"), "along H instead of 9"),
    "output padding": (
        lambda: conv("TRANSPOSE", y=tensor(1, 6, 9, 8)),
        "output has 9 elements along H instead of 8",
    ),
    "window": (
        lambda: conv(x=tensor(1, 4, 8, 1), pads="1010", y=tensor(1, 6, 8, 1)),
        "the window covers 3 elements along W, the padded input has 1",
    ),
    "no mode": (lambda: replace(conv(), integers=[1] * 11), "no convolution mode 1"),
    "stride": (
        lambda: replace(conv(), integers=[*conv().integers[:6], 1, 0, 1, 1]),
        "the stride along W is 0",
    ),
    "epsilon": (
        lambda: replace(conv(), properties={"ML_BATCH_NORM_OP_EPSILON": 1e-3}),
        "an epsilon is given to an operation without batch norm",
    ),
    "fused": (lambda: fused("TANH"), "tanh is not known to be fused"),
    "parametric": (lambda: fused(parameter=constant(1, 6, 1, 1)), "activation parameter"),
    "mean": (lambda: norm(mean=constant(1, 5, 1, 1)), "mean"),
    "scale NULL": (lambda: norm(scale=UNUSED), "scale"),
    "variance's shape": (lambda: norm(variance=constant(1, 1, 1, 4)), "variance"),
    "norm's result": (lambda: norm(y=tensor(1, 4, 8, 4)), "nothing is broadcast"),
    "negative epsilon": (
        lambda: replace(norm(), properties={"ML_BATCH_NORM_OP_EPSILON": -1}),
        "epsilon must not be negative",
    ),
    "ceil": (lambda: pool(size=5, pad=0), "output has 5 elements along H instead of 3"),
    "pool's window": (lambda: pool(11, 1), "the padded input has 10"),
    "pool's padding": (lambda: pool(2, 2), "a window of 2 along H lies in padding of 2 and 2"),
    "pool's channels": (lambda: pool(channels=5), "output has 5 channels instead of 4"),
    "reflect": (lambda: pad("REFLECT", 4, 8), "4 elements can be padded by 3 at most"),
    "symmetric": (lambda: pad("SYMMETRIC", 5, 9), "4 elements can be padded by 4 at most"),
    "padded size": (lambda: pad("CONSTANT", 2, 7), "output"),
    "padded channels": (lambda: pad("CONSTANT", 2, 6, 1), "only H and W are padded"),
    "softmax of a map": (lambda: pair("softmax", MAP, MAP, "SOFTMAX_MODE_SPATIAL"), "NCHW"),
    "softmax of a vector": (
        lambda: pair(
            "softmax",
            tensor(1, 4, 1, 1, layout="NCHW"),
            tensor(1, 4, 1, 1, layout="NCHW"),
            "SOFTMAX_MODE_SPATIAL",
        ),
        "vectors are OPTIMAL",
    ),
    "elements": (lambda: pair("reshape", MAP, tensor(1, 8, 8, 5)), "numbers of elements differ"),
    "reshape's layouts": (lambda: pair("reshape", MAP, NCHW), "the layouts differ"),
    "axis": (lambda: concat(2, 3, 3), "the axis is 2"),
    "too few channels": (lambda: concat(1, 3, 2), "the inputs have 5 channels"),
    "too many channels": (lambda: concat(1, 3, 4), "does not fit into the output"),
    "one input": (lambda: concat(1, 6), "there are 1 inputs"),
    "block": (lambda: pair("depth_to_space", MAP, MAP, 3), "4 channels cannot become blocks"),
    "block of 0": (lambda: pair("depth_to_space", MAP, MAP, 0), "blocks of 0 x 0"),
    "space": (lambda: pair("depth_to_space", MAP, tensor(1, 1, 16, 8), 2), "output"),
    "half-pixel": (lambda: pair("resize_bilinear", MAP, tensor(1, 4, 9, 9), 0, 1), "half-pixel"),
    "resized channels": (
        lambda: pair("resize_bilinear", MAP, tensor(1, 3, 9, 9), 0, 0),
        "output has 3 channels instead of 4",
    ),
    "layer's weight": (lambda: dense(w=constant(1, 1, 6, 5)), "weight"),
    "weight as it is": (lambda: dense("NONE"), "weight"),
    "layer's input": (lambda: dense(x=tensor(1, 3, 2, 1)), "input"),
    "layer's bias": (lambda: dense(b=constant(1, 6, 1, 1)), "bias"),
    "layer's axis": (lambda: dense(axis=0), "first member is 0 instead of 1"),
    "gemm's sizes": (lambda: gemm(m=3, n=2), "A"),
    "gemm's k": (lambda: gemm(k=5), "A"),
    "gemm's layout": (lambda: gemm(layout="OPTIMAL"), "NCHW"),
    "gemm of nothing": (lambda: gemm(m=0), "A"),
    "broadcast": (lambda: binary(MAP, tensor(1, 4, 1, 1), MAP), "nothing is broadcast"),
    "layouts": (lambda: binary(MAP, NCHW, tensor(1, 4, 8, 8)), "the layouts differ"),
    "product with nothing": (lambda: binary(MAP, UNUSED, tensor(1, 4, 8, 8), "MUL"), "no addition"),
    "the same operands": (lambda: binary(MAP, FIRST, tensor(1, 4, 8, 8)), "the same tensor"),
    "in place": (lambda: replace(binary(MAP, tensor(1, 4, 8, 8), FIRST), result=0), "C"),
    "B NULL": (lambda: binary(MAP, MISSING, tensor(1, 4, 8, 8)), "B"),
    "clip": (
        lambda: replace(pair("clip", MAP, tensor(1, 4, 8, 8)), floats=(-1, 1)),
        "the minimum 1 is above the maximum -1",
    ),
    "activation": (
        lambda: Operation("activation", ["ACTIVATION_RELU"], [MAP, UNUSED, tensor(1, 4, 8, 4)]),
        "nothing is broadcast",
    ),
    "no activation": (
        lambda: Operation("activation", [7], [MAP, UNUSED, tensor(1, 4, 8, 8)]),
        "there is no activation 7",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(driver: Driver, name: str) -> None:
    make, words = MISUSES[name]
    message = driver.refusal(make())
    assert words in message
    assert message.startswith("clCreateMLOp")


@pytest.mark.parametrize("kind", ["CONVOLUTION", "DEPTHWISE", "TRANSPOSE"])
def test_right_use(driver: Driver, kind: str) -> None:
    """The operations that the misuses above are derived from are accepted."""
    right = [conv(kind), fused(), norm(), pool(), dense(), gemm(), concat(1, 2, 4)]
    right += [pad("REFLECT", 3, 7), pad("SYMMETRIC", 4, 8), pad("CONSTANT", 9, 13)]
    for operation in right:
        driver.run(operation)
