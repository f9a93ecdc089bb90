"""Tile-level operations that move data: loads, including int8 to ACC, and stores."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..properties import I64, I64_ARRAY, int_array, integer, ints
from .attributes import (
    KINDS,
    DramType,
    Scratchpad,
    SpaceAttr,
    TokenType,
    UopsAttr,
    parse_ints,
    parse_uops,
    tuples_text,
)
from .isa import Load, Memory, Queue, Store, Uop
from .tile_base import (
    Tail,
    TileOp,
    dram_type,
    parse_place,
    parse_tail,
    print_place,
    print_tail,
)

NO_PADS = (0, 0, 0, 0)


class TransferOp(TileOp, ABC):
    """Rows between DRAM and a scratchpad.

    `sizes` are the rows and the elements per row, `stride` the elements of DRAM between the starts
    of rows; the scratchpad stores the rows without gaps.
    """

    SPACES: ClassVar[tuple[Scratchpad, ...]]
    """The allowed scratchpads."""
    PADDED: ClassVar[bool] = True

    buffer_operand = operand_def(DramType)
    space_attr = prop_def(SpaceAttr, prop_name="space")
    offset_attr = prop_def(I64, prop_name="offset")
    base_attr = prop_def(I64, prop_name="base")
    sizes_attr = prop_def(I64_ARRAY, prop_name="sizes")
    stride_attr = prop_def(I64, prop_name="stride")
    pads_attr = prop_def(I64_ARRAY, prop_name="pads", default_value=int_array(NO_PADS))

    def __init__(
        self,
        space: Scratchpad,
        base: int,
        buffer: SSAValue,
        offset: int,
        sizes: Sequence[int],
        stride: int | None = None,
        pads: Sequence[int] = NO_PADS,
        *,
        waits: Sequence[SSAValue] = (),
        signals: Sequence[Queue] = (),
    ):
        """Create the operation; `base` and `offset` are elements of the scratchpad and of `buffer`.

        `stride` is by default the row size, without gaps; `pads` are rows before and after,
        elements before and after in each row.
        """
        super().__init__(
            operands=[buffer, waits],
            properties={
                "space": SpaceAttr(space),
                "base": integer(base),
                "offset": integer(offset),
                "sizes": int_array(sizes),
                "stride": integer(sizes[1] if stride is None else stride),
                "pads": int_array(pads),
            },
            result_types=[[TokenType(queue) for queue in signals]],
        )

    @property
    def buffer(self) -> SSAValue:
        return self.buffer_operand

    @property
    def space(self) -> Scratchpad:
        """Return the scratchpad."""
        return self.space_attr.data

    @property
    def memory(self) -> Memory:
        """Return the memory that its instruction names."""
        return self.space.memory

    @property
    def base(self) -> int:
        """Return the first element in the scratchpad."""
        return self.base_attr.value.data

    @property
    def offset(self) -> int:
        """Return the first element in the buffer."""
        return self.offset_attr.value.data

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows, and the elements per row."""
        return ints(self.sizes_attr)

    @property
    def stride(self) -> int:
        """Return the elements of the buffer between the starts of rows."""
        return self.stride_attr.value.data

    @property
    def pads(self) -> tuple[int, ...]:
        """Return the rows of zeros before and after, then the zeros at the ends of each row."""
        return ints(self.pads_attr)

    @property
    def _fields(self) -> dict[str, Any]:
        (rows, columns), (top, bottom, left, right) = self.sizes, self.pads
        return {
            "sram_base": self.base,
            "dram_base": self.offset,
            "y_size": rows,
            "x_size": columns,
            "x_stride": self.stride,
            "y_pad_0": top,
            "y_pad_1": bottom,
            "x_pad_0": left,
            "x_pad_1": right,
        }

    def verify_(self) -> None:
        if self.space not in self.SPACES:
            raise VerifyException(
                f"the scratchpad must be {' or '.join(self.SPACES)}, not {self.space}"
            )
        if len(self.sizes) != 2:
            raise VerifyException(f"sizes must be rows and elements, not {len(self.sizes)} values")
        if len(self.pads) != 4:
            raise VerifyException(f"pads must be four amounts, not {len(self.pads)}")
        if self.pads != NO_PADS and (not self.PADDED or self.space is Scratchpad.WGT):
            raise VerifyException(f"VTA can pad inputs and sums, not {self.space}")
        kind = KINDS[self.memory]
        if dram_type(self.buffer).kind is not kind:
            raise VerifyException(
                f"{self.name} requires a buffer of {kind}, not {self.buffer.type}"
            )

    def _print_scratchpad(self, printer: Printer) -> None:
        printer.print_string(f"{self.space}[{self.base}]")

    def _print_rest(self, printer: Printer) -> None:
        printer.print_string(f" size {list(self.sizes)}")
        if self.stride != self.sizes[1]:
            printer.print_string(f" stride {self.stride}")
        if self.pads != NO_PADS:
            printer.print_string(f" pads {list(self.pads)}")
        print_tail(printer, self)

    @classmethod
    def _parsed(
        cls, parser: Parser, scratchpad: tuple[Scratchpad, int], place: tuple[SSAValue, int]
    ) -> Self:
        parser.parse_keyword("size")
        start = parser.pos
        sizes = parse_ints(parser)
        if len(sizes) != 2:
            parser.raise_error("a size must be rows and elements per row", start, parser.pos)
        stride = parser.parse_integer() if parser.parse_optional_keyword("stride") else None
        pads = parse_ints(parser) if parser.parse_optional_keyword("pads") else NO_PADS
        tail = parse_tail(parser)
        op = cls(*scratchpad, *place, sizes, stride, pads, waits=tail.waits, signals=tail.signals)
        op.attributes |= tail.attributes
        return op


