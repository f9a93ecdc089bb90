"""Lowering of elementwise operations: one formula per function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn import BinaryKind, UnaryKind
from .body import Body, Index
from .kernel import KernelBuilder
from .narrow import convert
from .scalar import Number, ScalarValue


def broadcast_index(index: Sequence[Index], shape: Sequence[int]) -> list[Index]:
    """Return the index into an operand of `shape` that numpy broadcasting pairs with `index`."""
    aligned = index[len(index) - len(shape) :]
    return [
        position * 0 if size == 1 else position
        for position, size in zip(aligned, shape, strict=True)
    ]


def read_broadcast(body: Body, value: SSAValue, index: Sequence[Index]) -> ScalarValue:
    """Return the element of `value` for `index` of the broadcast result."""
    return body.read(value, broadcast_index(index, nn.shape_of(value)))


def _sigmoid(x: ScalarValue) -> ScalarValue:
    return x.lift(1.0).ratio(1.0 + (-x).call("exp"))


def _softplus(x: ScalarValue) -> ScalarValue:
    # log(1 + e^x) = max(x, 0) + log1p(e^-|x|) does not overflow.
    return x.max(0.0) + (-x.call("abs")).call("exp").call("log1p")


def _exp_tail(x: ScalarValue, alpha: Number) -> ScalarValue:
    return alpha * x.min(0.0).call("expm1")


def _sign(x: ScalarValue) -> ScalarValue:
    zero = x.lift(0)
    negative = (
        x.compare("lt", 0).select(x.lift(-1), zero) if not nn.is_unsigned(x.element_type) else zero
    )
    signed = x.compare("gt", 0).select(x.lift(1), negative)
    # The sign of NaN is NaN.
    return x.compare("ne", x).select(x, signed) if x.is_float else signed


def _abs(x: ScalarValue) -> ScalarValue:
    if x.is_float:
        return x.call("abs")
    return x if nn.is_unsigned(x.element_type) else x.max(-x)


def _leaky_relu(x: ScalarValue, alpha: Number) -> ScalarValue:
    return x.compare("ge", 0).select(x, alpha * x)


def _elu(x: ScalarValue, alpha: Number) -> ScalarValue:
    return x.compare("ge", 0).select(x, _exp_tail(x, alpha))


def _selu(x: ScalarValue, alpha: Number, gamma: Number) -> ScalarValue:
    return gamma * _elu(x, alpha)


def _celu(x: ScalarValue, alpha: Number) -> ScalarValue:
    return x.max(0.0) + _exp_tail(x.ratio(alpha), alpha)


def _hard_sigmoid(x: ScalarValue, alpha: Number, beta: Number) -> ScalarValue:
    return (alpha * x + beta).max(0.0).min(1.0)


def _thresholded_relu(x: ScalarValue, alpha: Number) -> ScalarValue:
    return x.compare("gt", alpha).select(x, 0)


def _swish(x: ScalarValue, alpha: Number) -> ScalarValue:
    return x * _sigmoid(alpha * x)


def _shrink(x: ScalarValue, bias: Number, lambd: Number) -> ScalarValue:
    below = x.compare("lt", -lambd).select(x + bias, 0)
    return x.compare("gt", lambd).select(x - bias, below)


def _isinf(x: ScalarValue, negative: Number, positive: Number) -> ScalarValue:
    result = x.body.constant(False, i1)
    for wanted, infinity in ((negative, -math.inf), (positive, math.inf)):
        if wanted:
            result = result | x.compare("eq", infinity)
    return result


def _gelu_tanh(x: ScalarValue) -> ScalarValue:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))
    return 0.5 * x * (1.0 + inner.call("tanh"))


def _function(name: str) -> Callable[[ScalarValue], ScalarValue]:
    return lambda x: x.call(name)


UNARY: dict[UnaryKind, Callable[[ScalarValue], ScalarValue]] = {
    **{
        UnaryKind(name): _function(name)
        for name in (
            "acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log round rsqrt sin sinh "
            "sqrt tan tanh"
        ).split()
    },
    UnaryKind.NEG: lambda x: -x,
    UnaryKind.ABS: _abs,
    UnaryKind.SIGN: _sign,
    UnaryKind.RECIPROCAL: lambda x: 1.0 / x,
    UnaryKind.RELU: lambda x: x.max(0),
    UnaryKind.SIGMOID: _sigmoid,
    UnaryKind.GELU: lambda x: 0.5 * x * (1.0 + (x * math.sqrt(0.5)).call("erf")),
    UnaryKind.GELU_TANH: _gelu_tanh,
    UnaryKind.SILU: lambda x: x * _sigmoid(x),
    UnaryKind.SOFTPLUS: _softplus,
    UnaryKind.SOFTSIGN: lambda x: x.ratio(1.0 + x.call("abs")),
    UnaryKind.MISH: lambda x: x * _softplus(x).call("tanh"),
    UnaryKind.HARD_SWISH: lambda x: x * (x * (1 / 6) + 0.5).max(0.0).min(1.0),
    UnaryKind.LOGICAL_NOT: lambda x: ~x,
    UnaryKind.BITWISE_NOT: lambda x: ~x,
    UnaryKind.ISNAN: lambda x: x.compare("ne", x),
}


PARAMETRIC: dict[UnaryKind, Callable[..., ScalarValue]] = {
    UnaryKind.LEAKY_RELU: _leaky_relu,
    UnaryKind.ELU: _elu,
    UnaryKind.SELU: _selu,
    UnaryKind.CELU: _celu,
    UnaryKind.HARD_SIGMOID: _hard_sigmoid,
    UnaryKind.THRESHOLDED_RELU: _thresholded_relu,
    UnaryKind.SHRINK: _shrink,
    UnaryKind.SWISH: _swish,
    UnaryKind.ISINF: _isinf,
}
"""The functions with parameters, which follow x in the order of nn's table."""


