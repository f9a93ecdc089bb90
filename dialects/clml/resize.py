"""Bilinear resize."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import boolean, is_true
from .base import ArithmeticOp
from .types import MLTensorType, Shape, sizes_text


@irdl_op_definition
class ResizeBilinearOp(ArithmeticOp):
    """Interpolates the plane to h and w of the result.

    Element i of m in the result is at i * (n - 1) / (m - 1) of n elements with `align_corners`,
    else at i * n / m (ONNX: asymmetric). CLML does not support half-pixel centres.
    """

    name = "clml.resize_bilinear"
    x = operand_def(MLTensorType)
    align_corners = prop_def(BoolAttr)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, result_type: MLTensorType, *, align_corners: bool):
        super().__init__([x], {"align_corners": boolean(align_corners)}, result_type)

    @property
    def adds_up(self) -> bool:
        return True

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        n, c, _, _ = operand_types[0].get_shape()
        require(
            not is_true(properties["align_corners"]) or min(asked[2:]) > 1,
            "align_corners requires at least two rows and columns, but the result is "
            f"{sizes_text(asked)}",
        )
        return n, c, asked[2], asked[3]
