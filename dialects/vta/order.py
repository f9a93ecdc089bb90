"""The happens-before order of steps: the order within stages, and the tokens between them.

Stages execute their steps in program order, so the k-th token that a stage takes from a queue is
the k-th put into it. The verifier walks the steps in program order and requires each token to be
available when a step takes it. This is stronger than freedom from deadlock. A core that fetches
instructions in order with a bounded queue needs it: an instruction must never wait for a later one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .isa import Finish, Queue, Stage
from .steps import Step, require

Clock: TypeAlias = tuple[int, int, int]
"""The number of completed steps of load, compute and store."""

STAGES = tuple(Stage)


@dataclass
class Order:
    """The steps so far, each with the steps completed when it starts."""

    serial: bool = False
    """Whether each step starts when all earlier steps are done, without tokens."""

    done: dict[Stage, Clock] = field(default_factory=lambda: dict.fromkeys(STAGES, (0, 0, 0)))
    """The steps known to be done, for each stage, before its next step."""
    queues: dict[Queue, deque[tuple[Clock, Hashable]]] = field(
        default_factory=lambda: {queue: deque() for queue in Queue}
    )
    numbers: dict[Stage, list[int]] = field(default_factory=lambda: {stage: [] for stage in STAGES})
    """The numbers of the steps of each stage."""

    def start(self, step: Step, tokens: Sequence[Hashable] = ()) -> Clock:
        """Take the tokens of a step; return the steps completed when it starts.

        `tokens` are the identities of the tokens, if they have any.
        """
        stage = step.stage
        if self.serial:
            return self.started
        clock = self.done[stage]
        for i, queue in enumerate(step.waits):
            require(
                queue.target is stage, step, f"takes a token of {queue}, a queue to another stage"
            )
            waiting = self.queues[queue]
            require(bool(waiting), step, f"takes a token of {queue} that no earlier step sends")
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
                queue.source is stage, step, f"sends a token of {queue}, a queue from another stage"
            )
            self.queues[queue].append((clock, tokens[i] if tokens else None))

    def left(self) -> Iterable[tuple[Queue, int]]:
        """Return the queues with unconsumed tokens, and their numbers."""
        return ((queue, len(tokens)) for queue, tokens in self.queues.items() if tokens)

    @property
    def started(self) -> Clock:
        """Return the number of steps of each stage so far."""
        load, compute, store = (len(self.numbers[stage]) for stage in STAGES)
        return load, compute, store

    @property
    def counts(self) -> dict[Queue, int]:
        """Return the number of tokens in each queue."""
        return {queue: len(tokens) for queue, tokens in self.queues.items()}


def position(clock: Clock, stage: Stage) -> int:
    """Return the number of completed steps of a stage."""
    return clock[STAGES.index(stage)]


def _later(a: Clock, b: Clock) -> Clock:
    return max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])


def _with(clock: Clock, stage: Stage, count: int) -> Clock:
    counts = [*clock]
    counts[STAGES.index(stage)] = count
    return counts[0], counts[1], counts[2]
