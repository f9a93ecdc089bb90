"""Simulation of the three stages of a core in random legal orders, to find missing tokens.

Each stage executes its own instructions in order and waits for the tokens that they pop. Every such
interleaving is legal on hardware, so all must give the same result. If two stages access the same
element and one of them writes, tokens must order the accesses. The simulator tracks tokens with
vector clocks, so it finds a missing token even in an order that happens to give the right result.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...dialects.vta.encoding import VTAStreamError
from ...dialects.vta.isa import (
    Instruction,
    Memory,
    Queue,
    Stage,
    signals_of,
    stage_of,
    waits_of,
)
from .accesses import Accesses, Indices, accesses_of
from .simulator import Dram, Simulator

_STAGES = tuple(Stage)
_PLACE = {stage: place for place, stage in enumerate(_STAGES)}

Clock = npt.NDArray[np.int64]
"""For each stage, the number of its instructions that are known to have finished."""


def run_stages(
    instructions: Sequence[Instruction], simulator: Simulator, dram: Dram, seed: int
) -> tuple[int, ...]:
    """Execute a stream in a random legal order that `seed` determines, and return that order.

    Raises VTAStreamError for a race, for a deadlock, and for unused tokens.
    """
    run = _Run(instructions, simulator, dram)
    choose = random.Random(seed)
    order: list[int] = []
    while waiting := [stage for stage in Stage if run.queues[stage]]:
        ready = [stage for stage in waiting if run.missing_token(stage) is None]
        if not ready:
            raise VTAStreamError(run.describe_deadlock(waiting))
        order.append(run.step(choose.choice(ready)))
    if left := [f"{len(run.tokens[queue])} in {queue}" for queue in Queue if run.tokens[queue]]:
        raise VTAStreamError(
            f"Tokens remain at the end of the stream: {', '.join(left)}; pop as many tokens as are "
            "pushed."
        )
    return tuple(order)


class _Run:
    """The state of the stages: their instructions, their clocks and the tokens in flight."""

    def __init__(
        self, instructions: Sequence[Instruction], simulator: Simulator, dram: Dram
    ) -> None:
        self.instructions = instructions
        self.simulator = simulator
        self.dram = dram
        self.queues = {stage: deque[int]() for stage in Stage}
        for number, instruction in enumerate(instructions):
            self.queues[stage_of(instruction)].append(number)
        self.done = {stage: list[int]() for stage in Stage}
        self.clocks = {stage: np.zeros(len(Stage), np.int64) for stage in Stage}
        self.tokens = {queue: deque[Clock]() for queue in Queue}
        depths = {memory: len(pad) for memory, pad in simulator.pads.items()}
        self.pads = {memory: _History(depth) for memory, depth in depths.items()}
        self.arena = _Arena(dram)

    def missing_token(self, stage: Stage) -> Queue | None:
        """Return the queue on which the stage's next instruction waits, or None."""
        instruction = self.instructions[self.queues[stage][0]]
        return next((queue for queue in waits_of(instruction) if not self.tokens[queue]), None)

    def step(self, stage: Stage) -> int:
        """Execute the stage's next instruction, and return its number."""
        number = self.queues[stage].popleft()
        instruction = self.instructions[number]
        clock = self.clocks[stage]
        for queue in waits_of(instruction):
            np.maximum(clock, self.tokens[queue].popleft(), out=clock)
        self.done[stage].append(number)
        clock[_PLACE[stage]] = len(self.done[stage])
        accesses = accesses_of(instruction, self.simulator.uops, self.simulator.config)
        self._check_races(stage, number, accesses)
        self.simulator.execute(instruction, self.dram)
        for queue in signals_of(instruction):
            self.tokens[queue].append(clock.copy())
        return number

    def _check_races(self, stage: Stage, number: int, accesses: Accesses) -> None:
        clock = self.clocks[stage]
        for history, what, elements, writes in self._touched(accesses):
            race = history.access(elements, stage, clock, writes)
            if race is not None:
                other, count, element = race
                raise VTAStreamError(
                    f"Instructions {self.done[other][count - 1]} and {number} both access element "
                    f"{element} of {what}, one writes it, and no tokens order them; push a token "
                    "after the first and pop it before the second."
                )

    def _touched(self, accesses: Accesses) -> Iterator[tuple[_History, str, Indices, bool]]:
        for writes, touched in ((False, accesses.reads), (True, accesses.writes)):
            for memory, elements in touched.items():
                yield self.pads[memory], f"the scratchpad {memory.name}", elements, writes
        for writes, touched in ((False, accesses.dram_reads), (True, accesses.dram_writes)):
            for memory, elements in touched.items():
                units = self.arena.units_of(memory, elements)
                if units.size:
                    yield self.arena.history, "the activations in DRAM", units, writes

    def describe_deadlock(self, waiting: Sequence[Stage]) -> str:
        """Return a message with the instruction and the queue on which each stage waits."""
        heads = [
            f"instruction {self.queues[stage][0]} for {self.missing_token(stage)}"
            for stage in waiting
        ]
        return f"The stream waits forever: {', '.join(heads)}; push each token before it is popped."


