"""Quantisation: floats as integers of a scale and a zero point, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from .attributes import Rounding, RoundingAttr
from .base import NNOp, require_float
from .interfaces import Role, Zeros
from .types import Tensor, broadcast, is_integer, is_unsigned, numpy_dtype, with_shape


def _require_broadcast(x: Tensor, scale: Tensor, zero_point: Tensor) -> None:
    """Refuse scales and zero points that add elements to x."""
    shape = broadcast(x.get_shape(), scale.get_shape(), zero_point.get_shape())
    if shape != x.get_shape():
        text = "x".join(map(str, shape)) or "scalar"
        raise VerifyException(f"scale and zero point of shape {text} do not broadcast to {x}")


@irdl_op_definition
class QuantizeOp(NNOp):
    """x / scale, rounded to an integer, plus the zero point, clamped to the zero point's type.

    The type has 8 or 16 bits. `half_even` rounds ties to the even integer (ONNX), `half_up`
    toward infinity, as adding half a step before a right shift does. Scale and zero point
    broadcast to x. The quotient is a float; of doubles it is a double.
    """

    name = "nn.quantize"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = operand_def(TensorType)
    rounding = prop_def(RoundingAttr)
    result = result_def(TensorType)
    assembly_format = "$rounding " + FORMAT

    def __init__(
        self,
        x: SSAValue,
        scale: SSAValue,
        zero_point: SSAValue,
        rounding: Rounding | str = Rounding.HALF_EVEN,
    ):
        super().__init__([x, scale, zero_point], {"rounding": RoundingAttr(Rounding(rounding))})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, scale, zero_point = operand_types
        require_float(x)
        require(
            scale.element_type == x.element_type,
            f"the scale has type {scale.element_type} but the elements are {x.element_type}",
        )
        to = zero_point.element_type
        require(
            is_integer(to) and numpy_dtype(to).itemsize <= 2,
            f"quantises to {to}, which is no integer of 8 or 16 bits",
        )
        _require_broadcast(x, scale, zero_point)
        return [with_shape(zero_point, x.get_shape())]

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        # A scale may be zero there, so the lowering stores a zero of its own.
        del axis, zeros
        return True


@irdl_op_definition
class DequantizeOp(NNOp):
    """(q - zero point) * scale, an integer times a float, in the scale's type.

    q has 8 or 16 bits, or is i32, as sums of products are. Scale and zero point broadcast to q.
    """

    name = "nn.dequantize"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    q = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, q: SSAValue, scale: SSAValue, zero_point: SSAValue):
        super().__init__([q, scale, zero_point], {})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        q, scale, zero_point = operand_types
        kind = q.element_type
        size = numpy_dtype(kind).itemsize if is_integer(kind) else 8
        require(
            size <= 2 or (size == 4 and not is_unsigned(kind)),
            f"dequantises {kind}, which is neither i32 nor an integer of 8 or 16 bits",
        )
        require(
            zero_point.element_type == kind,
            f"the zero point has type {zero_point.element_type} but the elements are {kind}",
        )
        require_float(scale)
        _require_broadcast(q, scale, zero_point)
        return [with_shape(scale, q.get_shape())]
