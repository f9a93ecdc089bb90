"""Layouts of tensors in memory: axes divided into blocks, and the kind of memory.

A tensor type without an encoding is plain: row-major in a buffer. `#nn.layout<[1 by 4]>` divides
axis 1 into blocks of four and puts the position within a block last: NCHW becomes the NCHW4c of
mobile GPUs. If the extent is not a multiple of the block, the tail of the last block holds zeros,
unless its tails are undefined, as in an image that somebody else fills.
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
"""The most elements of a block, which bounds the memory that the tail of a block costs."""


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """The encoding of a tensor type: `#nn.layout<[1 by 4], #tir.scope<texture, [3]>>`.

    Each block `axis by size` divides an axis; within-block positions follow the other axes in the
    order of the blocks. `memory` is the memory space of the buffer, as on a memref; without one it
    is a plain global buffer. `#nn.layout<[1 by 4] undefined tails>` promises no zeros in the tails.
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
        """Whether tails may hold anything, so that no kernel may use them."""
        return self.tails == UnitAttr()

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """Axis and size of each block."""
        return tuple(zip(self.axes.iter_values(), self.sizes.iter_values(), strict=True))

    def physical_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape in memory, with tails: `(1, 6, 8, 8)` by `[1 by 4]` is `(1, 2, 8, 8, 4)`."""
        size = dict(self.blocks)
        outer = [-(-extent // size.get(axis, 1)) for axis, extent in enumerate(shape)]
        return (*outer, *(size for _, size in self.blocks))

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The logical shape with tails: `(1, 6, 8, 8)` by `[1 by 4]` is `(1, 8, 8, 8)`."""
        size = dict(self.blocks)
        return tuple(
            -(-extent // size.get(axis, 1)) * size.get(axis, 1) for axis, extent in enumerate(shape)
        )

    def physical_index(self, index: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """The index in memory of the element at a logical index."""
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
                f"the blocks of a layout divide different axes by 2 to {MAX_BLOCK}, not "
                + ", ".join(f"{axis} by {size}" for axis, size in self.blocks)
            )


def layout_of(value: SSAValue) -> LayoutAttr | None:
    """The layout of a tensor; None for a plain one."""
    encoding = tensor_type(value).encoding
    return encoding if isinstance(encoding, LayoutAttr) else None


# Types are checked when they are made, and networks have few.
@lru_cache(maxsize=4096)
def with_layout(type_: Tensor, layout: LayoutAttr | None) -> Tensor:
    """The tensor type with another layout; None is the plain one."""
    encoding = NoneAttr() if layout is None else layout
    if type_.encoding == encoding:
        return type_
    return TensorType(type_.element_type, type_.get_shape(), encoding)


def plain_type(type_: Attribute) -> Tensor:
    """The tensor type without its layout."""
    return with_layout(cast(Tensor, type_), None)


@irdl_op_definition
class RelayoutOp(IRDLOperation):
    """The same values in another layout or memory: NCHW to NCHW4c and back, image to buffer.

    It stands between kernels. `nn-fold-relayouts` lets a neighbour read or write the other layout
    if that is cheaper. A relayout of a constant happens at compile time.
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
            raise VerifyException("nn.relayout changes the layout of a tensor and nothing else")
        for value in (self.x, self.result):
            layout, rank = layout_of(value), len(tensor_type(value).get_shape())
            if layout is not None and any(axis >= rank for axis, _ in layout.blocks):
                raise VerifyException(f"a layout divides an axis that {value.type} does not have")


def source_of(value: SSAValue) -> SSAValue:
    """The value before all changes of layout: the same numbers in the layout of their kernel."""
    while isinstance(value.owner, RelayoutOp):
        value = value.owner.x
    return value


def constant_of(value: SSAValue) -> ConstantOp | None:
    """The constant that defines a value, before changes of layout; None if none does."""
    owner = source_of(value).owner
    return owner if isinstance(owner, ConstantOp) else None
