"""Operations and instructions as the verifiers see them, and the rules for a single one.

A violation is a VerifyException whose message names the operation by its number.
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
"""The shift amounts for which all published cores agree."""


@dataclass(frozen=True)
class Step:
    """One operation of a program, or instruction of a stream."""

    number: int
    kind: str
    """`operation` or `instruction`."""
    name: str
    instruction: Instruction
    """Its dependence bits are ignored; `waits` and `signals` replace them."""
    uops: tuple[Uop, ...] = ()
    """The micro-ops that it runs."""
    waits: tuple[Queue, ...] = ()
    signals: tuple[Queue, ...] = ()
    buffer: Hashable = None
    """The base of `dram_base`."""

    @property
    def stage(self) -> Stage:
        """Return the stage that executes it."""
        return stage_of(self.instruction)

    def __str__(self) -> str:
        return f"{self.kind} {self.number} ({self.name})"


def require(condition: bool, step: Step, sentence: str) -> None:
    """Raise VerifyException about a step unless the condition holds."""
    if not condition:
        raise VerifyException(f"{step} {sentence}")


def rows_of(op: Load | Store) -> Indices:
    """Return the elements of DRAM, from `dram_base` on."""
    rows = np.arange(op.y_size)[:, None] * op.x_stride
    return (op.dram_base + rows + np.arange(op.x_size)).ravel()


def dram_end(op: Load | Store) -> int:
    """Return one past the last element of DRAM; 0 for none."""
    if not op.x_size or not op.y_size:
        return 0
    return op.dram_base + (op.y_size - 1) * op.x_stride + op.x_size


def scratchpad_range(op: Load | Store) -> tuple[int, int]:
    """Return the range of elements of the scratchpad, the end excluded."""
    if is_nop(op):
        return op.sram_base, op.sram_base
    rows = op.y_pad_0 + op.y_size + op.y_pad_1
    return op.sram_base, op.sram_base + rows * (op.x_pad_0 + op.x_size + op.x_pad_1)


Steps: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Extent and step of the outer and of the inner loop."""


def loops_of(op: Gemm | Alu, index: str) -> Steps:
    """Return the loops of an instruction for one of its indices: dst, src or wgt."""
    outer, inner = (getattr(op, f"{index}_factor_{loop}") for loop in ("out", "in"))
    return (op.iter_out, outer), (op.iter_in, inner)


@cache
def _placement(index: str) -> int:
    return Uop._fields.index(index)


@lru_cache(maxsize=4096)
def column(uops: tuple[Uop, ...], index: str) -> Indices:
    """Return one index of each micro-op: dst, src or wgt."""
    return np.array([uop[_placement(index)] for uop in uops], np.intp)


@lru_cache(maxsize=4096)
def tiles(uops: tuple[Uop, ...], index: str, loops: Steps) -> Indices:
    """Return the distinct tiles touched by micro-ops in all iterations, ascending."""
    indices = np.unique(column(uops, index))
    for extent, step in loops:
        if extent > 1 and step:
            indices = np.unique(indices[:, None] + np.arange(extent) * step)
    return indices


def touched(step: Step, index: str) -> Indices:
    """Return the tiles that a GEMM or ALU touches with one of its indices."""
    assert isinstance(step.instruction, Gemm | Alu)
    return tiles(step.uops, index, loops_of(step.instruction, index))


def verify_step(step: Step, config: Config, write_to_read: int) -> None:
    """Raise VerifyException for an instruction that is malformed in any context."""
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
        require(not pads, step, "pads, which stores do not support")
    else:
        require(op.memory is not Memory.OUT, step, "loads OUT, which can only be stored")
        padded = op.memory not in (Memory.WGT, Memory.UOP)
        require(padded or not pads, step, f"pads {op.memory.name}, which VTA does not support")
    if is_nop(op):
        require(not pads, step, "pads rows without elements, for which cores differ")
        return
    require(op.y_size > 0, step, "moves no rows; only a transfer without elements may")
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
    """Return the indices that an instruction uses, with their memories."""
    if isinstance(op, Alu):
        return {"dst": Memory.ACC} if op.use_imm else {"dst": Memory.ACC, "src": Memory.ACC}
    if op.reset:
        return {"dst": Memory.ACC}
    return {"dst": Memory.ACC, "src": Memory.INP, "wgt": Memory.WGT}


def _verify_distance(step: Step, op: Gemm | Alu, write_to_read: int) -> None:
    """Raise VerifyException for a read of a tile of ACC too few micro-ops after its write."""
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
    """Return whether some micro-op reads the tile written `distance` micro-ops before it.

    The write is some iterations of the inner loop back, the same number for all micro-ops except
    those at the start of the list; these iterations may wrap into an earlier iteration of the outer
    loop.
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
    """Return whether some iteration in [first, last) times `step` is in `left`."""
    if not step:
        return bool((left == 0).any())
    turn = left // step
    return bool(((left % step == 0) & (turn >= first) & (turn < last)).any())
