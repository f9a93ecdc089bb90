"""Instruction-level operations: each is one instruction, with its fields as properties."""

from __future__ import annotations

from abc import ABC
from dataclasses import fields
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..properties import I64, flag, integer
from .assembly import ABSOLUTE, BITS, FACTORS, MemoryName, instruction_text
from .attributes import KINDS, AluKind, AluKindAttr, DramType, parse_ints
from .isa import Alu, AluOpcode, Finish, Gemm, Instruction, Load, Memory, Store
from .tile_base import dram_type, parse_defined

NONE = integer(0)
ONE = integer(1)


@irdl_attr_definition
class MemoryAttr(EnumAttribute[MemoryName], SpacedOpaqueSyntaxAttribute):
    """`#vta<memory acc8>`: uop, wgt, inp, acc, out or acc8."""

    name = "vta.memory"


class InsnOp(IRDLOperation, ABC):
    """One instruction; its properties are the fields of the encoding.

    If it has a buffer, `dram_base` is relative to the start of the buffer.
    """

    INSTRUCTION: ClassVar[type[Instruction]]
    """The class of the instruction as a value."""

    buffer = opt_operand_def(DramType)
    pop_prev = opt_prop_def(UnitAttr)
    pop_next = opt_prop_def(UnitAttr)
    push_prev = opt_prop_def(UnitAttr)
    push_next = opt_prop_def(UnitAttr)

    def __init__(self, instruction: Instruction, buffer: SSAValue | None = None):
        values = {
            field.name: _attribute(getattr(instruction, field.name))
            for field in fields(instruction)
        }
        super().__init__(
            operands=[buffer], properties={k: v for k, v in values.items() if v is not None}
        )

    @property
    def instruction(self) -> Instruction:
        """Return the instruction; its `dram_base` is relative to the buffer, if it has one."""
        known = self.properties
        return self.INSTRUCTION(
            **{
                field.name: _value(known[field.name])
                for field in fields(self.INSTRUCTION)
                if field.name in known
            }
        )

    def verify_(self) -> None:
        if self.buffer is None:
            return
        if not isinstance(self, InsnLoadOp | InsnStoreOp):
            raise VerifyException(f"{self.name} must not have a buffer in DRAM")
        kind, memory = dram_type(self.buffer).kind, self.memory.data
        if kind is not KINDS[memory.memory]:
            raise VerifyException(f"{memory} cannot be loaded from or stored to a buffer of {kind}")

    @classmethod
    def _parse_fields(cls, parser: Parser) -> tuple[dict[str, Any], SSAValue | None]:
        """Parse the fields before the dependence bits, and the buffer."""
        del parser
        return {}, None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values, buffer = cls._parse_fields(parser)
        while bit := parser.parse_optional_keyword_in(BITS):
            values[bit] = True
        attributes = parser.parse_optional_attr_dict()
        op = cls(cls.INSTRUCTION(**values), buffer)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        symbol = None if self.buffer is None else _MARK
        head, mark, rest = instruction_text(self.instruction, symbol).partition(_MARK)
        printer.print_string(head.removeprefix(self.name))
        if mark and self.buffer is not None:  # only the printer knows the name of a value
            printer.print_operand(self.buffer)
        printer.print_string(rest)
        printer.print_op_attributes(self.attributes)


_MARK = "%"


def _attribute(value: object) -> Attribute | None:
    match value:
        case bool():
            return flag(value)
        case Memory():
            return MemoryAttr(MemoryName[value.name])
        case AluOpcode():
            return AluKindAttr(AluKind[value.name])
        case _:
            return integer(cast(int, value))


def _value(attribute: Attribute) -> Any:
    match attribute:
        case UnitAttr():
            return True
        case MemoryAttr():
            return attribute.data.memory
        case AluKindAttr():
            return attribute.data.opcode
        case _:
            return cast(IntegerAttr, attribute).value.data


class _TransferInsnOp(InsnOp, ABC):
    """A load or a store."""

    memory = prop_def(MemoryAttr)
    sram_base = prop_def(I64, default_value=NONE)
    dram_base = prop_def(I64, default_value=NONE)
    y_size = prop_def(I64, default_value=ONE)
    x_size = prop_def(I64, default_value=NONE)
    x_stride = prop_def(I64, default_value=NONE)
    y_pad_0 = prop_def(I64, default_value=NONE)
    y_pad_1 = prop_def(I64, default_value=NONE)
    x_pad_0 = prop_def(I64, default_value=NONE)
    x_pad_1 = prop_def(I64, default_value=NONE)

    @classmethod
    def _parse_fields(cls, parser: Parser) -> tuple[dict[str, Any], SSAValue | None]:
        loads = cls.INSTRUCTION is Load
        place = _parse_dram(parser) if loads else None
        memory = None if loads else _parse_scratchpad(parser)
        parser.parse_keyword("to")
        buffer, dram_base = place or _parse_dram(parser)
        memory, sram_base = memory or _parse_scratchpad(parser)
        parser.parse_keyword("size")
        rows, columns = _parse_pair(parser)
        parser.parse_keyword("stride")
        stride = parser.parse_integer()
        values: dict[str, Any] = {
            "memory": memory,
            "sram_base": sram_base,
            "dram_base": dram_base,
            "y_size": rows,
            "x_size": columns,
            "x_stride": stride,
        }
        if parser.parse_optional_keyword("pads"):
            names = ("y_pad_0", "y_pad_1", "x_pad_0", "x_pad_1")
            values |= zip(names, _parse_ints(parser, 4), strict=True)
        return values, buffer


