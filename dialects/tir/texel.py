"""Reads and writes of texels, the lowered form of accesses to packed memory.

`tir-lower-textures` creates them from loads and stores of memrefs whose last axis is a texel, and
from loads of adjacent elements in rows. Like those accesses, they access one element, at a lane of
the texel. The emitter moves whole texels: reads of several lanes of one texel share one read, and a
vectorized loop over the lanes becomes a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from .texture import TEXEL, image_of, is_texture


@irdl_op_definition
class TexelReadOp(IRDLOperation):
    """Element `lane` of the texel at `coords` (x first).

    In a global memref, which must have a multiple of four elements, the only coordinate counts
    texels from the start. With `border`, coordinates may be outside the image, where every element
    is zero; without it they are proved to be inside. Global memory has no border.
    """

    name = "tir.texel_read"
    source = operand_def(MemRefType)
    coords = var_operand_def(IndexType())
    lane = operand_def(IndexType())
    border = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$source `[` $coords `]` `lane` $lane (`border` $border^)? attr-dict "
        "`:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        source: SSAValue,
        coords: Sequence[SSAValue],
        lane: SSAValue,
        *,
        border: bool = False,
    ):
        type_ = cast("MemRefType[Attribute]", source.type)
        super().__init__(
            operands=[source, coords, lane],
            properties={"border": UnitAttr() if border else None},
            result_types=[type_.element_type],
        )

    def verify_(self) -> None:
        _verify(self.source, self.coords, self.result.type)
        if self.border is not None and not is_texture(self.source.type):
            raise VerifyException("global memory must not have a border: clamp the coordinate")


@irdl_op_definition
class TexelWriteOp(IRDLOperation):
    """Writes element `lane` of the texel at `coords` (x first), which must be inside the image.

    A vectorized or unrolled loop writes all lanes of a texel together.
    """

    name = "tir.texel_write"
    value = operand_def()
    destination = operand_def(MemRefType)
    coords = var_operand_def(IndexType())
    lane = operand_def(IndexType())
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $destination `[` $coords `]` `lane` $lane attr-dict "
        "`:` type($value) `,` type($destination)"
    )

    def __init__(
        self,
        value: SSAValue,
        destination: SSAValue,
        coords: Sequence[SSAValue],
        lane: SSAValue,
    ):
        super().__init__(operands=[value, destination, coords, lane])

    def verify_(self) -> None:
        _verify(self.destination, self.coords, self.value.type)


def _verify(buffer: SSAValue, coords: Sequence[SSAValue], element: Attribute) -> None:
    type_ = cast("MemRefType[Attribute]", buffer.type)
    if type_.element_type != element:
        raise VerifyException(f"an element of {type_} does not have the type {element}")
    if is_texture(type_):
        expected = len(image_of(type_).extents)
    elif prod(type_.get_shape()) % TEXEL == 0:
        expected = 1
    else:
        raise VerifyException(
            f"the size of {type_} must be a multiple of {TEXEL} elements, a texel"
        )
    if len(coords) != expected:
        raise VerifyException(
            f"a texel of {type_} must have {expected} coordinates, not {len(coords)}"
        )
