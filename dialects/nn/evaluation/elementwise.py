"""Elementwise operations in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, BinaryKind, CompareKind, UnaryKind
from .narrow import converted

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, 0)


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.clip(alpha * x + beta, 0, 1)


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _celu(x: Array, alpha: float) -> Array:
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha))


def _shrink(x: Array, bias: float, lambd: float) -> Array:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))


def _isinf(x: Array, negative: float, positive: float) -> Array:
    return (np.isneginf(x) & bool(negative)) | (np.isposinf(x) & bool(positive))


UNARY: dict[UnaryKind, Callable[[Array], Any]] = {
    UnaryKind.NEG: np.negative,
    UnaryKind.ABS: np.abs,
    UnaryKind.SIGN: np.sign,
    UnaryKind.FLOOR: np.floor,
    UnaryKind.CEIL: np.ceil,
    UnaryKind.ROUND: np.rint,
    UnaryKind.SQRT: np.sqrt,
    UnaryKind.RSQRT: lambda x: 1 / np.sqrt(x),
    UnaryKind.RECIPROCAL: lambda x: 1 / x,
    UnaryKind.EXP: np.exp,
    UnaryKind.LOG: np.log,
    UnaryKind.SIN: np.sin,
    UnaryKind.COS: np.cos,
    UnaryKind.TAN: np.tan,
    UnaryKind.ASIN: np.arcsin,
    UnaryKind.ACOS: np.arccos,
    UnaryKind.ATAN: np.arctan,
    UnaryKind.SINH: np.sinh,
    UnaryKind.COSH: np.cosh,
    UnaryKind.TANH: np.tanh,
    UnaryKind.ASINH: np.arcsinh,
    UnaryKind.ACOSH: np.arccosh,
    UnaryKind.ATANH: np.arctanh,
    UnaryKind.ERF: _erf,
    UnaryKind.RELU: lambda x: np.maximum(x, 0),
    UnaryKind.SIGMOID: _sigmoid,
    UnaryKind.GELU: lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    UnaryKind.GELU_TANH: _gelu_tanh,
    UnaryKind.SILU: lambda x: x * _sigmoid(x),
    UnaryKind.SOFTPLUS: _softplus,
    UnaryKind.SOFTSIGN: lambda x: x / (1 + np.abs(x)),
    UnaryKind.MISH: lambda x: x * np.tanh(_softplus(x)),
    UnaryKind.HARD_SWISH: lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5),
    UnaryKind.LOGICAL_NOT: np.logical_not,
    UnaryKind.BITWISE_NOT: np.invert,
    UnaryKind.ISNAN: np.isnan,
}

PARAMETRIC: dict[UnaryKind, Callable[[Array, tuple[float, ...]], Array]] = {
    UnaryKind.LEAKY_RELU: lambda x, p: np.where(x >= 0, x, p[0] * x),
    UnaryKind.ELU: lambda x, p: _elu(x, p[0]),
    UnaryKind.SELU: lambda x, p: p[1] * _elu(x, p[0]),
    UnaryKind.CELU: lambda x, p: _celu(x, p[0]),
    UnaryKind.HARD_SIGMOID: lambda x, p: _hard_sigmoid(x, *p),
    UnaryKind.THRESHOLDED_RELU: lambda x, p: np.where(x > p[0], x, 0),
    UnaryKind.SHRINK: lambda x, p: _shrink(x, *p),
    UnaryKind.SWISH: lambda x, p: x * _sigmoid(p[0] * x),
    UnaryKind.ISINF: lambda x, p: _isinf(x, *p),
}


def _unary(op: nn.UnaryOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    if x.dtype.kind == "f":
        # Double precision, so that the result is rounded only once.
        x = x.astype(np.float64)
    kind = op.kind.data
    return PARAMETRIC[kind](x, nn.floats(op.params)) if op.params else UNARY[kind](x)


def _div(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    quotient = a // b
    inexact = (quotient * b != a) & (b != 0)
    return quotient + (inexact & ((a < 0) != (b < 0))).astype(a.dtype)


def _pow(a: Array, b: Array) -> Array:
    if a.dtype.kind != "f" and (b < 0).any():
        return np.power(a.astype(np.float64), b)
    return np.power(a, b)


BINARY: dict[BinaryKind, Callable[[Array, Array], Any]] = {
    BinaryKind.ADD: np.add,
    BinaryKind.SUB: np.subtract,
    BinaryKind.MUL: np.multiply,
    BinaryKind.DIV: _div,
    BinaryKind.POW: _pow,
    BinaryKind.MOD: np.mod,
    BinaryKind.FMOD: np.fmod,
    BinaryKind.MIN: np.minimum,
    BinaryKind.MAX: np.maximum,
    BinaryKind.AND: np.logical_and,
    BinaryKind.OR: np.logical_or,
    BinaryKind.XOR: np.logical_xor,
    BinaryKind.BIT_AND: np.bitwise_and,
    BinaryKind.BIT_OR: np.bitwise_or,
    BinaryKind.BIT_XOR: np.bitwise_xor,
    BinaryKind.SHL: np.left_shift,
    BinaryKind.SHR: np.right_shift,
    BinaryKind.PRELU: lambda a, b: np.where(a >= 0, a, a * b),
}

COMPARE: dict[CompareKind, Callable[[Array, Array], Any]] = {
    CompareKind.EQ: np.equal,
    CompareKind.NE: np.not_equal,
    CompareKind.LT: np.less,
    CompareKind.LE: np.less_equal,
    CompareKind.GT: np.greater,
    CompareKind.GE: np.greater_equal,
}


def _clip(op: nn.ClipOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    low, high = op.bounds()
    if low is not None:
        x = np.maximum(x, np.asarray(low, x.dtype))
    return x if high is None else np.minimum(x, np.asarray(high, x.dtype))


def _cast(op: nn.CastOp, operands: Sequence[Array]) -> Array:
    return converted(operands[0], op.to, op.unsaturated is not None)


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.UnaryOp: _unary,
    nn.ClipOp: _clip,
    nn.BinaryOp: lambda op, xs: BINARY[op.kind.data](*xs),
    nn.CompareOp: lambda op, xs: COMPARE[op.kind.data](*xs),
    nn.WhereOp: lambda _, xs: np.where(*xs),
    nn.CastOp: _cast,
}
