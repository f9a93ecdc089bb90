"""The commands of a queue program and the buffers they work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FixedBitwidthType,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
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
from xdsl.traits import IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .. import tir
from ..properties import ints
from .images import image_of, is_over_buffer


def byte_count(type_: Attribute) -> int:
    """The bytes of a buffer or image of `type_`, which has a static shape and known elements."""
    if not isinstance(type_, MemRefType):
        raise VerifyException(f"a buffer has a memref type, not {type_}")
    buffer = cast("MemRefType[Attribute]", type_)
    if not buffer.has_static_shape():
        raise VerifyException(f"a buffer has a static shape, not {type_}")
    element = buffer.element_type
    if not isinstance(element, FixedBitwidthType):
        raise VerifyException(f"a buffer cannot hold elements of type {element}")
    image_of(buffer)  # refuses a shape that no image has
    return buffer.element_count() * element.size


def parse_offset(parser: Parser) -> int:
    """Parse the offset in square brackets after a value, in bytes."""
    with parser.in_square_brackets():
        return parser.parse_integer()


def parse_optional_offset(parser: Parser) -> int | None:
    """Parse an offset in square brackets, None if there are no brackets."""
    if parser.parse_optional_punctuation("[") is None:
        return None
    offset = parser.parse_integer()
    parser.parse_punctuation("]")
    return offset


def print_offset(printer: Printer, offset: int) -> None:
    """Print an offset as `parse_offset` reads it."""
    printer.print_string(f"[{offset}]")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A buffer or image that holds the array `key` of the weights store; it is uploaded once.

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
    An `image1d_buffer` is a view of a buffer and shares its bytes; other images share none.
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
        """The byte of the source at which the result starts."""
        return 0 if self.at is None else self.at.value.data

    def verify_(self) -> None:
        before, after = byte_count(self.source.type), byte_count(self.result.type)
        if self.at is None and before != after:
            raise VerifyException(
                f"a view has the bytes of its source, but {self.source.type} has {before} "
                f"and {self.result.type} has {after}"
            )
        if self.at is not None and (after == 0 or not 0 <= self.offset <= before - after):
            raise VerifyException(
                f"the {after} bytes of {self.result.type} from byte {self.offset} on are no part "
                f"of the {before} bytes of {self.source.type}"
            )
        for value in (self.source, self.result):
            if not is_over_buffer(value.type):
                raise VerifyException(
                    f"{value.type} does not lie in a buffer, so it shares its bytes with no other "
                    "value; copy it, or give it a scope without separators"
                )

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        source = parser.parse_unresolved_operand()
        offset = parse_optional_offset(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        before = parser.parse_type()
        parser.parse_keyword("to")
        op = cls(parser.resolve_operand(source, before), parser.parse_type(), offset)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        if self.at is not None:
            print_offset(printer, self.offset)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class EnqueueKernelOp(IRDLOperation):
    """Launches a kernel over the kernel's own NDRange.

    `cl.enqueue_kernel @conv(%x, %w, %y) : memref<…>, memref<…>, memref<…>`
    """

    name = "cl.enqueue_kernel"
    kernel = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    assembly_format = "$kernel `(` $args `)` attr-dict (`:` type($args)^)?"

    def __init__(self, kernel: str, args: Sequence[SSAValue]):
        super().__init__(operands=[args], properties={"kernel": SymbolRefAttr(kernel)})

    @property
    def kernel_name(self) -> str:
        """The name of the kernel."""
        return self.kernel.root_reference.data


@irdl_op_definition
class EnqueueCopyOp(IRDLOperation):
    """Copies one whole buffer or image to another: `cl.enqueue_copy %t, %y : memref<4xf32>`.

    Both have the same shape and elements. From a buffer to an image, or back, both types are
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
            raise VerifyException(f"a copy does not change {before} to {after}: launch a kernel")
        if not (is_over_buffer(before) or is_over_buffer(after)):
            raise VerifyException(
                f"no command copies an image of {before} to one of {after}: launch a kernel, or "
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
    """The end of a program."""

    name = "cl.return"
    assembly_format = "attr-dict"
    traits = traits_def(IsTerminator())

    def __init__(self):
        super().__init__()


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel whose body is elsewhere, as in a saved program: the facts that launches need.

    `cl.kernel @conv(memref<4xf32>, memref<4xf32>) outputs [1] global [64] local [8]`

    `bounds [3]` are the bounds of its rolled loops, arguments after the buffers
    (`tir.rolled_bounds`). `in_place [[0, 1]]` are inputs and outputs that may share their bytes, as
    in `tir.func`. `function "name"` is the kernel's name in its source, where that is another.
    """

    name = "cl.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    arg_types = prop_def(ArrayAttr)
    outputs = prop_def(DenseArrayBase)
    global_size = prop_def(DenseArrayBase)
    local_size = prop_def(DenseArrayBase)
    bounds = opt_prop_def(DenseArrayBase)
    in_place = opt_prop_def(ArrayAttr)
    function = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Attribute],
        outputs: Sequence[int],
        global_size: Sequence[int],
        local_size: Sequence[int],
        bounds: Sequence[int] = (),
        in_place: Sequence[tuple[int, int]] = (),
        function: str = "",
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "arg_types": ArrayAttr(arg_types),
                "outputs": DenseArrayBase.from_list(i64, outputs),
                "global_size": DenseArrayBase.from_list(i64, global_size),
                "local_size": DenseArrayBase.from_list(i64, local_size),
                "bounds": DenseArrayBase.from_list(i64, bounds) if bounds else None,
                "in_place": tir.in_place_attribute(in_place),
                "function": StringAttr(function) if function else None,
            }
        )

    def verify_(self) -> None:
        for type_ in self.arg_types:
            byte_count(type_)
        for i in ints(self.outputs):
            if not 0 <= i < len(self.arg_types):
                raise VerifyException(f"output {i} is not one of {len(self.arg_types)} parameters")
        tir.verify_in_place(self.in_place, self.arg_types.data, set(ints(self.outputs)))
        tir.verify_ndrange(ints(self.global_size), ints(self.local_size))

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name().data
        arg_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)

        def integers() -> list[int]:
            return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

        def required(keyword: str) -> list[int]:
            parser.parse_keyword(keyword)
            return integers()

        outputs, global_size, local_size = map(required, ("outputs", "global", "local"))
        bounds = integers() if parser.parse_optional_keyword("bounds") else []
        pairs: list[list[int]] = []
        start = parser.pos
        if parser.parse_optional_keyword("in_place"):
            pairs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, integers)
        if any(len(pair) != 2 for pair in pairs):
            parser.raise_error("in_place lists pairs of an input and an output", start, parser.pos)
        in_place = [(input_, output) for input_, output in pairs]
        named = parser.parse_optional_keyword("function")
        function = parser.parse_str_literal() if named else ""
        op = cls(name, arg_types, outputs, global_size, local_size, bounds, in_place, function)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.arg_types, printer.print_attribute)
        printer.print_string(f" outputs {list(ints(self.outputs))}")
        printer.print_string(f" global {list(ints(self.global_size))}")
        printer.print_string(f" local {list(ints(self.local_size))}")
        if self.bounds is not None:
            printer.print_string(f" bounds {list(ints(self.bounds))}")
        if self.in_place is not None:
            pairs = tir.in_place_pairs(self.in_place)
            printer.print_string(f" in_place {[list(pair) for pair in pairs]}")
        if self.function is not None:
            printer.print_string(" function ")
            printer.print_string_literal(self.function.data)
        printer.print_op_attributes(self.attributes)
