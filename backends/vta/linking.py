"""Places of a stream's buffers and constants, put into its addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from ...dialects.vta import (
    DramKind,
    Instruction,
    Load,
    Store,
    StreamOp,
    Uop,
)


@dataclass(frozen=True)
class LinkedStream:
    """Instructions whose addresses count elements of a memory from its start.

    The buffers and constants of a kind lie one behind the other: `starts` has the first element of
    each key, `elements` their number by kind.
    """

    instructions: list[Instruction]
    uops: tuple[Uop, ...]
    starts: Mapping[str, int]
    elements: Mapping[DramKind, int]


def link_stream(stream: StreamOp) -> LinkedStream:
    """Put the buffers of each kind side by side, in their order, and the micro-ops at 0."""
    elements = dict.fromkeys(DramKind, 0)
    starts: dict[str, int] = {}
    table = stream.table
    places: dict[SSAValue, int] = {} if table is None else {table.result: 0}
    for symbol in stream.symbols:
        kind = symbol.type.kind
        places[symbol.result] = starts[symbol.key] = elements[kind]
        elements[kind] += symbol.type.elements
    instructions: list[Instruction] = []
    for insn in stream.insns:
        instruction = insn.instruction
        if insn.buffer is not None and isinstance(instruction, Load | Store):
            base = instruction.dram_base + places[insn.buffer]
            instruction = replace(instruction, dram_base=base)
        instructions.append(instruction)
    return LinkedStream(instructions, () if table is None else table.uops, starts, elements)
