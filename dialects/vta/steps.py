"""Operations and instructions as the verifiers see them, and the rules for one of them alone.

What a rule refuses is a VerifyException whose sentence names the operation by its number.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from .config import Config
from .isa import (
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
    Uop,
    is_nop,
    stage_of,
)

Indices: TypeAlias = NDArray[np.intp]
"""Elements of a memory."""

SHIFTS = range(-16, 16)
"""The amounts by which every published core shifts alike."""


@dataclass(frozen=True)
class Step:
    """One operation of a program, or instruction of a stream."""

    number: int
    kind: str
    """`operation` or `instruction`."""
    name: str
    instruction: Instruction
    """Its dependence bits have no meaning; `waits` and `signals` have."""
    uops: tuple[Uop, ...] = ()
    """The micro-ops that it runs."""
    waits: tuple[Queue, ...] = ()
    signals: tuple[Queue, ...] = ()
    buffer: Hashable = None
    """What `dram_base` counts from."""

    @property
    def stage(self) -> Stage:
        """The stage that executes it."""
        return stage_of(self.instruction)

    def __str__(self) -> str:
        return f"{self.kind} {self.number} ({self.name})"


def require(condition: bool, step: Step, sentence: str) -> None:
    """Raise a VerifyException about a step unless the condition holds."""
    if not condition:
        raise VerifyException(f"{step} {sentence}")


def rows_of(op: Load | Store) -> Indices:
    """The elements of DRAM, from `dram_base` on."""
    rows = np.arange(op.y_size)[:, None] * op.x_stride
    return (op.dram_base + rows + np.arange(op.x_size)).ravel()


def dram_end(op: Load | Store) -> int:
    """One behind the last element of DRAM; 0 for none."""
    if not op.x_size or not op.y_size:
        return 0
    return op.dram_base + (op.y_size - 1) * op.x_stride + op.x_size


def scratchpad_range(op: Load | Store) -> tuple[int, int]:
    """The elements of the scratchpad, from the first to one behind the last."""
    if is_nop(op):
        return op.sram_base, op.sram_base
    rows = op.y_pad_0 + op.y_size + op.y_pad_1
    return op.sram_base, op.sram_base + rows * (op.x_pad_0 + op.x_size + op.x_pad_1)


Steps: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Extent and step of the outer and of the inner loop."""


def loops_of(op: Gemm | Alu, index: str) -> Steps:
    """The loops of an instruction around one of its indices: dst, src or wgt."""
    outer, inner = (getattr(op, f"{index}_factor_{loop}") for loop in ("out", "in"))
    return (op.iter_out, outer), (op.iter_in, inner)


@cache
def _placement(index: str) -> int:
    return Uop._fields.index(index)


@lru_cache(maxsize=4096)
def column(uops: tuple[Uop, ...], index: str) -> Indices:
    """One index of each of the micro-ops: dst, src or wgt."""
    return np.array([uop[_placement(index)] for uop in uops], np.intp)


@lru_cache(maxsize=4096)
def tiles(uops: tuple[Uop, ...], index: str, loops: Steps) -> Indices:
    """The tiles that micro-ops touch in all iterations, rising, each once."""
    found = np.unique(column(uops, index))
    for extent, step in loops:
        if extent > 1 and step:
            found = np.unique(found[:, None] + np.arange(extent) * step)
    return found


def touched(step: Step, index: str) -> Indices:
    """The tiles that a GEMM or ALU touches by one of its indices."""
    assert isinstance(step.instruction, Gemm | Alu)
    return tiles(step.uops, index, loops_of(step.instruction, index))


def verify_step(step: Step, config: Config, write_to_read: int) -> None:
    """Refuse an instruction that is malformed whatever stands around it."""
    match step.instruction:
        case Load() | Store() as op:
            _verify_transfer(step, op, config)
        case Gemm() | Alu() as op:
            _verify_loops(step, op, config, write_to_read)
        case Finish():
            pass


