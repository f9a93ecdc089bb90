"""Recurrent networks: loops over time, unrolled if they are short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import Builder
from ...loops import MOST_UNROLLED, CannotRoll, NetworkLoop, build_loop
from ..node import NodeContext, Results, Table
from .activations import Activation, read_activations
from .generation import zeros

MAX_STEPS = 2048
"""Time steps, summed over directions, to unroll at most; each is about twenty operations."""

State: TypeAlias = tuple[SSAValue, ...]
"""Tensors of [batch, hidden] passed from step to step; the first is the output of the cell."""


@dataclass(frozen=True)
class Cell:
    """The computation of one step in one direction of a recurrent operator."""

    builder: Builder
    hidden: int
    recurrence: SSAValue
    """[gates * hidden, hidden]."""
    recurrence_bias: SSAValue | None
    """[gates * hidden] if it must be added to the recurrent product instead of the input."""
    peepholes: SSAValue | None
    activations: Sequence[Activation]
    clip: float
    coupled: bool

    def gates(self, x: SSAValue, count: int) -> list[SSAValue]:
        """Split a [batch, count * hidden] value into [batch, hidden] parts."""
        return [self.builder.slice(x, 1, i * self.hidden, self.hidden) for i in range(count)]

    def activate(self, index: int, x: SSAValue) -> SSAValue:
        """Apply an activation after clamping by the clip attribute."""
        if self.clip > 0:
            x = self.builder.add(nn.ClipOp(x, -self.clip, self.clip))
        return self.activations[index](self.builder, x)

    def recur(self, h: SSAValue, first: int, count: int) -> SSAValue:
        """Multiply the hidden state by the weights of `count` gates from `first` on."""
        rows = self.builder.slice(self.recurrence, 0, first * self.hidden, count * self.hidden)
        return self.builder.matmul(h, rows, transpose_b=True)

    def peep(self, index: int, gate: SSAValue, c: SSAValue) -> SSAValue:
        """Add the peephole term of the cell state to a gate, if the node has peepholes."""
        if self.peepholes is None:
            return gate
        weights = self.builder.slice(self.peepholes, 0, index * self.hidden, self.hidden)
        return self.builder.binary("add", gate, self.builder.binary("mul", weights, c))


Step: TypeAlias = Callable[[Cell, SSAValue, State], State]
"""The next state, from the input's contribution [batch, gates * hidden] and the state."""


def rnn_step(cell: Cell, x: SSAValue, state: State) -> State:
    """Compute one RNN step: H = f(X W + H R + b)."""
    (h,) = state
    return (cell.activate(0, cell.builder.binary("add", x, cell.recur(h, 0, 1))),)


def gru_step(cell: Cell, x: SSAValue, state: State) -> State:
    """Compute one GRU step, gates in the order z, r, h.

    With linear_before_reset the reset gate scales the recurrent product, else the state.
    """
    (h,), b = state, cell.builder
    x_zr, x_h = b.slice(x, 1, 0, 2 * cell.hidden), b.slice(x, 1, 2 * cell.hidden, cell.hidden)
    update, reset = cell.gates(b.binary("add", x_zr, cell.recur(h, 0, 2)), 2)
    update, reset = cell.activate(0, update), cell.activate(0, reset)
    if cell.recurrence_bias is None:
        product = cell.recur(b.binary("mul", reset, h), 2, 1)
    else:
        biased = b.binary("add", cell.recur(h, 2, 1), cell.recurrence_bias)
        product = b.binary("mul", reset, biased)
    candidate = cell.activate(1, b.binary("add", x_h, product))
    kept = b.binary("mul", update, h)
    fresh = b.binary("mul", b.binary("sub", b.scalar(1, update), update), candidate)
    return (b.binary("add", fresh, kept),)


def lstm_step(cell: Cell, x: SSAValue, state: State) -> State:
    """Compute one LSTM step: gates in the order i, o, f, c, peepholes in the order i, o, f."""
    (h, c), b = state, cell.builder
    i, o, f, g = cell.gates(b.binary("add", x, cell.recur(h, 0, 4)), 4)
    i = cell.activate(0, cell.peep(0, i, c))
    f = b.binary("sub", b.scalar(1, i), i) if cell.coupled else cell.activate(0, cell.peep(2, f, c))
    fresh = b.binary("mul", i, cell.activate(1, g))
    c = b.binary("add", b.binary("mul", f, c), fresh)
    o = cell.activate(0, cell.peep(1, o, c))
    return (b.binary("mul", o, cell.activations[2](b, c)), c)


