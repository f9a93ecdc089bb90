"""The base of tile-level operations: tokens and their text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from .attributes import DramType, TokenType
from .isa import Instruction, Queue, Stage, Uop, stage_of


class TileOp(IRDLOperation, ABC):
    """One instruction whose dependences are tokens and whose buffers are values.

    It starts when it has taken the tokens `waits`, in this order, and sends the tokens `signals`,
    in this order, when it is done. A token belongs to a queue of the stage. More than one token of
    a queue costs an instruction each.
    """

    waits = var_operand_def(TokenType)
    signals = var_result_def(TokenType)

    @property
    @abstractmethod
    def instruction(self) -> Instruction:
        """Return its instruction, without tokens and with `dram_base` relative to its buffer."""

    @property
    def uops(self) -> tuple[Uop, ...]:
        """Return the micro-ops that it runs or loads."""
        return ()

    @property
    def buffer(self) -> SSAValue | None:
        """Return the buffer in DRAM that it reads or writes, or None."""
        return None

    @property
    def stage(self) -> Stage:
        """Return the stage that executes it."""
        return stage_of(self.instruction)

    @property
    def waited_queues(self) -> tuple[Queue, ...]:
        """Return the queue of each of its `waits`."""
        return tuple(cast(TokenType, value.type).queue for value in self.waits)

    @property
    def signalled_queues(self) -> tuple[Queue, ...]:
        """Return the queue of each of its `signals`."""
        return tuple(value.type.queue for value in self.signals)


@dataclass
class Tail:
    """The end of an operation's text: `wait(%a, %b) signal(l2c) {…}`."""

    waits: Sequence[SSAValue]
    signals: Sequence[Queue]
    attributes: Mapping[str, Attribute]

    @property
    def types(self) -> list[TokenType]:
        """Return the types of the tokens that it sends."""
        return [TokenType(queue) for queue in self.signals]


def parse_tail(parser: Parser) -> Tail:
    """Parse the text that `print_tail` prints."""
    waits: Sequence[SSAValue] = ()
    signals: Sequence[Queue] = ()
    if parser.parse_optional_keyword("wait"):
        waits = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_defined(parser)
        )
    if parser.parse_optional_keyword("signal"):
        signals = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_str_enum(Queue)
        )
    return Tail(waits, signals, parser.parse_optional_attr_dict())


def print_tail(printer: Printer, op: TileOp) -> None:
    """Print the tokens and further attributes of an operation."""
    if op.waits:
        printer.print_string(" wait")
        printer.print_operands(op.waits)
    if op.signals:
        printer.print_string(f" signal({', '.join(op.signalled_queues)})")
    printer.print_op_attributes(op.attributes)


def parse_defined(parser: Parser) -> SSAValue:
    """Parse the name of a value that is defined above, and so needs no type."""
    name = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(name.operand_name, ())
    if name.index >= len(values):
        parser.raise_error("this value must be defined above", name.span)
    return values[name.index]


def parse_place(parser: Parser) -> tuple[SSAValue, int]:
    """Parse `%x[128]`: a buffer and an element of it."""
    buffer = parse_defined(parser)
    with parser.in_square_brackets():
        return buffer, parser.parse_integer()


def print_place(printer: Printer, buffer: SSAValue, offset: int) -> None:
    """Print a buffer and an element of it."""
    printer.print_operand(buffer)
    printer.print_string(f"[{offset}]")


def dram_type(buffer: SSAValue) -> DramType:
    """Return the type of a buffer that a verified operation uses."""
    return cast(DramType, buffer.type)