def _verify_transfer(step: Step, op: Load | Store, config: Config) -> None:
    pads = any((op.y_pad_0, op.y_pad_1, op.x_pad_0, op.x_pad_1))
    if isinstance(op, Store):
        require(op.memory is Memory.OUT, step, f"stores {op.memory.name}, but only OUT is stored")
        require(not pads, step, "pads, which a store cannot")
    else:
        require(op.memory is not Memory.OUT, step, "loads OUT, which is only stored")
        padded = op.memory not in (Memory.WGT, Memory.UOP)
        require(padded or not pads, step, f"pads {op.memory.name}, which VTA does not")
    if is_nop(op):
        require(not pads, step, "pads rows of no elements, about which cores disagree")
        return
    require(op.y_size > 0, step, "moves no rows: only one without elements moves nothing")
    require(
        op.memory is not Memory.UOP or op.y_size == 1, step, "loads micro-ops in more than one row"
    )
    end, depth = scratchpad_range(op)[1], config.depth(op.memory)
    require(end <= depth, step, f"reaches element {end - 1} of {op.memory.name}, which has {depth}")


def _verify_loops(step: Step, op: Gemm | Alu, config: Config, write_to_read: int) -> None:
    depth = config.depth(Memory.UOP)
    require(op.uop_bgn < op.uop_end, step, "runs no micro-ops")
    require(
        op.uop_end <= depth,
        step,
        f"runs micro-op {op.uop_end - 1}, but UOP has {depth}",
    )
    require(min(op.iter_out, op.iter_in) > 0, step, "runs none of its iterations")
    for index, memory in indices_of(op).items():
        last = int(column(step.uops, index).max())
        last += sum((extent - 1) * factor for extent, factor in loops_of(op, index))
        depth = config.depth(memory)
        require(
            last < depth,
            step,
            f"reaches element {last} of {memory.name}, which has {depth}",
        )
    if isinstance(op, Alu) and op.opcode is AluOpcode.SHR and op.use_imm:
        require(op.imm in SHIFTS, step, f"shifts by {op.imm}, but the amounts are -16 to 15")
    if write_to_read > 1:
        _verify_distance(step, op, write_to_read)


def indices_of(op: Gemm | Alu) -> dict[str, Memory]:
    """The indices that an instruction uses, and the memories that they are of."""
    if isinstance(op, Alu):
        return {"dst": Memory.ACC} if op.use_imm else {"dst": Memory.ACC, "src": Memory.ACC}
    if op.reset:
        return {"dst": Memory.ACC}
    return {"dst": Memory.ACC, "src": Memory.INP, "wgt": Memory.WGT}


def _verify_distance(step: Step, op: Gemm | Alu, write_to_read: int) -> None:
    """Refuse reads of a tile of ACC too few micro-ops behind one that writes it."""
    if isinstance(op, Gemm) and op.reset:
        return
    reads = [index for index, memory in indices_of(op).items() if memory is Memory.ACC]
    for distance in range(1, write_to_read):
        for index in reads:
            require(
                not _reads_at_distance(step.uops, index, loops_of(op, index), op, distance),
                step,
                f"reads a tile {distance} micro-ops behind the one that writes it, but the core "
                f"needs {write_to_read}",
            )


def _reads_at_distance(
    uops: tuple[Uop, ...], index: str, read: Steps, op: Gemm | Alu, distance: int
) -> bool:
    """Whether some micro-op reads what the one `distance` before it in time wrote.

    The one before is some turns of the inner loop back, as many for all micro-ops but those at the
    start of the list; these turns may wrap around into an earlier turn of the outer loop.
    """
    (outer, read_out), (inner, read_in) = read
    (_, write_out), (_, write_in) = loops_of(op, "dst")
    number = np.arange(len(uops))
    back = -(-(distance - number) // len(uops)).clip(max=0)
    writer = number - distance + back * len(uops)
    base = column(uops, index) - column(uops, "dst")[writer]
    for turns in np.unique(back):
        whole, rest = divmod(int(turns), inner)
        for outs, ins in ((whole, rest), (whole + 1, rest - inner)):
            first, last = max(ins, 0), inner + min(ins, 0)
            if outs >= outer or first >= last:
                continue
            constant = base[back == turns] + outs * write_out + ins * write_in
            out = np.arange(outs, outer if read_out != write_out else outs + 1)
            left = -(constant[:, None] + out * (read_out - write_out))
            if _some_turn(left, read_in - write_in, first, last):
                return True
    return False


def _some_turn(left: Indices, step: int, first: int, last: int) -> bool:
    """Whether some turn of [first, last) times `step` is in `left`."""
    if not step:
        return bool((left == 0).any())
    turn = left // step
    return bool(((left % step == 0) & (turn >= first) & (turn < last)).any())
