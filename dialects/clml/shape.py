"""Commands that move elements: padding, reshape, concatenation, depth to space, copies."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, cast

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints, number
from .attributes import Layout, PadMode, PadModeAttr
from .base import ANY_LAYOUT, ArithmeticOp, MLOp, require_pads
from .types import MLTensorType, Shape, ml_tensor, sizes_text


@irdl_op_definition
class PadOp(ArithmeticOp):
    """Pads H and W by top, left, bottom, right with zeros, or with x mirrored.

    `reflect` mirrors at the border element; `symmetric` mirrors beside it and so repeats it. CLML
    pads only optimal tensors, so an input of the graph needs a `clml.copy` first.
    """

    name = "clml.pad"
    x = operand_def(MLTensorType)
    mode = prop_def(PadModeAttr)
    pads = prop_def(I64_ARRAY)
    result = result_def(MLTensorType)
    assembly_format = "$mode " + FORMAT

    def __init__(
        self,
        x: SSAValue,
        result_type: MLTensorType,
        *,
        mode: PadMode | str = PadMode.CONSTANT,
        pads: Sequence[int],
    ):
        properties = {"mode": PadModeAttr(PadMode(mode)), "pads": int_array(pads)}
        super().__init__([x], properties, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        n, c, h, w = operand_types[0].get_shape()
        pads = ints(properties["pads"])
        mode = cast(PadModeAttr, properties["mode"]).data
        require_pads(pads)
        top, left, bottom, right = pads
        for size, most in ((h, max(top, bottom)), (w, max(left, right))):
            if mode is not PadMode.CONSTANT:
                limit = size - 1 if mode is PadMode.REFLECT else size
                require(
                    most <= limit,
                    f"{mode} padding of {size} elements must be at most {limit}, not {most}",
                )
        return n, c, h + top + bottom, w + left + right


@irdl_op_definition
class ReshapeOp(MLOp):
    """The same elements, in the order n, c, h, w, with other sizes."""

    name = "clml.reshape"
    x = operand_def(MLTensorType)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    LAYOUTS: ClassVar[tuple[Layout, ...]] = (Layout.OPTIMAL, Layout.NCHW)

    def __init__(self, x: SSAValue, result_type: MLTensorType):
        super().__init__([x], {}, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        x = operand_types[0].get_shape()
        require(
            prod(x) == prod(asked),
            f"a reshape must keep the number of elements, but {sizes_text(x)} has {prod(x)} and "
            f"{sizes_text(asked)} has {prod(asked)}",
        )
        return asked


@irdl_op_definition
class ConcatOp(ArithmeticOp):
    """The inputs concatenated along the channels."""

    name = "clml.concat"
    inputs = var_operand_def(MLTensorType)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    def __init__(self, inputs: Sequence[SSAValue], result_type: MLTensorType):
        super().__init__([inputs], {}, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        shapes = [type_.get_shape() for type_ in operand_types]
        require(
            len(shapes) >= 2, f"a concatenation must have two inputs or more, not {len(shapes)}"
        )
        n, _, h, w = shapes[0]
        for shape in shapes[1:]:
            require(
                (shape[0], *shape[2:]) == (n, h, w),
                f"CLML concatenates channels, but {sizes_text(shapes[0])} and {sizes_text(shape)} "
                "differ in another size",
            )
        return n, sum(shape[1] for shape in shapes), h, w


@irdl_op_definition
class DepthToSpaceOp(ArithmeticOp):
    """Channels to blocks of the plane, the position in the block outermost (ONNX mode DCR)."""

    name = "clml.depth_to_space"
    x = operand_def(MLTensorType)
    block = prop_def(I64)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, result_type: MLTensorType, *, block: int):
        super().__init__([x], {"block": integer(block)}, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        n, c, h, w = operand_types[0].get_shape()
        block = int(number(properties["block"]))
        require(block >= 1, f"the block must be positive, but is {block}")
        require(c % block**2 == 0, f"{c} channels do not divide into blocks of {block}x{block}")
        return n, c // block**2, h * block, w * block


@irdl_op_definition
class CopyOp(MLOp):
    """The same tensor in another layout."""

    name = "clml.copy"
    x = operand_def(MLTensorType)
    result = result_def(MLTensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    LAYOUTS: ClassVar[tuple[Layout, ...]] = ANY_LAYOUT

    def __init__(self, x: SSAValue, result_type: MLTensorType):
        super().__init__([x], {}, result_type)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        return operand_types[0].get_shape()

    def _verify_layouts(self, operands: Sequence[MLTensorType], result: MLTensorType) -> None:
        if ml_tensor(self.x).layout is result.layout:
            raise VerifyException(
                f"a copy must change the layout, but both sides are {result.layout}"
            )
