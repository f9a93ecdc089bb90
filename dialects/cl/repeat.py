"""Commands that a program repeats, and the rows of buffers that they use in turn."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from .images import image_of
from .ops import byte_count, parse_offset, parse_types, print_offset, print_types


@irdl_op_definition
class RowOp(IRDLOperation):
    """A part of a buffer that moves by as many bytes after each iteration of a `cl.repeat`.

    `%row = cl.row %x[64] by 32 : memref<9x8xf32> to memref<8xf32>`

    It starts at byte 64 of the buffer in the first iteration, and at byte 96 in the second. Outside
    of a repetition it stays at its start. It need not be aligned as a `cl.view`, because a kernel
    gets the buffer, and the index of the part's first element as an argument.
    """

    name = "cl.row"
    source = operand_def(MemRefType)
    at = prop_def(IntegerAttr[I64])
    by = prop_def(IntegerAttr[I64])
    result = result_def(MemRefType)

    def __init__(self, source: SSAValue, start: int, step: int, type: Attribute):
        super().__init__(
            operands=[source],
            properties={"at": IntegerAttr(start, i64), "by": IntegerAttr(step, i64)},
            result_types=[type],
        )

    @property
    def start(self) -> int:
        """Return the first byte of the part in iteration 0."""
        return self.at.value.data

    @property
    def step(self) -> int:
        """Return the bytes by which the part moves after each iteration; may be negative."""
        return self.by.value.data

    @property
    def element_bytes(self) -> int:
        """Return the size of an element."""
        return byte_count(MemRefType(self.result.type.element_type, [1]))

    def verify_(self) -> None:
        before, after = self.source.type, self.result.type
        for type_ in (before, after):
            if image_of(type_) is not None:
                raise VerifyException(f"a row must be a part of a buffer, not of {type_}")
        if not 0 <= self.start <= byte_count(before) - byte_count(after):
            raise VerifyException(
                f"the {byte_count(after)} bytes of {after} from byte {self.start} on exceed the "
                f"{byte_count(before)} bytes of {before}"
            )
        if self.start % self.element_bytes or self.step % self.element_bytes:
            raise VerifyException(
                f"a row of {after} must start at and move by multiples of {self.element_bytes} "
                f"bytes, not at {self.start} by {self.step}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> RowOp:
        source = parser.parse_unresolved_operand()
        start = parse_offset(parser)
        parser.parse_keyword("by")
        step = parser.parse_integer()
        attributes, before, after = parse_types(parser)
        op = cls(parser.resolve_operand(source, before), start, step, after)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        print_offset(printer, self.start)
        printer.print_string(f" by {self.step}")
        print_types(printer, self.attributes, self.source.type, self.result.type)


@irdl_op_definition
class RepeatOp(IRDLOperation):
    """Enqueues the commands of its region `trips` times, in order; only `cl.row`s differ.

    `cl.repeat 9 { … }`

    Values are defined outside. In each iteration a command reads what the commands before it have
    written, in this iteration or in earlier ones.
    """

    name = "cl.repeat"
    trips = prop_def(IntegerAttr[I64])
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, trips: int, body: Region | Block):
        super().__init__(
            properties={"trips": IntegerAttr(trips, i64)},
            regions=[Region(body) if isinstance(body, Block) else body],
        )

    @property
    def trip_count(self) -> int:
        """Return the number of iterations."""
        return self.trips.value.data

    def verify_(self) -> None:
        if self.trip_count < 1:
            raise VerifyException(f"a repetition needs a positive number, not {self.trip_count}")

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        trips = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(trips, parser.parse_region())
        op.attributes |= {} if attributes is None else attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.trip_count}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def repeat_of(op: Operation) -> RepeatOp | None:
    """Return the repetition that contains a command, or None."""
    parent = op.parent_op()
    return parent if isinstance(parent, RepeatOp) else None


def trips_of(op: Operation) -> int:
    """Return how many times an inference runs a command."""
    repeat = repeat_of(op)
    return 1 if repeat is None else repeat.trip_count


def row_of(value: SSAValue) -> RowOp | None:
    """Return the row that a value is, or None."""
    return value.owner if isinstance(value.owner, RowOp) else None