class _History:
    """The last accesses of each stage to each element, as counts of the stage's instructions."""

    def __init__(self, elements: int) -> None:
        self.writes = np.zeros((len(Stage), elements), np.int64)
        self.reads = np.zeros((len(Stage), elements), np.int64)

    def access(
        self, elements: Indices, stage: Stage, clock: Clock, writes: bool
    ) -> tuple[Stage, int, int] | None:
        """Record an access; return a race with an earlier access of another stage, or None.

        A race is an access that `clock` does not cover: its stage, the count of its instruction,
        the element.
        """
        for earlier in (self.writes, self.reads) if writes else (self.writes,):
            seen = earlier[:, elements]
            stages, places = np.nonzero(seen > clock[:, None])
            if stages.size:
                other = _STAGES[int(stages[0])]
                return other, int(seen[_PLACE[other], places[0]]), int(elements[places[0]])
        (self.writes if writes else self.reads)[_PLACE[stage], elements] = clock[_PLACE[stage]]
        return None


@dataclass(frozen=True)
class _Place:
    """The position of a memory in the arena, in units."""

    start: int
    units: int


class _Arena:
    """The activations in DRAM as one arena, because a stream may load what it stored.

    A unit is the largest number of bytes that divides all element sizes and positions.
    """

    def __init__(self, dram: Dram) -> None:
        arrays = {
            memory: array
            for memory in (Memory.INP, Memory.ACC_8BIT, Memory.OUT)
            if (array := dram[memory]).size
        }
        starts = {memory: array.__array_interface__["data"][0] for memory, array in arrays.items()}
        shared = any(
            np.may_share_memory(dram[Memory.OUT], array)
            for memory, array in arrays.items()
            if memory is not Memory.OUT
        )
        self.places: dict[Memory, _Place] = {}
        self.history = _History(0)
        if shared:
            sizes = {memory: array[0].nbytes for memory, array in arrays.items()}
            first = min(starts.values())
            unit = int(np.gcd.reduce([*sizes.values(), *(s - first for s in starts.values())]))
            for memory, start in starts.items():
                self.places[memory] = _Place((start - first) // unit, sizes[memory] // unit)
            end = max(starts[memory] + array.nbytes for memory, array in arrays.items())
            self.history = _History((end - first) // unit)

    def units_of(self, memory: Memory, elements: Indices) -> Indices:
        """Return the units of elements of a memory; none if no stored element can be loaded."""
        if memory not in self.places:
            return np.empty(0, np.int64)
        place = self.places[memory]
        units = place.start + elements[:, None] * place.units + np.arange(place.units)
        return units.reshape(-1)
