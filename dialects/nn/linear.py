"""Matrix multiplication."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float16Type, TensorType, UnitAttr, f16
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import flag
from .base import NNOp, require_accumulator, sum_element
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, broadcast, count, is_bool, shape_of


@irdl_op_definition
class MatmulOp(NNOp):
    """a [..., M, K] times b [..., K, N]; batch dimensions broadcast.

    `transpose_a` and `transpose_b` swap the last two dimensions of an operand first. Products of
    f16 are accumulated in f32, or in f16 if `accumulate` is f16. Products of 8-bit integers, signed
    or not, are accumulated in i32.
    """

    name = "nn.matmul"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    accumulate = opt_prop_def(Float16Type)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        transpose_a: bool = False,
        transpose_b: bool = False,
        *,
        accumulate_half: bool = False,
    ):
        super().__init__(
            [a, b],
            {
                "transpose_a": flag(transpose_a),
                "transpose_b": flag(transpose_b),
                "accumulate": f16 if accumulate_half else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        element = sum_element(operand_types)
        require_accumulator(operand_types, properties)
        require(not is_bool(operand_types[0].element_type), "matmul of i1 elements is not defined")
        a, b = (list(t.get_shape()) for t in operand_types)
        require(min(len(a), len(b)) >= 2, "matmul operands must have rank 2 or more")
        if "transpose_a" in properties:
            a[-2:] = a[-1], a[-2]
        if "transpose_b" in properties:
            b[-2:] = b[-1], b[-2]
        require(a[-1] == b[-2], f"matmul contracts {a[-1]} columns with {b[-2]} rows")
        shape = (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])
        return [TensorType(element, shape)]

    def visits(self) -> int:
        depth = shape_of(self.a)[-1 if self.transpose_a is None else -2]
        return max(super().visits(), count(shape_of(self.result)) * depth)

    def has_value_of_nothing(self) -> bool:
        return True

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        return any(zeros.linked_zero(self, axis, value) for value in (self.a, self.b))
