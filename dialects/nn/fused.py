"""Regions that become one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from .layout import LayoutAttr, plain_type, with_layout
from .types import tensor_type


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region of nn.fused with its results."""

    name = "nn.yield"
    values = var_operand_def(TensorType)
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(FusedOp), Pure()))
    assembly_format = "operands attr-dict `:` type(operands)"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


@irdl_op_definition
class FusedOp(IRDLOperation):
    """A group of operations that becomes one kernel; the block arguments are the operands.

    Operands and results may have layouts (`nn.layout`), in which the kernel reads and writes them.
    Tensors inside of the region are plain.
    """

    name = "nn.fused"
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure(), IsolatedFromAbove())
    assembly_format = "operands attr-dict `:` functional-type(operands, results) $body"

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        body: Region | Block,
        layouts: Sequence[LayoutAttr | None] | None = None,
    ):
        """`layouts` are the layouts of the results, plain by default."""
        region = Region(body) if isinstance(body, Block) else body
        last = region.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the region of nn.fused must end with nn.yield")
        if layouts is None:
            layouts = [None] * len(last.values)
        super().__init__(
            operands=[inputs],
            result_types=[
                [
                    with_layout(tensor_type(v), layout)
                    for v, layout in zip(last.values, layouts, strict=True)
                ]
            ],
            regions=[region],
        )

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values that the region yields."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values

    def verify_(self) -> None:
        block = self.body.block
        if not isinstance(block.last_op, YieldOp):
            raise VerifyException("the region of nn.fused must end with nn.yield")
        if [v.type for v in block.args] != [plain_type(v.type) for v in self.inputs]:
            raise VerifyException("block arguments and operands of nn.fused differ in type")
        if [v.type for v in block.last_op.values] != [plain_type(v.type) for v in self.outputs]:
            raise VerifyException("yielded values and results of nn.fused differ in type")
        for value in (*self.inputs, *self.outputs):
            if not tensor_type(value).has_static_shape():
                raise VerifyException(f"{value.type} has a dynamic dimension, nn shapes are static")
