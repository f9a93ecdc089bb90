"""The commands of a loop: its first iterations, then the others in a repetition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.ir import Block, SSAValue

from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....errors import CloptError
from ...locations import node_name
from .buffers import Step, source_of
from .constants import ProgramConstants, buffer_type_of

if TYPE_CHECKING:
    from .body import ProgramBody


def lower_loop(loop: nn.LoopOp, outer: ProgramBody) -> None:
    """Append the commands of a loop to the program of the network that contains it."""
    body = outer.module.bodies.get(loop.body_name)
    if body is None:
        raise CloptError(f"{node_name(loop)}: its body @{loop.body_name} is not a network.")
    if outer.commands is not outer.block:
        raise CloptError(f"{node_name(loop)}: a loop in the body of a loop is not supported.")
    _LoopLowering(loop, body, outer).run()


@dataclass
class _LoopLowering:
    """The lowering of one loop.

    A carried value that the loop also stacks lives in the stacked tensor: an iteration reads the
    row that the last one wrote. All others have two buffers, which the iterations write in turn,
    so a repetition contains two iterations. The first iterations read the initial values, and come
    before the repetition; there are one or two of them, so that the last iteration writes the
    buffers of the loop's results.
    """

    loop: nn.LoopOp
    body: func.FuncOp
    outer: ProgramBody
    others: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The second buffers of carried values, by number."""

    def __post_init__(self) -> None:
        end = self.body.body.block.last_op
        self.yielded = [] if end is None else list(end.operands)
        self.constants = ProgramConstants()
        sources, count = [source_of(value) for value in self.yielded], self.loop.carried_count
        stacked = {source: i for i, source in enumerate(sources[count:])}
        self.stacks = {
            i: stacked[source]
            for i, source in enumerate(sources[:count])
            if source in stacked and isinstance(source.owner, Step)
        }
        """The number of the stacked result in which a carried value lives, by number."""

    def run(self) -> None:
        """Append the commands."""
        loop, count = self.loop, self.loop.carried_count
        period = 1 if len(self.stacks) == count else 2
        ahead = 0 if count == 0 else 1 + (loop.trip_count - 1) % period
        for time in range(ahead):
            self._iterate(time, self.outer.commands, 0)
        if ahead < loop.trip_count:
            repeated = Block()
            for time in range(ahead, ahead + period):
                self._iterate(time, repeated, period)
            repeat = cl.RepeatOp((loop.trip_count - ahead) // period, repeated)
            repeat.location = loop.location
            self.outer.commands.add_op(repeat)
        for i in self.stacks:
            if loop.res[i].uses:
                last = self._stacked(i, loop.trip_count - 1, 0)
                self.outer.commands.add_op(cl.EnqueueCopyOp(last, self.outer.memory(loop.res[i])))

    def _iterate(self, time: int, commands: Block, period: int) -> None:
        """Append iteration `time` to `commands`, of which each repetition skips `period`."""
        loop, count = self.loop, self.loop.carried_count
        end = count + loop.row_count
        buffers = self.outer.buffers
        arguments = [self._read(i, time, period) for i in range(count)]
        for number, value in enumerate(loop.inputs[count:end]):
            type_ = self.body.body.block.args[count + number]
            arguments.append(self._row(buffers[value], type_, number, time, period))
        arguments += [buffers[value] for value in loop.inputs[end:]]
        rows = [self._written_row(j, time, period) for j in range(len(loop.res) - count)]
        results = [
            rows[self.stacks[i]] if i in self.stacks else self._buffer(i, time)
            for i in range(count)
        ]
        self.outer.iterate(
            self.body,
            arguments,
            [*results, *rows],
            commands,
            self.constants,
            self.outer.conditions_of(loop),
        )

    def _read(self, number: int, time: int, period: int) -> SSAValue:
        """Return the buffer of a carried value that iteration `time` reads."""
        if time == 0:
            return self.outer.buffers[self.loop.inputs[number]]
        if number in self.stacks:
            return self._stacked(number, time - 1, period)
        return self._buffer(number, time - 1)

    def _buffer(self, number: int, time: int) -> SSAValue:
        """Return the buffer of a carried value that iteration `time` writes."""
        result = self.loop.res[number]
        if (self.loop.trip_count - 1 - time) % 2 == 0:
            return self.outer.memory(result)
        if number not in self.others:
            self.others[number] = self.outer.allocate(result)
        return self.others[number]

    def _written_row(self, number: int, time: int, period: int) -> SSAValue:
        """Return the row of a stacked result that iteration `time` writes."""
        loop = self.loop
        stack = self.outer.memory(loop.res[loop.carried_count + number])
        type_ = self.yielded[loop.carried_count + number]
        return self._row(stack, type_, loop.row_count + number, time, period)

    def _stacked(self, carried: int, time: int, period: int) -> SSAValue:
        """Return the row of a carried value that iteration `time` wrote."""
        loop, number = self.loop, self.stacks[carried]
        stack = self.outer.memory(loop.res[loop.carried_count + number])
        return self._row(stack, loop.res[carried], loop.row_count + number, time, period)

    def _row(
        self, stack: SSAValue, value: SSAValue, number: int, time: int, period: int
    ) -> SSAValue:
        """Return the row of a tensor in iteration `time`, as the buffer of `value`."""
        type_ = buffer_type_of(value)
        size, is_reversed = byte_count(type_), self.loop.is_reversed(number)
        at = self.loop.trip_count - 1 - time if is_reversed else time
        step = -period * size if is_reversed else period * size
        row = cl.RowOp(stack, at * size, step, type_)
        row.result.name_hint = stack.name_hint
        self.outer.block.add_op(row)
        return row.result
