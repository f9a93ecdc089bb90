"""What a stream must be so that a device may execute it: no access beyond a scratchpad, an end.

Whether tokens order all accesses is the event simulator's question; here only that no stage waits
for ever.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.encoding import UopWords, VTAStreamError
from ...dialects.vta.isa import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
    signals_of,
    stage_of,
    unconnected_bits,
    waits_of,
)
from .accesses import PAD_OF, tiles_of

_SHIFTS = range(-16, 16)


def check_stream(instructions: Sequence[Instruction], micro_ops: UopWords, config: Config) -> None:
    """Raise VTAStreamError for a stream that the core must not execute.

    `micro_ops` is the memory UOP of DRAM; the scratchpad starts with zeros.
    """
    kinds = [type(instruction) for instruction in instructions]
    if kinds.count(Finish) != 1 or kinds[-1] is not Finish:
        raise VTAStreamError("A stream has one FINISH, as its last instruction.")
    uops = np.zeros(config.depth(Memory.UOP), np.uint32)
    for number, instruction in enumerate(instructions):
        where = f"Instruction {number} ({type(instruction).__name__.upper()})"
        if bits := unconnected_bits(instruction):
            raise VTAStreamError(f"{where} sets {bits[0]}, and its stage has no such queue.")
        match instruction:
            case Load() | Store():
                _check_rectangle(where, instruction, config)
                if isinstance(instruction, Load) and instruction.memory is Memory.UOP:
                    _load_uops(where, instruction, micro_ops, uops)
            case Gemm() | Alu():
                _check_tiles(where, instruction, uops, config)
            case Finish():
                pass
    _check_tokens(instructions)


def _check_rectangle(where: str, instruction: Load | Store, config: Config) -> None:
    memory = instruction.memory
    if isinstance(instruction, Store) is not (memory is Memory.OUT):
        raise VTAStreamError(f"{where} moves {memory.name}: loads move all but OUT, stores OUT.")
    pads = (
        instruction.y_pad_0, instruction.y_pad_1, instruction.x_pad_0, instruction.x_pad_1
    )  # fmt: skip
    if any(pads) and (memory in _UNPADDED or instruction.x_size == 0):
        raise VTAStreamError(f"{where} has padding, which {memory.name} without elements has not.")
    if memory is Memory.UOP and instruction.y_size > 1:
        raise VTAStreamError(f"{where} has {instruction.y_size} rows of micro-ops; one is allowed.")
    rows = instruction.y_pad_0 + instruction.y_size + instruction.y_pad_1
    row = instruction.x_pad_0 + instruction.x_size + instruction.x_pad_1
    _check_index(where, instruction.sram_base + rows * row - 1, PAD_OF[memory], config)


_UNPADDED = (Memory.UOP, Memory.WGT, Memory.OUT)


def _load_uops(
    where: str, instruction: Load, micro_ops: UopWords, uops: npt.NDArray[np.uint32]
) -> None:
    size = instruction.x_size * min(1, instruction.y_size)
    loaded = micro_ops[instruction.dram_base : instruction.dram_base + size]
    if len(loaded) < size:
        raise VTAStreamError(
            f"{where} loads micro-ops up to {instruction.dram_base + size}, and there are "
            f"{len(micro_ops)}."
        )
    uops[instruction.sram_base : instruction.sram_base + size] = loaded


def _check_tiles(
    where: str, instruction: Gemm | Alu, uops: npt.NDArray[np.uint32], config: Config
) -> None:
    _check_index(where, instruction.uop_end - 1, Memory.UOP, config)
    tiles = tiles_of(instruction, uops, config)
    if not tiles.dst.size:
        return
    used = [(Memory.ACC, tiles.dst)]
    if isinstance(instruction, Alu):
        if not instruction.use_imm:
            used.append((Memory.ACC, tiles.src))
        elif instruction.opcode is AluOpcode.SHR and instruction.imm not in _SHIFTS:
            raise VTAStreamError(f"{where} shifts by {instruction.imm}; amounts are -16 to 15.")
    elif not instruction.reset:
        used += [(Memory.INP, tiles.src), (Memory.WGT, tiles.wgt)]
    for memory, indices in used:
        _check_index(where, int(indices.max()), memory, config)


def _check_index(where: str, index: int, memory: Memory, config: Config) -> None:
    depth = config.depth(memory)
    if index >= depth:
        raise VTAStreamError(
            f"{where} reaches element {index} of the scratchpad {memory.name}, which has {depth}."
        )


def _check_tokens(instructions: Sequence[Instruction]) -> None:
    """Tokens carry no data: if the stages get through in one order, they do in all."""
    waiting = {stage: deque[int]() for stage in Stage}
    for number, instruction in enumerate(instructions):
        waiting[stage_of(instruction)].append(number)
    tokens = Counter[Queue]()
    moving = True
    while moving:
        moving = False
        for numbers in waiting.values():
            while numbers and all(tokens[queue] for queue in waits_of(instructions[numbers[0]])):
                instruction = instructions[numbers.popleft()]
                tokens.subtract(waits_of(instruction))
                tokens.update(signals_of(instruction))
                moving = True
    if heads := [numbers[0] for numbers in waiting.values() if numbers]:
        raise VTAStreamError(
            f"The stream waits for ever, at the instructions {', '.join(map(str, heads))}: each "
            "token that is popped has to be pushed before."
        )
    if left := [queue for queue in Queue if tokens[queue]]:
        raise VTAStreamError(
            f"Tokens are left in {', '.join(left)} at the end of the stream: pop as many as are "
            "pushed."
        )
