"""Lowering of quantisation to floating-point arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import f32, f64, i32
from xdsl.ir import Attribute, SSAValue

from ....dialects import nn
from ....dialects.nn import Rounding
from ..rewriting import splat_of
from .body import Body, Index
from .elementwise import read_broadcast
from .kernel import KernelBuilder
from .scalar import ScalarValue, extremes

_ROUNDS = 1.5 * 2**23
"""Adding this to a float below 2**22 rounds it to an integer: the sum's neighbours are 1 apart."""


def _round_half_up(x: ScalarValue) -> ScalarValue:
    # floor(x + 0.5) would round the sum, and map the largest float below 0.5 to 1.
    below = x.call("floor")
    return (x - below).compare("ge", 0.5).select(below + 1.0, below)


ROUNDING: dict[Rounding, Callable[[ScalarValue], ScalarValue]] = {
    Rounding.HALF_EVEN: lambda x: x.call("round"),
    Rounding.HALF_UP: _round_half_up,
}


def _wide(element_type: Attribute) -> Attribute:
    """Return the type in which quantised values are computed: f64 for doubles, else f32."""
    return f64 if element_type == f64 else f32


def _quotient(body: Body, x: ScalarValue, scale: SSAValue, index: Sequence[Index]) -> ScalarValue:
    """Return x / scale; for a power of two as a product, which is exact and avoids a division."""
    splat = splat_of(scale)
    if splat == 1:
        return x
    if splat and math.frexp(splat)[0] == 0.5 and 2.0**-126 <= splat <= 2.0**126:
        return x * (1 / splat)
    return x / read_broadcast(body, scale, index).cast(x.element_type)


def _is_narrow(op: nn.QuantizeOp) -> bool:
    """Return whether `op` rounds half to even, to integers of at most 16 bits."""
    size = nn.numpy_dtype(nn.tensor_type(op.result).element_type).itemsize
    return op.rounding.data is Rounding.HALF_EVEN and size <= 2


def _narrow(x: ScalarValue, zero: int, to: Attribute) -> ScalarValue:
    """Return x, rounded to even and moved by a zero point, as an integer of 8 or 16 bits.

    A sum with 1.5 * 2^23 has no fraction bits, so the addition rounds, and its lower bits are the
    integer. This avoids a rounding function and a conversion, which some compilers do lane by lane.
    Clamping first makes the sum exact and gives the same result as clamping afterwards.
    """
    low, high = extremes(to)
    bits = (x.max(float(low - zero)).min(float(high - zero)) + _ROUNDS).bits()
    return (bits + zero if zero else bits).cast(to)


def lower_quantize(kernel: KernelBuilder, op: nn.QuantizeOp) -> None:
    """Define `clamp(round(x[i] / scale[i]) + zero_point[i])`, with broadcast parameters."""
    to = nn.tensor_type(op.result).element_type
    low, high = extremes(to)
    shape = nn.shape_of(op.result)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        x = body.read(op.x, index)
        quotient = _quotient(body, x.cast(_wide(x.element_type)), op.scale, index)
        zero = splat_of(op.zero_point)
        if quotient.element_type == f32 and zero is not None and _is_narrow(op):
            return _narrow(quotient, int(zero), to)
        value = ROUNDING[op.rounding.data](quotient).cast(f32)
        if splat_of(op.zero_point) != 0:
            value = value + read_broadcast(body, op.zero_point, index).cast(f32)
        value = value.max(low).min(high)
        # Tails may hold any number, or divide by zero, which makes the cast undefined.
        inside = body.within(index, shape)
        return (value if inside is None else inside.select(value, 0)).cast(to)

    kernel.define(op.result, element)


def lower_dequantize(kernel: KernelBuilder, op: nn.DequantizeOp) -> None:
    """Define `(q[i] - zero_point[i]) * scale[i]`, with broadcast parameters."""
    to = nn.tensor_type(op.result).element_type

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        number = body.read(op.q, index).cast(i32)
        if splat_of(op.zero_point) != 0:
            number = number - read_broadcast(body, op.zero_point, index).cast(i32)
        scale = read_broadcast(body, op.scale, index).cast(_wide(to))
        return (number.cast(_wide(to)) * scale).cast(to)

    kernel.define(op.result, element)
