"""Attributes and types of the vta dialect: spaces, DRAM, tokens, micro-ops, loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .isa import AluOpcode, Memory, Queue, Stage, Uop


class Scratchpad(StrEnum):
    """A scratchpad."""

    INP = "inp"
    WGT = "wgt"
    ACC = "acc"
    OUT = "out"
    UOP = "uop"

    @property
    def memory(self) -> Memory:
        """Return the memory that instructions name for it."""
        return Memory[self.name]


class DramKind(StrEnum):
    """The contents of a buffer in DRAM: the elements of one scratchpad, or activations.

    An activation is int8, in tiles of batch x block. It is stored from OUT, loaded into INP, and
    loaded into ACC by `vta.load_acc8`.
    """

    ACT = "act"
    WGT = "wgt"
    ACC = "acc"
    UOP = "uop"


KINDS: dict[Memory, DramKind] = {
    Memory.INP: DramKind.ACT,
    Memory.OUT: DramKind.ACT,
    Memory.ACC_8BIT: DramKind.ACT,
    Memory.WGT: DramKind.WGT,
    Memory.ACC: DramKind.ACC,
    Memory.UOP: DramKind.UOP,
}
"""The kind of buffer from which a memory is loaded or to which it is stored."""


class AluKind(StrEnum):
    """An operation of the ALU."""

    MIN = "min"
    MAX = "max"
    ADD = "add"
    SHR = "shr"
    MUL = "mul"

    @property
    def opcode(self) -> AluOpcode:
        """Return the opcode of an instruction."""
        return AluOpcode[self.name]


class Loop(NamedTuple):
    """A loop around micro-ops: its extent, and its step of each index."""

    extent: int
    dst: int = 0
    src: int = 0
    wgt: int = 0


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Scratchpad], SpacedOpaqueSyntaxAttribute):
    """`#vta<space inp>`: a scratchpad: inp, wgt, acc, out or uop."""

    name = "vta.space"


@irdl_attr_definition
class StageAttr(EnumAttribute[Stage], SpacedOpaqueSyntaxAttribute):
    """`#vta<stage compute>`: load, compute or store."""

    name = "vta.stage"


@irdl_attr_definition
class AluKindAttr(EnumAttribute[AluKind], SpacedOpaqueSyntaxAttribute):
    """`#vta<alu_kind shr>`: min, max, add, shr or mul."""

    name = "vta.alu_kind"


@irdl_attr_definition
class QueueAttr(EnumAttribute[Queue], SpacedOpaqueSyntaxAttribute):
    """`#vta<queue l2c>`: from load to compute and back, from compute to store and back."""

    name = "vta.queue"


@irdl_attr_definition
class DramKindAttr(EnumAttribute[DramKind], SpacedOpaqueSyntaxAttribute):
    """`#vta<dram_kind act>`: act, wgt, acc or uop."""

    name = "vta.dram_kind"


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`!vta.token<l2c>`: signals an operation of another stage that an operation is done.

    A token is used exactly once.
    """

    name = "vta.token"

    queue_attr: QueueAttr

    def __init__(self, queue: Queue):
        super().__init__(QueueAttr(queue))

    @property
    def queue(self) -> Queue:
        """Return the queue that it passes through."""
        return self.queue_attr.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [QueueAttr(parser.parse_str_enum(Queue))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.queue)


@irdl_attr_definition
class DramType(ParametrizedAttribute, TypeAttribute):
    """`!vta.dram<act, 1024>`: a buffer with a number of elements of a kind (act, wgt, acc, uop)."""

    name = "vta.dram"

    kind_attr: DramKindAttr
    elements_attr: IntAttr

    def __init__(self, kind: DramKind, elements: int):
        super().__init__(DramKindAttr(kind), IntAttr(elements))

    @property
    def kind(self) -> DramKind:
        """Return the kind of its elements."""
        return self.kind_attr.data

    @property
    def elements(self) -> int:
        """Return the number of its elements."""
        return self.elements_attr.data

    def verify(self) -> None:
        if self.elements < 1:
            raise VerifyException(f"a buffer must have at least one element, not {self.elements}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_str_enum(DramKind)
            parser.parse_punctuation(",")
            return [DramKindAttr(kind), IntAttr(parser.parse_integer())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind}, {self.elements}")


@irdl_attr_definition
class UopsAttr(Data[tuple[Uop, ...]]):
    """`#vta.uops<[(0, 0, 0), (1, 1, 0)]>`: micro-ops, each the indices dst, src and wgt."""

    name = "vta.uops"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Uop, ...]:
        with parser.in_angle_brackets():
            return parse_uops(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(tuples_text(self.data))


@irdl_attr_definition
class LoopsAttr(Data[tuple[Loop, ...]]):
    """`#vta.loops<[(14, 14, 16, 0), (7, 1, 1, 9)]>`: loops, outermost first.

    Each has its extent and its steps of dst, src and wgt.
    """

    name = "vta.loops"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Loop, ...]:
        with parser.in_angle_brackets():
            return parse_loops(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(tuples_text(self.data))


def parse_uops(parser: AttrParser) -> tuple[Uop, ...]:
    """Parse `[(0, 0, 0), (1, 1, 0)]`."""
    return tuple(Uop(*values) for values in _parse_tuples(parser, 3))


def parse_loops(parser: AttrParser) -> tuple[Loop, ...]:
    """Parse `[(14, 14, 16, 0), (7, 1, 1, 9)]`."""
    return tuple(Loop(*values) for values in _parse_tuples(parser, 4))


def _parse_tuples(parser: AttrParser, size: int) -> list[list[int]]:
    def parse_one() -> list[int]:
        start = parser.pos
        values = parse_ints(parser, parser.Delimiter.PAREN)
        if len(values) != size:
            parser.raise_error(f"expected {size} numbers", start, parser.pos)
        return values

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_one)


def parse_ints(
    parser: AttrParser, delimiter: AttrParser.Delimiter = AttrParser.Delimiter.SQUARE
) -> list[int]:
    """Parse `[4, 14]`."""
    return parser.parse_comma_separated_list(delimiter, parser.parse_integer)


def tuples_text(tuples: Sequence[tuple[int, ...]]) -> str:
    """Return tuples as `[(0, 0, 0), (1, 1, 0)]`."""
    return f"[{', '.join(str(tuple(values)) for values in tuples)}]"


ATTRIBUTES: list[type[Attribute]] = [
    SpaceAttr,
    StageAttr,
    AluKindAttr,
    QueueAttr,
    DramKindAttr,
    TokenType,
    DramType,
    UopsAttr,
    LoopsAttr,
]
