"""The commands of a queue program, and its buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    FixedBitwidthType,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..ranged_size import RangedSize
from .images import image_of, is_over_buffer
from .range_attr import sizes_of


def byte_count(type_: Attribute) -> int:
    """Return the bytes of a buffer or image type, which must have a static shape.

    Raises VerifyException for any other type.
    """
    if not isinstance(type_, MemRefType):
        raise VerifyException(f"a buffer must have a memref type, not {type_}")
    buffer = cast("MemRefType[Attribute]", type_)
    if not buffer.has_static_shape():
        raise VerifyException(f"a buffer must have a static shape, not {type_}")
    element = buffer.element_type
    if not isinstance(element, FixedBitwidthType):
        raise VerifyException(f"a buffer cannot hold elements of type {element}")
    image_of(buffer)  # raises VerifyException for an invalid image shape
    return buffer.element_count() * element.size


def parse_offset(parser: Parser) -> int:
    """Parse the offset in square brackets after a value, in bytes."""
    with parser.in_square_brackets():
        return parser.parse_integer()


def parse_optional_offset(parser: Parser) -> int | None:
    """Parse an offset in square brackets; return None if there are no brackets."""
    if parser.parse_optional_punctuation("[") is None:
        return None
    offset = parser.parse_integer()
    parser.parse_punctuation("]")
    return offset


def parse_types(parser: Parser) -> tuple[dict[str, Attribute], Attribute, Attribute]:
    """Parse the attributes of an operation, and its types as `: operand to result`."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    before = parser.parse_type()
    parser.parse_keyword("to")
    return attributes, before, parser.parse_type()


def print_types(
    printer: Printer, attributes: dict[str, Attribute], before: Attribute, after: Attribute
) -> None:
    """Print attributes and types as `parse_types` reads them."""
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    printer.print_attribute(before)
    printer.print_string(" to ")
    printer.print_attribute(after)


def print_offset(printer: Printer, offset: int) -> None:
    """Print an offset as `parse_offset` reads it."""
    printer.print_string(f"[{offset}]")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A buffer or image with the array `key` of the weights store, uploaded once.

    `cl.constant "w_0123456789abcdef" : memref<64x3x7x7xf32>`
    """

    name = "cl.constant"
    key = prop_def(StringAttr)
    result = result_def(MemRefType)
    assembly_format = "$key attr-dict `:` type($result)"

    def __init__(self, key: str, type: MemRefType):
        super().__init__(properties={"key": StringAttr(key)}, result_types=[type])

    def verify_(self) -> None:
        byte_count(self.result.type)


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer or image for an intermediate result: `cl.alloc : memref<1x64x56x56xf32>`."""

    name = "cl.alloc"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: MemRefType):
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        byte_count(self.result.type)


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same bytes with another type: `cl.view %t : memref<4x4xf32> to memref<16xf32>`.

    With an offset in bytes, a part of them: `cl.view %t[32] : memref<4x4xf32> to memref<2x4xf32>`.
    An `image1d_buffer` is a view of a buffer and shares its bytes; other images cannot.
    """

    name = "cl.view"
    source = operand_def(MemRefType)
    at = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)

    def __init__(self, source: SSAValue, type: Attribute, offset: int | None = None):
        super().__init__(
            operands=[source],
            properties={"at": None if offset is None else IntegerAttr(offset, i64)},
            result_types=[type],
        )

    @property
    def offset(self) -> int:
        """Return the byte of the source at which the result starts."""
        return 0 if self.at is None else self.at.value.data

    def verify_(self) -> None:
        before, after = byte_count(self.source.type), byte_count(self.result.type)
        if self.at is None and before != after:
            raise VerifyException(
                f"a view must have the size of its source, but {self.source.type} has {before} "
                f"and {self.result.type} has {after}"
            )
        if self.at is not None and (after == 0 or not 0 <= self.offset <= before - after):
            raise VerifyException(
                f"the {after} bytes of {self.result.type} from byte {self.offset} on exceed "
                f"the {before} bytes of {self.source.type}"
            )
        for value in (self.source, self.result):
            if not is_over_buffer(value.type):
                raise VerifyException(
                    f"{value.type} is not backed by a buffer, so it cannot share its bytes with "
                    "another value; copy it, or give it a scope without separators"
                )

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        source = parser.parse_unresolved_operand()
        offset = parse_optional_offset(parser)
        attributes, before, after = parse_types(parser)
        op = cls(parser.resolve_operand(source, before), after, offset)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        if self.at is not None:
            print_offset(printer, self.offset)
        print_types(printer, self.attributes, self.source.type, self.result.type)


@irdl_op_definition
class EnqueueKernelOp(IRDLOperation):
    """Launches a kernel over its own NDRange.

    `cl.enqueue_kernel @conv(%x, %w, %y) : memref<…>, memref<…>, memref<…>`

    In a module with a `cl.range`, `sizes affine_map<()[s0] -> (16, s0 ceildiv 4)>` after the
    arguments is the NDRange for a smaller value s0 of the symbol.
    """

    name = "cl.enqueue_kernel"
    kernel = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    sizes = opt_prop_def(AffineMapAttr)
    assembly_format = "$kernel `(` $args `)` (`sizes` $sizes^)? attr-dict (`:` type($args)^)?"

    def __init__(self, kernel: str, args: Sequence[SSAValue]):
        super().__init__(operands=[args], properties={"kernel": SymbolRefAttr(kernel)})

    @property
    def kernel_name(self) -> str:
        """Return the name of the kernel."""
        return self.kernel.root_reference.data

    @property
    def ranged_sizes(self) -> tuple[RangedSize, ...] | None:
        """Return the global sizes for smaller values of the symbol; None if they stay the same."""
        return None if self.sizes is None else sizes_of(self.sizes.data)

    def verify_(self) -> None:
        _ = self.ranged_sizes


@irdl_op_definition
class EnqueueCopyOp(IRDLOperation):
    """Copies one whole buffer or image to another: `cl.enqueue_copy %t, %y : memref<4xf32>`.

    Both have the same shape and elements. For a copy between a buffer and an image both types are
    written: `cl.enqueue_copy %t, %y : memref<2x3x4xf32> to memref<2x3x4xf32, #tir.scope<…>>`.
    """

    name = "cl.enqueue_copy"
    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination])

    def verify_(self) -> None:
        before = cast("MemRefType[Attribute]", self.source.type)
        after = cast("MemRefType[Attribute]", self.destination.type)
        if before == after:
            return
        shapes = [(t.get_shape(), t.element_type, t.layout) for t in (before, after)]
        if shapes[0] != shapes[1]:
            raise VerifyException(f"a copy cannot convert {before} to {after}: launch a kernel")
        if not (is_over_buffer(before) or is_over_buffer(after)):
            raise VerifyException(
                f"OpenCL cannot copy an image of {before} to one of {after}: launch a kernel, or "
                "give both the same separators"
            )

    @classmethod
    def parse(cls, parser: Parser) -> EnqueueCopyOp:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        destination = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        before = after = parser.parse_type()
        if parser.parse_optional_keyword("to"):
            after = parser.parse_type()
        op = cls(parser.resolve_operand(source, before), parser.resolve_operand(destination, after))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        if self.destination.type != self.source.type:
            printer.print_string(" to ")
            printer.print_attribute(self.destination.type)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The terminator of a program."""

    name = "cl.return"
    assembly_format = "attr-dict"
    traits = traits_def(IsTerminator())

    def __init__(self):
        super().__init__()
