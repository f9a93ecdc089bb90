"""Operations of the tile level that compute, wait, and end a program."""

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

    The index of a tile is that of the micro-op, plus the step of each loop times its turn. `base`
    says where the micro-ops are in their scratchpad, once that is decided.
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
        """The loops, outermost first."""
        return self.loops_attr.data

    @property
    def base(self) -> int | None:
        """The first of its micro-ops in the scratchpad."""
        return None if self.base_attr is None else self.base_attr.value.data

    @property
    def _fields(self) -> dict[str, Any]:
        """The fields that both kinds of instruction have."""
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
            raise VerifyException("there are no micro-ops to run")
        if len(self.loops) > MAX_LOOPS:
            raise VerifyException(f"VTA has {MAX_LOOPS} loops, not {len(self.loops)}")

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
        """The properties that the text has before the micro-ops."""

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
    """Multiply tiles of inputs and weights, and add the products to tiles of acc.

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
        """Whether it writes zeros."""
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
    """Change tiles of acc, each element by an immediate or by the element of the tile `src`.

    `vta.alu shr imm 8 uops [(0, 0, 0)] loops [(4, 196, 196, 0), (196, 1, 1, 0)]`

    `vta.alu add uops [(0, 196, 0)] loops [(196, 1, 1, 0)]`

    The kinds are min, max, add, mul, and shr, whose amount is -16 to 15; a negative one shifts to
    the left. Sums and products wrap at 32 bits. The ALU has no weights: `wgt` is 0 everywhere.
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
        """Without an `immediate` the second operand is the tile `src`."""
        value = None if immediate is None else integer(immediate)
        kinds = {"kind": AluKindAttr(kind), "immediate": value}
        self._init(uops, loops, base, waits, signals, kinds)

    @property
    def kind(self) -> AluKind:
        """What it computes."""
        return self.kind_attr.data

    @property
    def immediate(self) -> int | None:
        """The second operand, unless that is the tile `src`."""
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
        if any(each.wgt for each in (*self.uops, *self.loops)):
            raise VerifyException("the ALU has no weights: wgt is 0 in its micro-ops and loops")

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
    """Moves tokens only: waits in a stage, and signals from it.

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
    """The end of a program. Everything else is done before it, which its tokens must ensure.

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
            raise VerifyException("nothing waits for tokens behind the end of a program")

    @classmethod
    def parse(cls, parser: Parser) -> FinishOp:
        tail = parse_tail(parser)
        if tail.signals:
            parser.raise_error("nothing waits for tokens behind the end of a program")
        op = cls(waits=tail.waits)
        op.attributes |= tail.attributes
        return op

    def print(self, printer: Printer) -> None:
        print_tail(printer, self)