def _fmod(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    return a.builtin("fmod", b) if a.is_float else a.binary("rem", b)


def _mod(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    """Return the remainder with the sign of the divisor."""
    rest = _fmod(a, b)
    if nn.is_unsigned(a.element_type):
        return rest
    opposite = rest.compare("lt", 0).binary("xor", b.compare("lt", 0))
    return (rest.compare("ne", 0) & opposite).select(rest + b, rest)


def _named(name: str) -> Callable[[ScalarValue, ScalarValue], ScalarValue]:
    return lambda a, b: a.binary(name, b)


def _shift(name: str) -> Callable[[ScalarValue, ScalarValue], ScalarValue]:
    # OpenCL takes shifts modulo the width, while ONNX shifts all bits out.
    def shift(a: ScalarValue, b: ScalarValue) -> ScalarValue:
        width = int(nn.numpy_dtype(a.element_type).itemsize) * 8
        return b.compare("lt", width).select(a.binary(name, b), 0)

    return shift


def _power(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    return a.binary("pow", b) if a.is_float else _integer_power(a, b)


def _integer_power(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    """Return `a ** b` by squaring over the bits of b; negative powers truncate `1 / a ** -b`.

    Exponents beyond those bits are replaced by a large one of the same parity. That gives the same
    result for -1, 0 and 1, and the powers of all other numbers overflow long before.
    """
    bits = (int(nn.numpy_dtype(a.element_type).itemsize) * 8).bit_length()
    largest = 2**bits - 1
    odd = b.binary("and", 1)
    exponent = b.compare("gt", largest).select(odd + (largest - 1), b)
    result, power = a.lift(1), a
    for bit in range(bits):
        if bit:
            power = power * power
        taken = exponent.binary("shr", bit).binary("and", 1).compare("ne", 0)
        result = taken.select(result * power, result)
    if nn.is_unsigned(a.element_type):
        return result
    unit = a.compare("eq", 1) | a.compare("eq", -1)
    inverse = unit.select(odd.compare("ne", 0).select(a, 1), 0)
    return b.compare("lt", 0).select(inverse, result)


BINARY: dict[BinaryKind, Callable[[ScalarValue, ScalarValue], ScalarValue]] = {
    BinaryKind.ADD: _named("add"),
    BinaryKind.SUB: _named("sub"),
    BinaryKind.MUL: _named("mul"),
    BinaryKind.DIV: _named("div"),
    BinaryKind.POW: _power,
    BinaryKind.MOD: _mod,
    BinaryKind.FMOD: _fmod,
    BinaryKind.MIN: _named("min"),
    BinaryKind.MAX: _named("max"),
    BinaryKind.AND: _named("and"),
    BinaryKind.OR: _named("or"),
    BinaryKind.XOR: _named("xor"),
    BinaryKind.BIT_AND: _named("and"),
    BinaryKind.BIT_OR: _named("or"),
    BinaryKind.BIT_XOR: _named("xor"),
    BinaryKind.SHL: _shift("shl"),
    BinaryKind.SHR: _shift("shr"),
    BinaryKind.PRELU: lambda a, b: a.compare("ge", 0).select(a, a * b),
}


def lower_unary(kernel: KernelBuilder, op: nn.UnaryOp) -> None:
    """Define `f(x[i])`."""
    params = nn.floats(op.params)
    formula = (PARAMETRIC if params else UNARY)[op.kind.data]
    kernel.define(op.result, lambda body, index: formula(body.read(op.x, index), *params))


def lower_clip(kernel: KernelBuilder, op: nn.ClipOp) -> None:
    """Define `min(max(x[i], low), high)`."""
    low, high = op.bounds()

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        value = body.read(op.x, index)
        if low is not None:
            value = value.max(low)
        return value if high is None else value.min(high)

    kernel.define(op.result, element)


_DIVISIONS = (BinaryKind.DIV, BinaryKind.MOD, BinaryKind.FMOD)


def lower_binary(kernel: KernelBuilder, op: nn.BinaryOp) -> None:
    """Define `f(a[i], b[i])`, both broadcast."""
    formula = BINARY[op.kind.data]
    shape = nn.shape_of(op.result)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        a, b = read_broadcast(body, op.a, index), read_broadcast(body, op.b, index)
        if op.kind.data in _DIVISIONS and not b.is_float:
            # The tail of a packed divisor holds zeros, and integer division by zero is undefined.
            inside = body.within(index, shape)
            b = b if inside is None else inside.select(b, 1)
        return formula(a, b)

    kernel.define(op.result, element)


def lower_compare(kernel: KernelBuilder, op: nn.CompareOp) -> None:
    """Define `a[i] ? b[i]`, both broadcast."""
    kernel.define(
        op.result,
        lambda body, index: read_broadcast(body, op.a, index).compare(
            op.kind.data.value, read_broadcast(body, op.b, index)
        ),
    )


def lower_where(kernel: KernelBuilder, op: nn.WhereOp) -> None:
    """Define `condition[i] ? a[i] : b[i]`, all broadcast; both sides are computed."""
    kernel.define(
        op.result,
        lambda body, index: read_broadcast(body, op.condition, index).select(
            read_broadcast(body, op.a, index), read_broadcast(body, op.b, index)
        ),
    )


def lower_cast(kernel: KernelBuilder, op: nn.CastOp) -> None:
    """Define `x[i]` converted to the result's element type."""
    to = nn.tensor_type(op.result).element_type
    shape = nn.shape_of(op.result)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        x = body.read(op.x, index)
        if x.is_float and not nn.is_float(to):
            # A tail may hold a number out of the integer's range, whose cast is undefined.
            inside = body.within(index, shape)
            x = x if inside is None else inside.select(x, 0)
        return convert(x, to, op.unsaturated is not None)

    kernel.define(op.result, element)