def _parse_dram(parser: Parser) -> tuple[SSAValue | None, int]:
    absolute = parser.parse_optional_keyword(ABSOLUTE)
    buffer = None if absolute else parse_defined(parser)
    with parser.in_square_brackets():
        return buffer, parser.parse_integer()


def _parse_scratchpad(parser: Parser) -> tuple[Memory, int]:
    memory = parser.parse_str_enum(MemoryName).memory
    with parser.in_square_brackets():
        return memory, parser.parse_integer()


def _parse_ints(parser: Parser, count: int) -> list[int]:
    start = parser.pos
    values = parse_ints(parser)
    if len(values) != count:
        parser.raise_error(f"expected {count} numbers", start, parser.pos)
    return values


def _parse_pair(parser: Parser) -> list[int]:
    return _parse_ints(parser, 2)


@irdl_op_definition
class InsnLoadOp(_TransferInsnOp):
    """LOAD: rows of DRAM into a scratchpad.

    `vta.insn.load %x[128] to inp[0] size [4, 14] stride 56 pads [1, 0, 1, 1] push_next`

    `dram[128]` instead of `%x[128]` is an absolute `dram_base`. The sizes are rows and elements per
    row; the pads are y_pad_0, y_pad_1, x_pad_0 and x_pad_1.
    """

    name = "vta.insn.load"
    INSTRUCTION: ClassVar[type[Instruction]] = Load


@irdl_op_definition
class InsnStoreOp(_TransferInsnOp):
    """STORE: the scratchpad out into rows of DRAM.

    `vta.insn.store out[0] to %y[256] size [4, 14] stride 56 pop_prev push_prev`
    """

    name = "vta.insn.store"
    INSTRUCTION: ClassVar[type[Instruction]] = Store


class _LoopsInsnOp(InsnOp, ABC):
    """Micro-ops in two loops."""

    reset = opt_prop_def(UnitAttr)
    uop_bgn = prop_def(I64, default_value=NONE)
    uop_end = prop_def(I64, default_value=NONE)
    iter_out = prop_def(I64, default_value=ONE)
    iter_in = prop_def(I64, default_value=ONE)
    dst_factor_out = prop_def(I64, default_value=NONE)
    dst_factor_in = prop_def(I64, default_value=NONE)
    src_factor_out = prop_def(I64, default_value=NONE)
    src_factor_in = prop_def(I64, default_value=NONE)

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Any]:
        """Parse the fields before the fields of the loops."""
        del parser
        return {}

    @classmethod
    def _parse_fields(cls, parser: Parser) -> tuple[dict[str, Any], SSAValue | None]:
        values = cls._parse_head(parser)
        values["reset"] = parser.parse_optional_keyword("reset") is not None
        parser.parse_keyword("uops")
        values["uop_bgn"], values["uop_end"] = _parse_pair(parser)
        if parser.parse_optional_keyword("iterations"):
            values["iter_out"], values["iter_in"] = _parse_pair(parser)
        while index := parser.parse_optional_keyword_in(FACTORS):
            outer, inner = _parse_pair(parser)
            values |= {f"{index}_factor_out": outer, f"{index}_factor_in": inner}
        return values, None


@irdl_op_definition
class InsnGemmOp(_LoopsInsnOp):
    """GEMM: accumulated products of tiles, or zeros with `reset`.

    `vta.insn.gemm uops [3, 12] iterations [14, 7] dst [14, 1] src [16, 1] wgt [0, 9] pop_prev`

    The micro-ops are uop_bgn and uop_end; iterations and factors list the outer loop first.
    """

    name = "vta.insn.gemm"
    INSTRUCTION: ClassVar[type[Instruction]] = Gemm
    wgt_factor_out = prop_def(I64, default_value=NONE)
    wgt_factor_in = prop_def(I64, default_value=NONE)


@irdl_op_definition
class InsnAluOp(_LoopsInsnOp):
    """ALU: tiles of acc, updated with an immediate or another tile.

    `vta.insn.alu shr imm 8 uops [1, 2] iterations [4, 196] dst [196, 1] src [196, 1] push_next`

    An immediate in an instruction that does not use it is written `unused_imm 8`.
    """

    name = "vta.insn.alu"
    INSTRUCTION: ClassVar[type[Instruction]] = Alu
    opcode = prop_def(AluKindAttr)
    use_imm = opt_prop_def(UnitAttr)
    imm = prop_def(I64, default_value=NONE)

    @classmethod
    def _parse_head(cls, parser: Parser) -> dict[str, Any]:
        values: dict[str, Any] = {"opcode": parser.parse_str_enum(AluKind).opcode}
        if word := parser.parse_optional_keyword_in(("imm", "unused_imm")):
            values |= {"use_imm": word == "imm", "imm": parser.parse_integer()}
        return values


@irdl_op_definition
class InsnFinishOp(InsnOp):
    """FINISH: the end of the stream.

    `vta.insn.finish`
    """

    name = "vta.insn.finish"
    INSTRUCTION: ClassVar[type[Instruction]] = Finish
    traits = traits_def(IsTerminator())


INSN_OPS: dict[type[Instruction], type[InsnOp]] = {
    op.INSTRUCTION: op for op in (InsnLoadOp, InsnStoreOp, InsnGemmOp, InsnAluOp, InsnFinishOp)
}
"""The operation of each kind of instruction."""
