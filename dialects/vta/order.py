"""Which steps are done before which: the order within stages, and the tokens between them.

Stages take their steps in the order of the program, so the k-th token that a stage takes from a
queue is the k-th that was put into it. We walk the steps in that order, which executes them if
every token that a step takes is there. This is more than freedom from deadlock, and what a core
needs that fetches instructions in order and has room for a few: it never waits for an instruction
behind the one that waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .isa import Finish, Queue, Stage
from .steps import Step, require

Clock: TypeAlias = tuple[int, int, int]
"""How many steps of load, compute and store are done."""

STAGES = tuple(Stage)


@dataclass
class Order:
    """The steps so far, each with what is done when it starts."""

    serial: bool = False
    """Whether a step starts when all before it are done, in place of tokens."""

    done: dict[Stage, Clock] = field(default_factory=lambda: dict.fromkeys(STAGES, (0, 0, 0)))
    """What is done, as far as each stage knows, before its next step."""
    queues: dict[Queue, deque[tuple[Clock, Hashable]]] = field(
        default_factory=lambda: {queue: deque() for queue in Queue}
    )
    numbers: dict[Stage, list[int]] = field(default_factory=lambda: {stage: [] for stage in STAGES})
    """The numbers of the steps of each stage."""

    def start(self, step: Step, tokens: Sequence[Hashable] = ()) -> Clock:
        """Take the tokens of a step; what is done then.

        `tokens` are the identities of those that it takes, where they have any.
        """
        stage = step.stage
        if self.serial:
            return self.started
        clock = self.done[stage]
        for i, queue in enumerate(step.waits):
            require(queue.target is stage, step, f"takes a token of {queue}, which ends elsewhere")
            waiting = self.queues[queue]
            require(bool(waiting), step, f"takes a token of {queue} that nothing before it sends")
            sent, token = waiting.popleft()
            require(
                not tokens or token == tokens[i],
                step,
                f"takes another token of {queue} than the one that was sent first",
            )
            clock = _later(clock, sent)
        if isinstance(step.instruction, Finish):
            for other, count in zip(STAGES, clock, strict=True):
                require(
                    count == len(self.numbers[other]),
                    step,
                    f"does not wait for the last step of the stage {other}",
                )
        return clock

    def end(self, step: Step, clock: Clock, tokens: Sequence[Hashable] = ()) -> None:
        """Send the tokens of a step that started at `clock`; `tokens` are their identities."""
        stage = step.stage
        self.numbers[stage].append(step.number)
        clock = _with(clock, stage, len(self.numbers[stage]))
        self.done[stage] = clock
        for i, queue in enumerate(step.signals):
            require(
                queue.source is stage, step, f"sends a token of {queue}, which starts elsewhere"
            )
            self.queues[queue].append((clock, tokens[i] if tokens else None))

    def left(self) -> Iterable[tuple[Queue, int]]:
        """The queues with tokens that nothing took, and how many."""
        return ((queue, len(tokens)) for queue, tokens in self.queues.items() if tokens)

    @property
    def started(self) -> Clock:
        """How many steps of each stage there were so far."""
        load, compute, store = (len(self.numbers[stage]) for stage in STAGES)
        return load, compute, store

    @property
    def counts(self) -> dict[Queue, int]:
        """The tokens in each queue."""
        return {queue: len(tokens) for queue, tokens in self.queues.items()}


def position(clock: Clock, stage: Stage) -> int:
    """How many steps of a stage are done."""
    return clock[STAGES.index(stage)]


def _later(a: Clock, b: Clock) -> Clock:
    return max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])


def _with(clock: Clock, stage: Stage, count: int) -> Clock:
    counts = [*clock]
    counts[STAGES.index(stage)] = count
    return counts[0], counts[1], counts[2]