@dataclass(frozen=True)
class Family:
    """The differences between RNN, GRU and LSTM."""

    gates: int
    states: int
    activations: tuple[str, ...]
    step: Step


RNN = Family(1, 1, ("Tanh",), rnn_step)
GRU = Family(3, 1, ("Sigmoid", "Tanh"), gru_step)
LSTM = Family(4, 2, ("Sigmoid", "Tanh", "Tanh"), lstm_step)

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Direction attribute to one flag per direction: whether it runs backwards."""


class Recurrence:
    """One recurrent node, its inputs in canonical layout: time, batch, features."""

    def __init__(self, node: NodeContext, family: Family):
        self.node, self.family, self.builder = node, family, node.builder
        for index in range(3):
            node.check_rank(index, 3, 3)
        self.batch_first = node.flag("layout")
        self.x = self._time_first(node.input(0))
        self.time, self.batch, _ = shape_of(self.x)
        self.backward = DIRECTIONS[node.choice("direction", "forward", tuple(DIRECTIONS))]
        self.hidden = node.integer("hidden_size", node.shape(2)[-1])
        self.clip, self.coupled = node.real("clip", 0.0), node.flag("input_forget")
        self.reset_last = node.flag("linear_before_reset")
        per_direction = len(family.activations)
        total = per_direction * len(self.backward)
        functions = read_activations(node, family.activations, total)
        self.activations = [
            functions[i : i + per_direction] for i in range(0, total, per_direction)
        ]
        self.lengths = self._lengths()

    def _time_first(self, value: SSAValue) -> SSAValue:
        return self.builder.transpose(value, (1, 0, 2)) if self.batch_first else value

    def _lengths(self) -> SSAValue | None:
        """Return the sequence lengths as [batch, 1], or None if all are full."""
        lengths = self.node.optional(4)
        if lengths is None:
            return None
        known = self.builder.known(lengths)
        if known is not None and (known == self.time).all():
            return None
        return self.builder.reshape(self.builder.cast(lengths, i64), (self.batch, 1))

    def _of_direction(self, index: int, direction: int) -> SSAValue | None:
        value = self.node.optional(index)
        if value is None:
            return None
        self.node.check_rank(index, 2, 3)
        part = self.builder.slice(value, 0, direction, 1)
        return self.builder.reshape(part, shape_of(value)[1:])

    def _weights(self, index: int, direction: int) -> SSAValue:
        weights = self._of_direction(index, direction)
        if weights is None:
            self.node.refuse(f"input {index} is missing.")
        return weights

    def _initial(self, direction: int) -> State:
        states: list[SSAValue] = []
        for index in range(5, 5 + self.family.states):
            given = self.node.optional(index)
            if given is None:
                states.append(zeros(self.builder, (self.batch, self.hidden), self.x))
            else:
                self.node.check_rank(index, 3, 3)
                part = self.builder.slice(self._time_first(given), 0, direction, 1)
                states.append(self.builder.reshape(part, (self.batch, self.hidden)))
        return tuple(states)

    def _cell(self, direction: int) -> tuple[Cell, SSAValue]:
        """Return the cell and the input's part of all steps, [time, batch, gates * hidden]."""
        b, width = self.builder, self.family.gates * self.hidden
        w, r = self._weights(1, direction), self._weights(2, direction)
        rows = b.reshape(self.x, (self.time * self.batch, shape_of(self.x)[2]))
        share = b.matmul(rows, w, transpose_b=True)
        bias, late = self._of_direction(3, direction), None
        if bias is None and self.reset_last:
            late = zeros(b, (self.hidden,), self.x)
        if bias is not None:
            own, recurrent = b.slice(bias, 0, 0, width), b.slice(bias, 0, width, width)
            if self.reset_last:
                early = b.slice(recurrent, 0, 0, 2 * self.hidden)
                late = b.slice(recurrent, 0, 2 * self.hidden, self.hidden)
                recurrent = b.concat([early, zeros(b, (self.hidden,), late)], 0)
            share = b.binary("add", share, b.binary("add", own, recurrent))
        peepholes = self._of_direction(7, direction) if self.family is LSTM else None
        cell = Cell(
            b, self.hidden, r, late, peepholes, self.activations[direction], self.clip, self.coupled
        )
        return cell, b.reshape(share, (self.time, self.batch, width))

    def run(self, direction: int) -> tuple[SSAValue, State]:
        """Run one direction. Return all outputs, [time, batch, hidden], and the last state."""
        if self.time > MOST_UNROLLED:
            with suppress(CannotRoll):
                return self._rolled(direction)
        return self._unrolled(direction)

    def _rolled(self, direction: int) -> tuple[SSAValue, State]:
        b = self.builder
        cell, share = self._cell(direction)
        rows, count = [share], 1 + (self.lengths is not None)
        if self.lengths is not None:
            rows.append(b.positions(self.time, 0, 1))
        reversed_ = range(count + 1) if self.backward[direction] else ()

        def iteration(
            state: Sequence[SSAValue], rows: Sequence[SSAValue]
        ) -> tuple[State, list[SSAValue]]:
            following, output = self._advance(cell, rows[0], tuple(state), rows[-1])
            return following, [output]

        loop = NetworkLoop(self.time, self._initial(direction), rows, tuple(reversed_))
        *state, outputs = build_loop(b, loop, iteration)
        return outputs, tuple(state)

    def _unrolled(self, direction: int) -> tuple[SSAValue, State]:
        b, size = self.builder, (self.batch, self.hidden)
        if self.time * len(self.backward) > MAX_STEPS:
            self.node.refuse(f"has {self.time} time steps; at most {MAX_STEPS} can be unrolled.")
        cell, share = self._cell(direction)
        state = self._initial(direction)
        outputs: dict[int, SSAValue] = {}
        steps = range(self.time)
        for t in reversed(steps) if self.backward[direction] else steps:
            x = b.reshape(b.slice(share, 0, t, 1), (self.batch, shape_of(share)[2]))
            state, output = self._advance(cell, x, state, t)
            outputs[t] = b.reshape(output, (1, *size))
        if not outputs:
            return zeros(b, (0, *size), share), state
        return b.concat([outputs[t] for t in steps], 0), state

    def _advance(
        self, cell: Cell, x: SSAValue, state: State, t: SSAValue | int
    ) -> tuple[State, SSAValue]:
        """Compute step `t`. Return the next state and the output, [batch, hidden]."""
        b, following = self.builder, self.family.step(cell, x, state)
        if self.lengths is None:
            return following, following[0]
        live = b.compare("gt", self.lengths, t)
        kept = tuple(b.where(live, new, old) for new, old in zip(following, state, strict=True))
        return kept, b.where(live, following[0], zeros(b, (self.batch, self.hidden), following[0]))

    def results(self) -> Results:
        """Return the outputs: Y [time, directions, batch, hidden] and the last states."""
        b, size = self.builder, (self.batch, self.hidden)
        runs = [self.run(direction) for direction in range(len(self.backward))]
        y = b.concat([b.reshape(v, (self.time, 1, *size)) for v, _ in runs], 1)
        last = [
            b.concat([b.reshape(state[i], (1, *size)) for _, state in runs], 0)
            for i in range(self.family.states)
        ]
        if self.batch_first:
            y = b.transpose(y, (2, 0, 1, 3))
        return [y, *(self._time_first(value) for value in last)]


def import_rnn(node: NodeContext) -> Results:
    """Import RNN."""
    return Recurrence(node, RNN).results()


def import_gru(node: NodeContext) -> Results:
    """Import GRU."""
    return Recurrence(node, GRU).results()


def import_lstm(node: NodeContext) -> Results:
    """Import LSTM."""
    return Recurrence(node, LSTM).results()


TABLE: Table = {
    "GRU": {7: import_gru},
    "LSTM": {7: import_lstm},
    "RNN": {7: import_rnn},
}
