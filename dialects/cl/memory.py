"""Planned memory: arenas, and the buffers and images that are views of them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i8, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .. import tir
from .images import image_of
from .ops import byte_count, parse_offset, print_offset


def stored_bytes(type_: Attribute, pitch: int | None = None) -> int:
    """Return the bytes of a value in a buffer; rows of an image with a pitch take the pitch."""
    image = image_of(type_)
    if image is None or pitch is None:
        return byte_count(type_)
    return pitch * image.height


def row_bytes(image: tir.Image) -> int:
    """Return the bytes of the texels of a row, without padding."""
    return image.width * texel_bytes(image)


def texel_bytes(image: tir.Image) -> int:
    """Return the bytes of a texel."""
    return byte_count(MemRefType(image.element_type, [tir.TEXEL]))


@irdl_op_definition
class ArenaOp(IRDLOperation):
    """A buffer for intermediate results, used only through views.

    `%arena = cl.arena : memref<4816896xi8>`

    A program has several arenas if one would exceed the largest buffer of the device. The caller
    may provide them.
    """

    name = "cl.arena"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, size: int):
        super().__init__(result_types=[MemRefType(i8, [size])])

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return byte_count(self.result.type)

    def verify_(self) -> None:
        type_ = self.result.type
        if type_ != MemRefType(i8, [byte_count(type_)]):
            raise VerifyException(f"an arena must be a row of bytes, memref<…xi8>, not {type_}")
        if self.size == 0:
            raise VerifyException("an arena must not be empty; remove an arena without views")


@irdl_op_definition
class BufferViewOp(IRDLOperation):
    """A buffer at a byte offset in an arena.

    `%x = cl.buffer_view %arena[1024] : memref<1x64x56x56xf32>`
    """

    name = "cl.buffer_view"
    arena = operand_def(MemRefType)
    at = prop_def(IntegerAttr)
    result = result_def(MemRefType)

    def __init__(self, arena: SSAValue, offset: int, type: Attribute):
        super().__init__(
            operands=[arena], properties={"at": IntegerAttr(offset, i64)}, result_types=[type]
        )

    @property
    def offset(self) -> int:
        """Return the byte of the arena at which the buffer starts."""
        return self.at.value.data

    def verify_(self) -> None:
        if image_of(self.result.type) is not None:
            raise VerifyException(f"{self.result.type} is a texture: use cl.image_view")
        _verify_inside(self.arena, self.offset, byte_count(self.result.type), self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> BufferViewOp:
        arena = _parse_arena(parser)
        offset = parse_offset(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(arena, offset, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.arena)
        print_offset(printer, self.offset)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ImageViewOp(IRDLOperation):
    """An image at a byte offset in an arena; each row of a 2-D image takes `pitch` bytes.

    `%y = cl.image_view %arena[8192] pitch 896 : memref<1x16x56x56x4xf32, #tir.scope<texture, [3]>>`

    An `image1d_buffer` has one row and no pitch. Image arrays stay `cl.alloc`, since OpenCL cannot
    create an array from a buffer (cl_khr_image2d_from_buffer).
    """

    name = "cl.image_view"
    arena = operand_def(MemRefType)
    at = prop_def(IntegerAttr)
    row_pitch = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)

    def __init__(self, arena: SSAValue, offset: int, type: Attribute, pitch: int | None = None):
        super().__init__(
            operands=[arena],
            properties={
                "at": IntegerAttr(offset, i64),
                "row_pitch": None if pitch is None else IntegerAttr(pitch, i64),
            },
            result_types=[type],
        )

    @property
    def offset(self) -> int:
        """Return the byte of the arena at which the image starts."""
        return self.at.value.data

    @property
    def pitch(self) -> int | None:
        """Return the bytes between the starts of two rows, or None for an `image1d_buffer`."""
        return None if self.row_pitch is None else self.row_pitch.value.data

    def verify_(self) -> None:
        type_ = self.result.type
        image = image_of(type_)
        if image is None:
            raise VerifyException(f"{type_} is not a texture: use cl.buffer_view")
        _verify_pitch(image, self.pitch)
        _verify_inside(self.arena, self.offset, stored_bytes(type_, self.pitch), type_)

    @classmethod
    def parse(cls, parser: Parser) -> ImageViewOp:
        arena = _parse_arena(parser)
        offset = parse_offset(parser)
        pitch = parser.parse_integer() if parser.parse_optional_keyword("pitch") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(arena, offset, parser.parse_type(), pitch)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.arena)
        print_offset(printer, self.offset)
        if self.pitch is not None:
            printer.print_string(f" pitch {self.pitch}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


def _parse_arena(parser: Parser) -> SSAValue:
    """Parse a reference to an arena; it must be defined before, as its type is not written."""
    arena = parser.parse_unresolved_operand()
    known = parser.ssa_values.get(arena.operand_name)
    if known is None:
        parser.raise_error("an arena must be defined before its views", arena.span)
    return parser.resolve_operand(arena, known[0].type)


def _verify_pitch(image: tir.Image, pitch: int | None) -> None:
    match image.kind:
        case tir.ImageKind.Buffer:
            if pitch is not None:
                raise VerifyException("an image1d_buffer has one row, so it must not have a pitch")
        case tir.ImageKind.Image2D:
            if pitch is None:
                raise VerifyException("an image2d in an arena must have a pitch: write pitch BYTES")
            if pitch < row_bytes(image) or pitch % texel_bytes(image):
                raise VerifyException(
                    f"a pitch of {pitch} bytes cannot hold rows of {row_bytes(image)} bytes in "
                    f"whole texels of {texel_bytes(image)}"
                )
        case tir.ImageKind.Array2D:
            raise VerifyException(
                "an image2d_array cannot be a view of a buffer: keep its cl.alloc"
            )


def _verify_inside(arena: SSAValue, offset: int, size: int, type_: Attribute) -> None:
    if not isinstance(arena.owner, ArenaOp):
        raise VerifyException(f"a buffer or image of {type_} must be a view of a cl.arena")
    if size == 0:
        raise VerifyException(f"{type_} is empty, so it cannot be a view of an arena")
    if not 0 <= offset <= arena.owner.size - size:
        raise VerifyException(
            f"the {size} bytes of {type_} from byte {offset} on exceed an arena of "
            f"{arena.owner.size} bytes"
        )
