"""The text format of instructions, printed and parsed by the instruction-level operations."""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum

from .isa import Alu, Finish, Gemm, Instruction, Load, Memory, Store, Uop


class MemoryName(StrEnum):
    """A memory by its name in text."""

    UOP = "uop"
    WGT = "wgt"
    INP = "inp"
    ACC = "acc"
    OUT = "out"
    ACC_8BIT = "acc8"

    @property
    def memory(self) -> Memory:
        """Return the memory in an instruction."""
        return Memory[self.name]


BITS = ("pop_prev", "pop_next", "push_prev", "push_next")
"""The dependence bits in the order of the encoding."""

FACTORS = ("dst", "src", "wgt")
"""The indices stepped by loops, in the order of the encoding."""

ABSOLUTE = "dram"
"""Written instead of a buffer if `dram_base` is an absolute address."""


def instruction_text(instruction: Instruction, symbol: str | None = None) -> str:
    """Return an instruction as its operation prints it; `symbol` is the buffer of `dram_base`."""
    match instruction:
        case Load() | Store():
            text = _transfer(instruction, symbol or ABSOLUTE)
        case Gemm():
            text = "vta.insn.gemm" + _loops(instruction, FACTORS)
        case Alu():
            text = _alu(instruction)
        case Finish():
            text = "vta.insn.finish"
    return " ".join([text, *(bit for bit in BITS if getattr(instruction, bit))])


def uops_text(uops: tuple[Uop, ...]) -> str:
    """Return micro-ops with their numbers, one per line."""
    return "\n".join(f"{i:6}  {tuple(uop)}" for i, uop in enumerate(uops))


def _transfer(op: Load | Store, symbol: str) -> str:
    scratchpad = f"{MemoryName[op.memory.name]}[{op.sram_base}]"
    places = f"{symbol}[{op.dram_base}]", scratchpad
    name = "load"
    if isinstance(op, Store):
        name, places = "store", places[::-1]
    pads = [op.y_pad_0, op.y_pad_1, op.x_pad_0, op.x_pad_1]
    return (
        f"vta.insn.{name} {places[0]} to {places[1]} size {[op.y_size, op.x_size]} "
        f"stride {op.x_stride}{f' pads {pads}' if any(pads) else ''}"
    )


def _alu(op: Alu) -> str:
    text = f"vta.insn.alu {op.opcode.name.lower()}"
    if op.use_imm:
        text += f" imm {op.imm}"
    elif op.imm:
        text += f" unused_imm {op.imm}"
    return text + _loops(op, FACTORS[:2])


def _loops(op: Gemm | Alu, indices: tuple[str, ...]) -> str:
    text = f"{' reset' if op.reset else ''} uops {[op.uop_bgn, op.uop_end]}"
    if (op.iter_out, op.iter_in) != (1, 1):
        text += f" iterations {[op.iter_out, op.iter_in]}"
    for index in indices:
        factors = [getattr(op, f"{index}_factor_out"), getattr(op, f"{index}_factor_in")]
        text += f" {index} {factors}" if any(factors) else ""
    return text
