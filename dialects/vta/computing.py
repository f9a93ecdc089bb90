"""Tile-level operations that compute, wait, or end a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..properties import I64, flag, integer
from .attributes import (
    AluKind,
    AluKindAttr,
    Loop,
    LoopsAttr,
    StageAttr,
    TokenType,
    UopsAttr,
    parse_loops,
    parse_uops,
    tuples_text,
)
from .isa import Alu, Finish, Gemm, Instruction, Queue, Stage, Uop, nop
from .tile_base import TileOp, parse_tail, print_tail

MAX_LOOPS = 2


class UopsOp(TileOp, ABC):
    """Micro-ops in up to two loops.

    The index of a tile is the micro-op's index plus the step of each loop times its iteration.
    `base` is the location of the micro-ops in their scratchpad, once assigned.
    """

    uops_attr = prop_def(UopsAttr, prop_name="uops")
    loops_attr = prop_def(LoopsAttr, prop_name="loops", default_value=LoopsAttr(()))
    base_attr = opt_prop_def(I64, prop_name="base")

    def _init(
        self,
        uops: Sequence[Uop] | UopsAttr,
        loops: Sequence[Loop],
        base: int | None,
        waits: Sequence[SSAValue],
        signals: Sequence[Queue],
        properties: dict[str, Attribute | None],
    ) -> None:
        super().__init__(
            operands=[waits],
            properties={
                "uops": uops if isinstance(uops, UopsAttr) else UopsAttr(tuple(uops)),
                "loops": LoopsAttr(tuple(loops)),
                "base": None if base is None else integer(base),
                **properties,
            },
            result_types=[[TokenType(queue) for queue in signals]],
        )

    @property
    def uops(self) -> tuple[Uop, ...]:
        return self.uops_attr.data

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Return the loops, outermost first."""
        return self.loops_attr.data

    @property
    def base(self) -> int | None:
        """Return the index of its first micro-op in the scratchpad, or None if not assigned yet."""
        return None if self.base_attr is None else self.base_attr.value.data

    @property
    def _fields(self) -> dict[str, Any]:
        """Return the fields common to both kinds of instruction."""
        outer, inner = (Loop(1), Loop(1), *self.loops)[-MAX_LOOPS:]
        begin = self.base or 0
        return {
            "uop_bgn": begin,
            "uop_end": begin + len(self.uops),
            "iter_out": outer.extent,
            "iter_in": inner.extent,
            "dst_factor_out": outer.dst,
            "dst_factor_in": inner.dst,
            "src_factor_out": outer.src,
            "src_factor_in": inner.src,
        }

    def verify_(self) -> None:
        if not self.uops:
            raise VerifyException("it must have micro-ops to run")
        if len(self.loops) > MAX_LOOPS:
            raise VerifyException(f"it must have at most {MAX_LOOPS} loops, not {len(self.loops)}")

    def _print_rest(self, printer: Printer) -> None:
        printer.print_string(f" uops {tuples_text(self.uops)}")
        if self.loops:
            printer.print_string(f" loops {tuples_text(self.loops)}")
        if self.base is not None:
            printer.print_string(f" at {self.base}")
        print_tail(printer, self)

    @classmethod
    @abstractmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Attribute | None]:
        """Parse the properties that the text has before the micro-ops."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = cls._parse_head(parser)
        parser.parse_keyword("uops")
        properties["uops"] = UopsAttr(parse_uops(parser))
        loops = parse_loops(parser) if parser.parse_optional_keyword("loops") else ()
        properties["loops"] = LoopsAttr(loops)
        if parser.parse_optional_keyword("at"):
            properties["base"] = integer(parser.parse_integer())
        tail = parse_tail(parser)
        return cls.create(
            operands=tail.waits,
            result_types=tail.types,
            properties={name: value for name, value in properties.items() if value is not None},
            attributes=tail.attributes,
        )


@irdl_op_definition
class GemmOp(UopsOp):
    """Multiplies tiles of inputs and weights, and adds the products to tiles of acc.

    `vta.gemm uops [(0, 0, 0), (0, 1, 1)] loops [(14, 14, 16, 0), (14, 1, 1, 0)] wait(%x, %w)`

    With `reset` it writes zeros to the tiles `dst` of acc and reads nothing.
    """

    name = "vta.gemm"
    reset_attr = opt_prop_def(UnitAttr, prop_name="reset")

    def __init__(
        self,
        reset: bool,
        uops: Sequence[Uop] | UopsAttr,
        loops: Sequence[Loop] = (),
        *,
        base: int | None = None,
        waits: Sequence[SSAValue] = (),
        signals: Sequence[Queue] = (),
    ):
        self._init(uops, loops, base, waits, signals, {"reset": flag(reset)})

    @property
    def reset(self) -> bool:
        """Return whether it writes zeros."""
        return self.reset_attr is not None

    @property
    def instruction(self) -> Gemm:
        outer, inner = (Loop(1), Loop(1), *self.loops)[-MAX_LOOPS:]
        return Gemm(
            reset=self.reset,
            wgt_factor_out=outer.wgt,
            wgt_factor_in=inner.wgt,
            **self._fields,
        )

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Attribute | None]:
        return {"reset": flag(parser.parse_optional_keyword("reset") is not None)}

    def print(self, printer: Printer) -> None:
        printer.print_string(" reset" if self.reset else "")
        self._print_rest(printer)


@irdl_op_definition
class AluOp(UopsOp):
    """Updates tiles of acc, each element with an immediate or the element of the tile `src`.

    `vta.alu shr imm 8 uops [(0, 0, 0)] loops [(4, 196, 196, 0), (196, 1, 1, 0)]`

    `vta.alu add uops [(0, 196, 0)] loops [(196, 1, 1, 0)]`

    The kinds are min, max, add, mul, and shr, whose amount is -16 to 15; a negative amount shifts
    to the left. Sums and products wrap at 32 bits. The ALU has no weights: `wgt` is 0 everywhere.
    """

    name = "vta.alu"
    kind_attr = prop_def(AluKindAttr, prop_name="kind")
    immediate_attr = opt_prop_def(I64, prop_name="immediate")

    def __init__(
        self,
        kind: AluKind,
        immediate: int | None,
        uops: Sequence[Uop] | UopsAttr,
        loops: Sequence[Loop] = (),
        *,
        base: int | None = None,
        waits: Sequence[SSAValue] = (),
        signals: Sequence[Queue] = (),
    ):
        """Create the operation; without an `immediate` the second operand is the tile `src`."""
        value = None if immediate is None else integer(immediate)
        kinds = {"kind": AluKindAttr(kind), "immediate": value}
        self._init(uops, loops, base, waits, signals, kinds)

    @property
    def kind(self) -> AluKind:
        """Return the operation of the ALU."""
        return self.kind_attr.data

    @property
    def immediate(self) -> int | None:
        """Return the second operand, or None if it is the tile `src`."""
        return None if self.immediate_attr is None else self.immediate_attr.value.data

    @property
    def instruction(self) -> Alu:
        return Alu(
            opcode=self.kind.opcode,
            use_imm=self.immediate is not None,
            imm=self.immediate or 0,
            **self._fields,
        )

    def verify_(self) -> None:
        super().verify_()
        if any(entry.wgt for entry in (*self.uops, *self.loops)):
            raise VerifyException(
                "the ALU has no weights: wgt must be 0 in its micro-ops and loops"
            )

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Attribute | None]:
        kind = AluKindAttr(parser.parse_str_enum(AluKind))
        has_immediate = parser.parse_optional_keyword("imm") is not None
        immediate = integer(parser.parse_integer()) if has_immediate else None
        return {"kind": kind, "immediate": immediate}

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind}")
        if self.immediate is not None:
            printer.print_string(f" imm {self.immediate}")
        self._print_rest(printer)


@irdl_op_definition
class NopOp(TileOp):
    """Only moves tokens: waits in a stage, and signals from it.

    `vta.nop compute wait(%a) signal(c2s)`
    """

    name = "vta.nop"
    stage_attr = prop_def(StageAttr, prop_name="stage")

    def __init__(
        self, stage: Stage, *, waits: Sequence[SSAValue] = (), signals: Sequence[Queue] = ()
    ):
        super().__init__(
            operands=[waits],
            properties={"stage": StageAttr(stage)},
            result_types=[[TokenType(queue) for queue in signals]],
        )

    @property
    def instruction(self) -> Instruction:
        return nop(self.stage_attr.data)

    @classmethod
    def parse(cls, parser: Parser) -> NopOp:
        stage = parser.parse_str_enum(Stage)
        tail = parse_tail(parser)
        op = cls(stage, waits=tail.waits, signals=tail.signals)
        op.attributes |= tail.attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.stage_attr.data}")
        print_tail(printer, self)


@irdl_op_definition
class FinishOp(TileOp):
    """Ends a program. Its tokens must ensure that all other operations are done before it.

    `vta.finish wait(%stored)`
    """

    name = "vta.finish"
    traits = traits_def(IsTerminator())

    def __init__(self, *, waits: Sequence[SSAValue] = ()):
        super().__init__(operands=[waits], result_types=[[]])

    @property
    def instruction(self) -> Finish:
        return Finish()

    def verify_(self) -> None:
        if self.signals:
            raise VerifyException("the end of a program must not signal tokens")

    @classmethod
    def parse(cls, parser: Parser) -> FinishOp:
        tail = parse_tail(parser)
        if tail.signals:
            parser.raise_error("the end of a program must not signal tokens")
        op = cls(waits=tail.waits)
        op.attributes |= tail.attributes
        return op

    def print(self, printer: Printer) -> None:
        print_tail(printer, self)