def _parse_scratchpad(parser: Parser) -> tuple[Scratchpad, int]:
    space = parser.parse_str_enum(Scratchpad)
    with parser.in_square_brackets():
        return space, parser.parse_integer()


class _ReadingOp(TransferOp, ABC):
    """A transfer from DRAM."""

    @property
    def instruction(self) -> Load:
        return Load(memory=self.memory, **self._fields)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parse_place(parser)
        parser.parse_keyword("to")
        return cls._parsed(parser, _parse_scratchpad(parser), place)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_place(printer, self.buffer, self.offset)
        printer.print_string(" to ")
        self._print_scratchpad(printer)
        self._print_rest(printer)


@irdl_op_definition
class LoadOp(_ReadingOp):
    """Copies rows of a buffer into inp, wgt or acc, with zeros around them in inp and acc.

    `vta.load %x[128] to inp[0] size [4, 14] stride 56 pads [1, 0, 1, 1] signal(l2c)`

    The scratchpad receives rows of `pads[2] + size[1] + pads[3]` elements without gaps, preceded by
    `pads[0]` and followed by `pads[1]` rows of zeros.
    """

    name = "vta.load"
    SPACES: ClassVar[tuple[Scratchpad, ...]] = (Scratchpad.INP, Scratchpad.WGT, Scratchpad.ACC)


@irdl_op_definition
class LoadAcc8Op(_ReadingOp):
    """Copies rows of activations into acc, int8 extended to int32; otherwise like `vta.load`.

    `vta.load_acc8 %x[128] to acc[0] size [4, 14] stride 56`
    """

    name = "vta.load_acc8"
    SPACES: ClassVar[tuple[Scratchpad, ...]] = (Scratchpad.ACC,)

    @property
    def memory(self) -> Memory:
        return Memory.ACC_8BIT


@irdl_op_definition
class StoreOp(TransferOp):
    """Copies the scratchpad out into rows of a buffer.

    `vta.store out[0] to %y[256] size [4, 14] stride 56 wait(%done) signal(s2c)`

    The last write of each element must be by `vta.gemm` (not its reset) or `vta.alu`.
    """

    name = "vta.store"
    SPACES: ClassVar[tuple[Scratchpad, ...]] = (Scratchpad.OUT,)
    PADDED: ClassVar[bool] = False

    @property
    def instruction(self) -> Store:
        return Store(**self._fields)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        scratchpad = _parse_scratchpad(parser)
        parser.parse_keyword("to")
        return cls._parsed(parser, scratchpad, parse_place(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self._print_scratchpad(printer)
        printer.print_string(" to ")
        print_place(printer, self.buffer, self.offset)
        self._print_rest(printer)


@irdl_op_definition
class LoadUopsOp(TileOp):
    """Loads micro-ops into their scratchpad, from element `base` on.

    `vta.load_uops [(0, 0, 0), (1, 1, 0)] to uop[12]`

    `vta-place-uops` inserts these.
    """

    name = "vta.load_uops"
    uops_attr = prop_def(UopsAttr, prop_name="uops")
    base_attr = prop_def(I64, prop_name="base")

    def __init__(
        self,
        uops: Sequence[Uop] | UopsAttr,
        base: int,
        *,
        waits: Sequence[SSAValue] = (),
        signals: Sequence[Queue] = (),
    ):
        super().__init__(
            operands=[waits],
            properties={
                "uops": uops if isinstance(uops, UopsAttr) else UopsAttr(tuple(uops)),
                "base": integer(base),
            },
            result_types=[[TokenType(queue) for queue in signals]],
        )

    @property
    def uops(self) -> tuple[Uop, ...]:
        return self.uops_attr.data

    @property
    def base(self) -> int:
        """Return the first element in the scratchpad."""
        return self.base_attr.value.data

    @property
    def instruction(self) -> Load:
        count = len(self.uops)
        return Load(memory=Memory.UOP, sram_base=self.base, x_size=count, x_stride=count)

    def verify_(self) -> None:
        if not self.uops:
            raise VerifyException("it must have micro-ops to load")

    @classmethod
    def parse(cls, parser: Parser) -> LoadUopsOp:
        uops = parse_uops(parser)
        parser.parse_keyword("to")
        parser.parse_keyword("uop")
        with parser.in_square_brackets():
            base = parser.parse_integer()
        tail: Tail = parse_tail(parser)
        op = cls(uops, base, waits=tail.waits, signals=tail.signals)
        op.attributes |= tail.attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {tuples_text(self.uops)} to uop[{self.base}]")
        print_tail(printer, self)
