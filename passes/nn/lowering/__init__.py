"""From nn operations to loop nests: one row of `LOWERINGS` per operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from ....dialects import nn
from . import constant, convolution, elementwise, linear
from .kernel import Kernel, buffer_type

__all__ = ["LOWERINGS", "Kernel", "buffer_type"]

Lowering = Callable[[Kernel, Any], None]

LOWERINGS: dict[type[Operation], Lowering] = {
    nn.ConstantOp: constant.lower_constant,
    nn.UnaryOp: elementwise.lower_unary,
    nn.ClipOp: elementwise.lower_clip,
    nn.BinaryOp: elementwise.lower_binary,
    nn.CompareOp: elementwise.lower_compare,
    nn.WhereOp: elementwise.lower_where,
    nn.CastOp: elementwise.lower_cast,
    nn.MatmulOp: linear.lower_matmul,
    nn.ConvOp: convolution.lower_conv,
}
"""How each operation states the elements of its results (see `Kernel`)."""
