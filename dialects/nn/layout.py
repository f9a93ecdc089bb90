"""Layouts of tensors in memory: axes divided into blocks, and the kind of memory.

A tensor type without an encoding is plain: row-major in a buffer. `#nn.layout<[1 by 4]>` divides
axis 1 into blocks of four and makes the position within a block the last axis: NCHW becomes the
NCHW4c of mobile GPUs. If the extent is not a multiple of the block, the tail of the last block is
zero. Exceptions are layouts with undefined tails, for images that the application fills.
The shapes of nn values stay logical; only values between kernels have layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import I64, DenseArrayBase, NoneAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .constant import ConstantOp
from .types import Tensor, tensor_type

MAX_BLOCK = 1024
"""Largest block, in elements; it bounds the memory wasted by the tail of a block."""


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """The encoding of a tensor type: `#nn.layout<[1 by 4], #tir.scope<texture, [3]>>`.

    Each block `axis by size` divides an axis; positions within blocks follow the other axes in the
    order of the blocks. `memory` is the memory space of the buffer, as on a memref; the default is
    a plain global buffer. With `#nn.layout<[1 by 4] undefined tails>`, tails are not guaranteed to
    be zero.
    """

    name = "nn.layout"

    axes: DenseArrayBase[I64]
    sizes: DenseArrayBase[I64]
    memory: Attribute
    tails: Attribute

    def __init__(
        self,
        blocks: Sequence[tuple[int, int]],
        memory: Attribute | None = None,
        undefined_tails: bool = False,
    ):
        super().__init__(
            DenseArrayBase.from_list(i64, [axis for axis, _ in blocks]),
            DenseArrayBase.from_list(i64, [size for _, size in blocks]),
            NoneAttr() if memory is None else memory,
            UnitAttr() if undefined_tails else NoneAttr(),
        )

    @property
    def undefined_tails(self) -> bool:
        """Return whether tails may hold anything, so that no kernel may use them."""
        return self.tails == UnitAttr()

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """Return the axis and size of each block."""
        return tuple(zip(self.axes.iter_values(), self.sizes.iter_values(), strict=True))

    def physical_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape in memory: (1, 6, 8, 8) in `[1 by 4]` is (1, 2, 8, 8, 4)."""
        size = dict(self.blocks)
        outer = [-(-extent // size.get(axis, 1)) for axis, extent in enumerate(shape)]
        return (*outer, *(size for _, size in self.blocks))

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the logical shape with tails: (1, 6, 8, 8) in `[1 by 4]` is (1, 8, 8, 8)."""
        size = dict(self.blocks)
        return tuple(
            -(-extent // size.get(axis, 1)) * size.get(axis, 1) for axis, extent in enumerate(shape)
        )

    def physical_index(self, index: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """Return the index in memory of the element at a logical index."""
        size = dict(self.blocks)
        outer = [i // size[axis] if axis in size else i for axis, i in enumerate(index)]
        return (*outer, *(index[axis] % size for axis, size in self.blocks))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def block() -> tuple[int, int]:
            axis = parser.parse_integer()
            parser.parse_keyword("by")
            return axis, parser.parse_integer()

        with parser.in_angle_brackets():
            blocks = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, block)
            undefined = parser.parse_optional_keyword("undefined") is not None
            if undefined:
                parser.parse_keyword("tails")
            memory = parser.parse_attribute() if parser.parse_optional_punctuation(",") else None
        return cls(blocks, memory, undefined).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            blocks = ", ".join(f"{axis} by {size}" for axis, size in self.blocks)
            printer.print_string(f"[{blocks}]{' undefined tails' if self.undefined_tails else ''}")
            if not isinstance(self.memory, NoneAttr):
                printer.print_string(", ")
                printer.print_attribute(self.memory)

    def verify(self) -> None:
        axes = [axis for axis, _ in self.blocks]
        fit = all(axis >= 0 and 2 <= size <= MAX_BLOCK for axis, size in self.blocks)
        if len(set(axes)) < len(axes) or not fit:
            raise VerifyException(
                f"the blocks of a layout must divide distinct axes by 2 to {MAX_BLOCK}, not "
                + ", ".join(f"{axis} by {size}" for axis, size in self.blocks)
            )


def layout_of(value: SSAValue) -> LayoutAttr | None:
    """Return the layout of a tensor, or None if it is plain."""
    encoding = tensor_type(value).encoding
    return encoding if isinstance(encoding, LayoutAttr) else None


# Constructing a type verifies it; networks use few distinct types.
@lru_cache(maxsize=4096)
def with_layout(type_: Tensor, layout: LayoutAttr | None) -> Tensor:
    """Return the tensor type with another layout; None is the plain layout."""
    encoding = NoneAttr() if layout is None else layout
    if type_.encoding == encoding:
        return type_
    return TensorType(type_.element_type, type_.get_shape(), encoding)


def plain_type(type_: Attribute) -> Tensor:
    """Return the tensor type without its layout."""
    return with_layout(cast(Tensor, type_), None)


@irdl_op_definition
class RelayoutOp(IRDLOperation):
    """The same values in another layout or memory: NCHW to NCHW4c and back, image to buffer.

    Relayouts appear between kernels. `nn-choose` inserts one where that costs less than a kernel
    that reads or writes the other layout directly. A constant is relaid out at compile time.
    """

    name = "nn.relayout"
    x = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, layout: LayoutAttr | None):
        super().__init__(operands=[x], result_types=[with_layout(tensor_type(x), layout)])

    def verify_(self) -> None:
        if plain_type(self.x.type) != plain_type(self.result.type):
            raise VerifyException("nn.relayout may change only the layout of a tensor")
        for value in (self.x, self.result):
            layout, rank = layout_of(value), len(tensor_type(value).get_shape())
            if layout is not None and any(axis >= rank for axis, _ in layout.blocks):
                raise VerifyException(f"a layout divides an axis that {value.type} does not have")


def source_of(value: SSAValue) -> SSAValue:
    """Return the value before all relayouts, in the layout of the kernel that defines it."""
    while isinstance(value.owner, RelayoutOp):
        value = value.owner.x
    return value


def constant_of(value: SSAValue) -> ConstantOp | None:
    """Return the constant that defines a value, ignoring relayouts, or None."""
    owner = source_of(value).owner
    return owner if isinstance(owner, ConstantOp) else None
