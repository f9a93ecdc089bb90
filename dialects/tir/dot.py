"""Products of bytes, four at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, MemRefType, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, Pure
from xdsl.utils.exceptions import VerifyException

QUAD = 4
"""Bytes multiplied by one `tir.dot`."""


@irdl_op_definition
class LoadQuadOp(IRDLOperation):
    """Four bytes as one 32-bit number, the first byte lowest.

    The indices address the first byte. The bytes are adjacent along the last axis and aligned
    to four bytes.
    """

    name = "tir.load_quad"
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def(i32)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$memref `[` $indices `]` attr-dict `:` type($memref)"

    def __init__(self, memref: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[memref, indices], result_types=[i32])

    def verify_(self) -> None:
        type_ = cast("MemRefType[Attribute]", self.memref.type)
        shape = type_.get_shape()
        if type_.element_type != i8 or not shape or shape[-1] % QUAD:
            raise VerifyException(f"the rows of {type_} must be multiples of {QUAD} bytes")
        if len(self.indices) != len(shape):
            raise VerifyException(
                f"{type_} must have {len(shape)} indices, not {len(self.indices)}"
            )


@irdl_op_definition
class DotOp(IRDLOperation):
    """sum + a[0] b[0] + ... + a[3] b[3], four products of bytes, in 32 bits.

    The bytes of a are unsigned, the bytes of b signed.
    """

    name = "tir.dot"
    sum = operand_def(i32)
    a = operand_def(i32)
    b = operand_def(i32)
    result = result_def(i32)
    traits = traits_def(Pure())
    assembly_format = "$sum `,` $a `,` $b attr-dict"

    def __init__(self, sum: SSAValue, a: SSAValue, b: SSAValue):
        super().__init__(operands=[sum, a, b], result_types=[i32])
