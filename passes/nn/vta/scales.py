"""Power-of-two scales of quantised networks, which VTA applies as shifts."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import nn
from ....dialects.inferred import require
from ....dialects.nn import Array
from ....weights import Weights

NO_EXPONENT = 1 << 10
"""The exponent of an array of zeros, which are multiples of any step."""


def scale_exponent(
    op: nn.QuantizeOp | nn.DequantizeOp, integers: SSAValue, weights: Weights
) -> int:
    """Return e for the scale 2^e of `op`, whose zero point is 0 and whose `integers` are int8.

    Raise VerifyException with one sentence for any other scale.
    """
    element = nn.tensor_type(integers).element_type
    require(element == i8, f"VTA's activations are int8, not {element}")
    scale, zero = (nn.constant_value(v, weights) for v in (op.scale, op.zero_point))
    if scale is None or zero is None:
        raise VerifyException("VTA's scales and zero points must be constants, not computed")
    require(not zero.any(), "VTA's zero points must be 0, but this one is not")
    is_one = scale.size > 0 and bool(np.all(scale == scale.flat[0]))
    require(is_one, "VTA has one scale per tensor, but this one has several")
    fraction, exponent = np.frexp(np.float64(scale.flat[0]))
    require(
        float(fraction) == 0.5,
        f"VTA's scales must be powers of two, but this one is {float(scale.flat[0]):g}",
    )
    return int(exponent) - 1


def common_exponent(array: Array) -> int:
    """Return the largest e such that each element is a multiple of 2^e.

    Raise VerifyException for numbers that are not finite.
    """
    require(bool(np.isfinite(array).all()), "a constant has elements that are not finite")
    used = array[array != 0].astype(np.float64)
    if not used.size:
        return NO_EXPONENT
    fractions, exponents = np.frexp(used)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    lowest = mantissas & -mantissas
    return int((exponents - 53 + np.log2(lowest.astype(np.float64)).astype(np.int64)).min())


def in_steps(array: Array, exponent: int, limit: int, what: str) -> Array:
    """Return an array in steps of 2^exponent, which divides it, as int64.

    Raise VerifyException if an element has more than `limit` steps.
    """
    steps = np.ldexp(array.astype(np.float64), -exponent)
    require(
        bool(np.abs(steps).max(initial=0) <= limit),
        f"{what} need steps of 2^{exponent}, and the largest has more than {limit} of them",
    )
    return steps.astype(np.int64)
