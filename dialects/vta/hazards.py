"""Hazards: races between stages, and reads of uninitialised elements.

Every memory keeps, for each element and stage, the last step of the stage that read and wrote it.
An access is ordered after all earlier ones if it is ordered after the last of every other stage,
because a stage executes its steps in order. The verification is linear in the elements that a
program touches.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from .config import Config
from .isa import Alu, Gemm, Load, Memory, Stage, Store, is_nop
from .order import Clock, Order, position
from .steps import Indices, Step, require, rows_of, scratchpad_range, touched

Elements: TypeAlias = Indices | slice


class _Content(IntEnum):
    """The state of an element of ACC; its copy in OUT is valid only if it was computed."""

    NOTHING = 0
    LOADED = 1
    RESET = 2
    COMPUTED = 3


_STALE = {
    _Content.NOTHING: "was never written",
    _Content.LOADED: "was loaded into acc, which does not change out",
    _Content.RESET: "was last written by a reset, after which cores disagree about out",
}


class _Memory:
    """The last accesses of each stage to each element."""

    def __init__(self, name: str, elements: int):
        self.name = name
        self.elements = elements
        self.last: dict[tuple[Stage, bool], NDArray[np.int32]] = {}

    def access(self, where: Elements, writes: bool, step: Step, clock: Clock, order: Order) -> None:
        """Record an access; raise VerifyException if it is not ordered after conflicting ones."""
        stage = step.stage
        for (other, wrote), last in self.last.items():
            if other is stage or not (wrote or writes):
                continue
            found = last[where]
            latest = int(found.max(initial=-1))
            if latest >= position(clock, other):
                earlier = order.numbers[other][latest]
                at = np.arange(self.elements)[where][int(found.argmax())]
                raise VerifyException(
                    f"{step} {'writes' if writes else 'reads'} element {at} of {self.name}, which "
                    f"{step.kind} {earlier} {'writes' if wrote else 'reads'} in another stage, and "
                    "no tokens order them"
                )
        accesses = self.last.get((stage, writes))
        if accesses is None:
            accesses = self.last[stage, writes] = np.full(self.elements, -1, np.int32)
        accesses[where] = len(order.numbers[stage])


class Hazards:
    """The accesses of a program's steps so far."""

    def __init__(self, config: Config, buffers: dict[Hashable, tuple[str, int]]):
        """Create the state; `buffers` are names and sizes of the buffers that stores write."""
        shared = (Memory.INP, Memory.WGT, Memory.OUT)
        self.memories = {m: _Memory(m.name.lower(), config.depth(m)) for m in shared}
        self.buffers = {key: _Memory(f'"{name}"', n) for key, (name, n) in buffers.items()}
        self.filled = {m: np.zeros(config.depth(m), bool) for m in (Memory.INP, Memory.WGT)}
        self.content = np.zeros(config.depth(Memory.ACC), np.int8)

    def step(self, step: Step, clock: Clock, order: Order) -> None:
        """Raise VerifyException for a hazard that this step introduces."""
        match step.instruction:
            case Load() | Store() as op if is_nop(op):
                pass
            case Load() as op:
                self._dram(step, op, False, clock, order)
                self._load(step, op, clock, order)
            case Store() as op:
                self._store(step, op, clock, order)
                self._dram(step, op, True, clock, order)
            case Gemm() | Alu() as op:
                self._compute(step, op, clock, order)
            case _:
                pass

    def _dram(self, step: Step, op: Load | Store, writes: bool, clock: Clock, order: Order) -> None:
        if memory := self.buffers.get(step.buffer):
            memory.access(rows_of(op), writes, step, clock, order)

    def _load(self, step: Step, op: Load, clock: Clock, order: Order) -> None:
        where = slice(*scratchpad_range(op))
        if op.memory in self.filled:
            self.memories[op.memory].access(where, True, step, clock, order)
            self.filled[op.memory][where] = True
        elif op.memory is not Memory.UOP:
            self.content[where] = _Content.LOADED

    def _store(self, step: Step, op: Store, clock: Clock, order: Order) -> None:
        where = slice(*scratchpad_range(op))
        content = self.content[where]
        if (content != _Content.COMPUTED).any():
            at = int((content != _Content.COMPUTED).argmax())
            why = _STALE[_Content(int(content[at]))]
            raise VerifyException(f"{step} stores element {op.sram_base + at} of out, which {why}")
        self.memories[Memory.OUT].access(where, False, step, clock, order)

    def _compute(self, step: Step, op: Gemm | Alu, clock: Clock, order: Order) -> None:
        written = touched(step, "dst")
        if isinstance(op, Gemm) and not op.reset:
            for index, memory in (("src", Memory.INP), ("wgt", Memory.WGT)):
                read = touched(step, index)
                _require_content(step, self.filled[memory][read], read, memory)
                self.memories[memory].access(read, False, step, clock, order)
        if isinstance(op, Alu) or not op.reset:
            _require_content(step, self.content[written] > 0, written, Memory.ACC)
        if isinstance(op, Alu) and not op.use_imm:
            read = touched(step, "src")
            _require_content(step, self.content[read] > 0, read, Memory.ACC)
        resets = isinstance(op, Gemm) and op.reset
        self.content[written] = _Content.RESET if resets else _Content.COMPUTED
        self.memories[Memory.OUT].access(written, True, step, clock, order)


def _require_content(step: Step, has: NDArray[np.bool_], where: Indices, memory: Memory) -> None:
    if not has.all():
        at = where[int((~has).argmax())]
        require(
            False, step, f"reads element {at} of {memory.name.lower()}, which was never written"
        )
