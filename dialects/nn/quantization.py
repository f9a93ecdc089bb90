"""Quantisation: floats as integers with a scale and a zero point, and back."""

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
    """Raise VerifyException unless scale and zero point broadcast to the shape of x."""
    shape = broadcast(x.get_shape(), scale.get_shape(), zero_point.get_shape())
    if shape != x.get_shape():
        text = "x".join(map(str, shape)) or "scalar"
        raise VerifyException(f"scale and zero point of shape {text} do not broadcast to {x}")


@irdl_op_definition
class QuantizeOp(NNOp):
    """Quantisation: x / scale rounded, plus the zero point, clamped to the zero point's type.

    The type has 8 or 16 bits. `half_even` rounds ties to the even integer (ONNX); `half_up` rounds
    them toward infinity, as adding half a step before a right shift does. Scale and zero point
    broadcast to x. The quotient is computed in f32, for f64 operands in f64.
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
            f"the zero point must be an integer of 8 or 16 bits, not {to}",
        )
        _require_broadcast(x, scale, zero_point)
        return [with_shape(zero_point, x.get_shape())]

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        # The scale may be zero in the tail, so the lowering stores an explicit zero.
        del axis, zeros
        return True


@irdl_op_definition
class DequantizeOp(NNOp):
    """Dequantisation: (q - zero point) * scale, in the type of the scale.

    q has 8 or 16 bits, or is i32 for sums of products. Scale and zero point broadcast to q.
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
            f"elements must be i32 or integers of 8 or 16 bits, not {kind}",
        )
        require(
            zero_point.element_type == kind,
            f"the zero point has type {zero_point.element_type} but the elements are {kind}",
        )
        require_float(scale)
        _require_broadcast(q, scale, zero_point)
        return [with_shape(scale, q.get_shape())]
