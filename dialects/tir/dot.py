"""Products of bytes, four at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, MemRefType, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException

QUAD = 4
"""Bytes that a step of `tir.dot` multiplies."""


@irdl_op_definition
class DotOp(IRDLOperation):
    """sum + a[i] b[j] + a[i + 1] b[j + 1] + ..., four products of bytes, in 32 bits.

    Indices name the first of four bytes, which are neighbours along the last axes of a and b and
    start at a multiple of four bytes. Those of a are unsigned, those of b signed.
    """

    name = "tir.dot"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    sum = operand_def(i32)
    a = operand_def(MemRefType)
    a_indices = var_operand_def(IndexType())
    b = operand_def(MemRefType)
    b_indices = var_operand_def(IndexType())
    result = result_def(i32)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$sum `,` $a `[` $a_indices `]` `,` $b `[` $b_indices `]` attr-dict "
        "`:` type($a) `,` type($b)"
    )

    def __init__(
        self,
        sum: SSAValue,
        a: tuple[SSAValue, Sequence[SSAValue]],
        b: tuple[SSAValue, Sequence[SSAValue]],
    ):
        super().__init__(operands=[sum, a[0], a[1], b[0], b[1]], result_types=[i32])

    def verify_(self) -> None:
        for buffer, indices in ((self.a, self.a_indices), (self.b, self.b_indices)):
            type_ = cast("MemRefType[Attribute]", buffer.type)
            shape = type_.get_shape()
            if type_.element_type != i8 or not shape or shape[-1] % QUAD:
                raise VerifyException(f"{type_} does not consist of rows of {QUAD} bytes")
            if len(indices) != len(shape):
                raise VerifyException(f"{type_} has {len(shape)} indices, not {len(indices)}")
