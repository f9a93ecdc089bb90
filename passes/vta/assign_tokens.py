"""Synchronize the stages of a program with as few tokens as its dependences need."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.vta import (
    FinishOp,
    NopOp,
    ProgramOp,
    Queue,
    Scratchpad,
    Stage,
    TileOp,
    TokenType,
)
from ...errors import CloptError
from .lowering.touched import Place, touched

_STAGES = tuple(Stage)
_NUMBER = {stage: number for number, stage in enumerate(_STAGES)}
_QUEUE = {(queue.source, queue.target): queue for queue in Queue}
_TYPES = {queue: TokenType(queue) for queue in Queue}
_NONE = -1

_Clock = list[int]
"""For each stage, the index of its last operation known to be done."""


class VTAAssignTokensPass(ModulePass):
    """Adds the required tokens to each `vta.program` that has none.

    Two operations of different stages that touch the same elements, at least one by a write, keep
    their order. This applies to scratchpads, and to buffers that one layer stores and another
    loads. The end waits for everything. A token means that its stage has done all operations before
    it, including those that the stage waited for. So an operation waits only for operations that
    its stage does not yet know to be done. The compute stage relays tokens between load and store,
    with a `vta.nop` if none of its operations can.
    """

    name = "vta-assign-tokens"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, ProgramOp):
                if not program.is_serial:
                    raise CloptError(
                        f"@{program.sym_name.data} has tokens; vta-assign-tokens needs programs "
                        "without tokens."
                    )
                _Assignment(program).run([*program.steps])


@dataclass
class _Done:
    """An operation and what its stage knows to be done after it."""

    op: TileOp
    clock: _Clock


class _Assignment:
    """The tokens of one program, assigned in program order.

    A queue's tokens are sent by its source operations in order, at most once each, because a stage
    that knows an operation also knows all before it. So the k-th token sent is the k-th one
    awaited.
    """

    def __init__(self, program: ProgramOp) -> None:
        self.block = program.body.block
        self.done: dict[Stage, list[_Done]] = {stage: [] for stage in Stage}
        self.clocks: dict[Stage, _Clock] = {stage: [_NONE] * len(_STAGES) for stage in Stage}
        self.touches: dict[Place, _Touches] = {
            space: _Touches(program.config.depth(space.memory)) for space in Scratchpad
        }
        for symbol in program.symbols:
            self.touches[symbol.result] = _Touches(symbol.type.elements)
        self.pending: dict[TileOp, list[tuple[Queue, TileOp]]] = {}

    def run(self, steps: list[TileOp]) -> None:
        """Assign the tokens of `steps` and rewrite the operations."""
        for op in steps:
            stage = op.stage
            self._wait(op, stage, self._needed(op, stage))
            self._finish(op, stage)
        _rewrite(self.block, self.pending)

    def _needed(self, op: TileOp, stage: Stage) -> _Clock:
        """Return the last operation of each stage that must be done before `op`."""
        if isinstance(op, FinishOp):
            return [len(self.done[each]) - 1 for each in _STAGES]
        needed = [_NONE] * len(_STAGES)
        number = _NUMBER[stage]
        index = len(self.done[stage])
        for place, begin, end, writes in touched(op):
            self.touches[place].note(begin, end, writes, number, index, needed)
        return needed

    def _wait(self, op: TileOp, stage: Stage, needed: _Clock) -> None:
        """Make `op` wait for the last operation of each stage that it needs and does not know."""
        middle = _NUMBER[Stage.COMPUTE]
        clock = self.clocks[stage]
        if stage is not Stage.COMPUTE:
            far = Stage.STORE if stage is Stage.LOAD else Stage.LOAD
            last = needed[_NUMBER[far]]
            if last > clock[_NUMBER[far]]:
                needed[middle] = max(needed[middle], self._relay(op, far, last))
        for other in Stage:
            last = needed[_NUMBER[other]]
            if (other, stage) in _QUEUE and last > clock[_NUMBER[other]]:
                self._pass(other, last, op, stage)

    def _relay(self, op: TileOp, far: Stage, last: int) -> int:
        """Return the first compute operation that knows operation `last` of the stage `far`.

        A `vta.nop` before `op` is added if there is none.
        """
        number = _NUMBER[far]
        done = self.done[Stage.COMPUTE]
        relay = bisect_left(done, last, key=lambda each: each.clock[number])
        if relay == len(done):
            nop = NopOp(Stage.COMPUTE)
            Rewriter.insert_op(nop, InsertPoint.before(op))
            self._pass(far, last, nop, Stage.COMPUTE)
            self._finish(nop, Stage.COMPUTE)
        return relay

    def _pass(self, source: Stage, number: int, op: TileOp, target: Stage) -> None:
        """Send a token from operation `number` of one stage to `op` of another."""
        done = self.done[source][number]
        clock = self.clocks[target]
        clock[:] = [max(pair) for pair in zip(clock, done.clock, strict=True)]
        self.pending.setdefault(op, []).append((_QUEUE[source, target], done.op))

    def _finish(self, op: TileOp, stage: Stage) -> None:
        clock = self.clocks[stage]
        clock[_NUMBER[stage]] = len(self.done[stage])
        self.done[stage].append(_Done(op, list(clock)))


class _Touches:
    """The last operations of each stage that read and wrote each element of a place."""

    def __init__(self, elements: int) -> None:
        self.reads: npt.NDArray[np.int32] = np.full((len(_STAGES), elements), _NONE, np.int32)
        self.writes: npt.NDArray[np.int32] = np.full((len(_STAGES), elements), _NONE, np.int32)

    def note(
        self, begin: int, end: int, writes: bool, stage: int, index: int, needed: _Clock
    ) -> None:
        """Raise `needed` to the operations that conflict with an access, and record the access."""
        for earlier in (self.writes, self.reads) if writes else (self.writes,):
            for other in range(len(_STAGES)):
                if other != stage:
                    last = int(earlier[other, begin:end].max(initial=_NONE))
                    needed[other] = max(needed[other], last)
        (self.writes if writes else self.reads)[stage, begin:end] = index


def _rewrite(block: Block, pending: dict[TileOp, list[tuple[Queue, TileOp]]]) -> None:
    """Rewrite the operations with tokens as operands and results."""
    signals: dict[TileOp, list[tuple[Queue, TileOp]]] = {}
    for op, tokens in pending.items():
        for queue, source in tokens:
            signals.setdefault(source, []).append((queue, op))
    received: dict[TileOp, list[SSAValue]] = {}
    for op in (op for op in [*block.ops] if isinstance(op, TileOp)):
        waits = received.get(op, [])
        if op not in signals:
            if waits:
                op.operands = [*op.operands, *waits]
            continue
        new = type(op).create(
            operands=[*op.operands, *waits],
            result_types=[_TYPES[queue] for queue, _ in signals[op]],
            properties=op.properties,
            attributes=op.attributes,
        )
        new.location = op.location
        block.insert_op_before(new, op)
        op.detach()
        op.erase()
        for (_, target), token in zip(signals[op], new.results, strict=True):
            received.setdefault(target, []).append(token)
