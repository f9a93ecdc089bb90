"""Functions of elements."""

from __future__ import annotations

import numpy as np

from ..builder import FLOAT, NUMBERS, SIGNED, GraphBuilder

TAME = (
    "Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Erf", "Sin", "Cos", "Atan", "Softplus", "Softsign",
    "HardSwish", "Ceil", "Floor", "Round", "Sign", "Identity", "Elu", "Selu", "LeakyRelu", "Celu",
    "HardSigmoid", "ThresholdedRelu", "Shrink", "Exp", "Sinh", "Cosh", "Asinh", "Mish", "Gelu",
)  # fmt: skip
"""Defined everywhere. Functions of opsets that a graph has not are rejected and drawn again."""

POSITIVE = ("Sqrt", "Log", "Reciprocal")
COMPARISONS = ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")


def unary(g: GraphBuilder) -> None:
    """A function that is defined everywhere."""
    kind = g.random.choice(TAME)
    if (kind == "Mish" and g.opset < 18) or (kind == "Gelu" and g.opset < 20):
        kind = "Tanh"
    attributes = {}
    if kind in ("Elu", "LeakyRelu", "Celu", "HardSigmoid", "ThresholdedRelu") and g.chance(0.5):
        attributes["alpha"] = g.one_of(0.3, 0.7)
    g.op(kind, g.pick(), **attributes)


def positive(g: GraphBuilder) -> None:
    """A function of positive numbers."""
    x = g.op("Add", g.op("Abs", g.pick()), g.constant(0.3, "f"))
    g.op(g.random.choice(POSITIVE), x)


def bounded(g: GraphBuilder) -> None:
    """A function of numbers within -1 and 1."""
    x = g.op("Mul", g.op("Tanh", g.pick()), g.constant(0.9, "f"))
    g.op(g.one_of("Asin", "Acos", "Atanh", "Tan"), x)


def binary(g: GraphBuilder) -> None:
    """Arithmetic with broadcasting."""
    x = g.pick()
    y = g.broadcastable(x)
    g.op(g.one_of("Add", "Sub", "Mul", "Min", "Max"), *g.one_of((x, y), (y, x)))


def divide(g: GraphBuilder) -> None:
    """Division by numbers that are not near zero."""
    x = g.pick()
    y = g.weight(*(n if g.chance(0.6) else 1 for n in x.shape), low=0.3)
    g.op("Div", x, y)


def power(g: GraphBuilder) -> None:
    """Powers by a constant, and of positive numbers."""
    if g.chance(0.5):
        g.op("Pow", g.pick(), g.constant(g.one_of(2.0, 3.0, 1.0), "f"))
    else:
        x = g.op("Add", g.op("Abs", g.pick()), g.constant(0.3, "f"))
        g.op("Pow", x, g.constant(g.one_of(0.5, -0.5, -1.0, 1.7), "f"))


def integers(g: GraphBuilder) -> None:
    """Arithmetic of integers; quotients and remainders of both signs."""
    x = g.pick(SIGNED)
    kind = g.one_of("Add", "Sub", "Mul", "Min", "Max", "Div", "Mod")
    if kind in ("Div", "Mod"):
        g.op(kind, x, g.constant(g.one_of(2, 3, 7, -3), x.type))
    else:
        g.op(kind, x, g.broadcastable(x))


def variadic(g: GraphBuilder) -> None:
    """Sum, Mean, Min or Max of three."""
    x = g.pick()
    g.op(g.one_of("Sum", "Mean", "Min", "Max"), x, g.broadcastable(x), g.broadcastable(x))


def clip(g: GraphBuilder) -> None:
    """Clip from one side or both."""
    low = g.constant(g.one_of(-1.0, 0.0), "f") if g.chance(0.8) else None
    high = g.constant(g.one_of(0.5, 6.0), "f") if g.chance(0.8) else None
    g.op("Clip", g.pick(), low, high)


def p_relu(g: GraphBuilder) -> None:
    """PRelu, its slope per channel."""
    x = g.pick(rank=(2, 3, 4))
    g.op("PRelu", x, g.weight(x.shape[1], *[1] * (x.rank - 2)))


def compare(g: GraphBuilder) -> None:
    """A comparison."""
    x = g.pick(NUMBERS)
    g.op(g.random.choice(COMPARISONS), x, g.broadcastable(x))


def cast(g: GraphBuilder) -> None:
    """A cast that every type can hold: what is cast to a byte is clipped before."""
    x = g.pick((np.float32, np.int32, np.int64, np.bool_))
    kind = g.one_of(
        "FLOAT", "FLOAT", "INT32", "INT64", "BOOL", "UINT8", "INT8", "FLOAT16", "DOUBLE"
    )
    from onnx import TensorProto

    if kind in ("UINT8", "INT8") and x.type == np.float32:
        x = g.op("Clip", x, g.constant(0.0, "f"), g.constant(100.0, "f"))
    y = g.op("Cast", x, to=getattr(TensorProto, kind))
    if kind in ("FLOAT16", "DOUBLE"):
        # Compute a little in that type, too.
        y = g.op(g.one_of("Add", "Mul"), y, y)
        g.op("Cast", y, to=TensorProto.FLOAT)


def shared(g: GraphBuilder) -> None:
    """A value that several nodes read."""
    x = g.pick(FLOAT)
    a, b = g.op("Sigmoid", x), g.op("Relu", x)
    g.op("Add", g.op("Mul", x, a), b)


OPERATORS = {
    "unary": (8, unary),
    "positive": (2, positive),
    "bounded": (1, bounded),
    "binary": (8, binary),
    "divide": (2, divide),
    "power": (2, power),
    "integers": (3, integers),
    "variadic": (1, variadic),
    "clip": (3, clip),
    "p_relu": (1, p_relu),
    "compare": (2, compare),
    "cast": (4, cast),
    "shared": (2, shared),
}
