"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import F64, number, real
from .attributes import Activation, ActivationAttr, BinaryKind, BinaryKindAttr, Layout
from .base import ANY_LAYOUT, ArithmeticOp
from .types import MLTensorType, Shape, sizes_text

_BINARY = tuple(map(BinaryKind, "add sub mul div min max".split()))
"""The functions of two tensors that CLML provides."""


@irdl_op_definition
class ActivationOp(ArithmeticOp):
    """An elementwise activation function."""

    name = "clml.activation"
    x = operand_def(MLTensorType)
    activation = prop_def(ActivationAttr)
    result = result_def(MLTensorType)
    assembly_format = "$activation " + FORMAT

    LAYOUTS: ClassVar[tuple[Layout, ...]] = ANY_LAYOUT

    def __init__(self, x: SSAValue, result_type: MLTensorType, *, activation: Activation | str):
        properties = {"activation": ActivationAttr(Activation(activation))}
        super().__init__([x], properties, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        return operand_types[0].get_shape()


@irdl_op_definition
class BinaryOp(ArithmeticOp):
    """A function of two different tensors of equal sizes: CLML does not broadcast."""

    name = "clml.binary"
    a = operand_def(MLTensorType)
    b = operand_def(MLTensorType)
    kind = prop_def(BinaryKindAttr)
    result = result_def(MLTensorType)
    assembly_format = "$kind " + FORMAT

    LAYOUTS: ClassVar[tuple[Layout, ...]] = ANY_LAYOUT

    def __init__(
        self, a: SSAValue, b: SSAValue, result_type: MLTensorType, *, kind: BinaryKind | str
    ):
        super().__init__([a, b], {"kind": BinaryKindAttr(BinaryKind(kind))}, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        kind = cast(BinaryKindAttr, properties["kind"]).data
        require(kind in _BINARY, f"CLML has the functions {', '.join(_BINARY)}, not {kind}")
        a, b = (type_.get_shape() for type_ in operand_types)
        require(
            a == b,
            f"CLML does not broadcast, but the operands have the sizes {sizes_text(a)} and "
            f"{sizes_text(b)}",
        )
        return a

    def verify_(self) -> None:
        super().verify_()
        if self.a is self.b:
            raise VerifyException(
                "CLML requires two different tensors, but both operands are the same"
            )


@irdl_op_definition
class ClipOp(ArithmeticOp):
    """Each element clamped to the range from `minimum` to `maximum`."""

    name = "clml.clip"
    x = operand_def(MLTensorType)
    minimum = prop_def(F64)
    maximum = prop_def(F64)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    LAYOUTS: ClassVar[tuple[Layout, ...]] = ANY_LAYOUT
    REQUIRED_VERSION: ClassVar[int] = 2

    def __init__(self, x: SSAValue, result_type: MLTensorType, *, minimum: float, maximum: float):
        properties = {"minimum": real(minimum), "maximum": real(maximum)}
        super().__init__([x], properties, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        minimum, maximum = (number(properties[name]) for name in ("minimum", "maximum"))
        require(minimum <= maximum, f"minimum {minimum} must not exceed maximum {maximum}")
        return operand_types[0].get_shape()
