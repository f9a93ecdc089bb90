"""Loop: one body for all iterations, or a copy for each.

A bound of the number of iterations is known at import. If the condition is computed at run time,
each iteration selects between its results and the carried values that it read, so kernels return at
once after the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from onnx import GraphProto
from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import SSAValue

from .....errors import CloptError
from ....builder import TooManySteps, array_size, dtype_of_value
from ....loops import MOST_ITERATIONS, MOST_UNROLLED, CannotRoll, NetworkLoop, build_loop
from ...data_sizes import sized
from ...node import NodeContext, Table
from .bodies import MAX_ITERATIONS, import_body, stack
from .iterations import IterationValues
from .selecting import Wording, scalar_condition, select
from .trip_counts import most

_WORDING = Wording(
    "the sequences that it carries must keep their lengths",
    "the tensors that it carries must keep their types, with shapes known at import, but {1} "
    "becomes {0}",
)


class _ComputedCondition(CannotRoll):
    """Raised when run-time values decide after which iteration a loop ends."""


@dataclass(frozen=True)
class _ImportedLoop:
    """The parts of a Loop."""

    node: NodeContext
    body: GraphProto
    trips: int
    condition: SSAValue
    initial: Sequence[SSAValue]
    is_counted: bool = False
    """Whether the trip count is the number after which the condition ends the loop."""
    limit: SSAValue | None = None
    """The trip count if it is computed at run time, a scalar; `trips` is its bound then."""

    @property
    def scan_count(self) -> int:
        """Return the number of scan outputs."""
        return max(len(self.body.output) - 1 - len(self.initial), 0)


def import_loop(node: NodeContext) -> Sequence[SSAValue]:
    """Import Loop: a bound of its trip count, or a condition that ends it, must be known.

    A loop is unrolled if it is short, or if its condition is known only for each iteration.
    """
    loop = _bounded(node)
    _specialise(loop, loop.condition, "condition")
    known = node.builder.known(loop.condition)
    if MOST_UNROLLED < loop.trips <= MOST_ITERATIONS:
        try:
            if known is None:
                return _rolled_with_condition(loop)
            if known.all():
                return _rolled(loop)
        except _ComputedCondition:
            with suppress(CannotRoll):
                return _rolled_with_condition(loop)
        except CannotRoll:
            pass
    return _unrolled(loop)


def _bounded(node: NodeContext) -> _ImportedLoop:
    """Return the parts of a Loop, with a known trip count or a bound of it."""
    builder, body, number = node.builder, node.graph("body"), node.optional(0)
    condition = node.optional(1) or builder.constant(np.array(True))
    initial = [node.input(i) for i in range(2, len(node.inputs))]
    bound = None if number is None or builder.known(number) is not None else most(builder, number)
    if number is None or bound is None or array_size(number) != 1 or bound > MOST_ITERATIONS:
        if number is not None:
            sentence = "its trip count (input 0) is computed at run time without a bound of at most"
            remedy = "compute the minimum of it and a constant."
            node.known(number, f"{sentence} {MOST_ITERATIONS}; {remedy}")
        trips = node.constant_int(0, "trip count", MOST_ITERATIONS + 1)
        loop = _ImportedLoop(node, body, trips, condition, initial)
        return _counted(loop) if trips > MOST_ITERATIONS else loop
    loop = _ImportedLoop(node, body, bound, condition, initial, limit=builder.reshape(number, ()))
    _specialise(loop, number, "trip count")
    return replace(loop, condition=_limited(loop, condition, None))


def _specialise(loop: _ImportedLoop, value: SSAValue, what: str) -> None:
    """Ask for the values of small inputs of whole numbers that decide sizes of scan outputs."""
    builder = loop.node.builder
    names = builder.deciding_inputs(value) if loop.scan_count else None
    inputs = [each for each, name in builder.inputs.items() if name in (names or ())]
    if inputs and all(dtype_of_value(each).kind in "iub" for each in inputs):
        loop.node.known(value, f"its {what} decides the sizes of its scan outputs.")


def _limited(loop: _ImportedLoop, condition: SSAValue, last: SSAValue | None) -> SSAValue:
    """Return whether the limit and `condition` allow the iteration after number `last`, if any."""
    if loop.limit is None:
        return condition
    builder = loop.node.builder
    number = builder.constant(np.array(0)) if last is None else builder.binary("add", last, 1)
    is_within = builder.compare("lt", number, builder.cast(loop.limit, i64))
    return builder.binary("and", scalar_condition(loop.node, condition), is_within)


def _counted(loop: _ImportedLoop) -> _ImportedLoop:
    """Return a loop with the trip count that its condition implies, as `i < 50 and error > t`."""
    builder, end = loop.node.builder, None
    types = [TensorType(i64, []), *(value.type for value in loop.initial)]
    if all(isinstance(type_, TensorType) for type_ in types):
        with suppress(CannotRoll), builder.inside(types) as block:
            number, *carried = block.args
            condition, values, _ = _body(loop, [number], carried)
            body = IterationValues(builder, number, loop.initial, carried, values)
            end = body.first_end(condition, MOST_ITERATIONS)
            raise CannotRoll("The body is imported again, for the number of iterations.")
    return loop if end is None else replace(loop, trips=end, is_counted=True)


def _rolled(loop: _ImportedLoop) -> Sequence[SSAValue]:
    """Import a Loop that always runs all its iterations."""
    builder = loop.node.builder

    def iteration(
        carried: Sequence[SSAValue], rows: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        condition, values, scanned = _body(loop, rows, carried)
        if (known := builder.known(condition)) is not None and known.all():
            return values, scanned
        body = IterationValues(builder, rows[0], loop.initial, carried, values)
        if not body.is_known(condition):
            raise _ComputedCondition("Its condition is computed at run time.")
        if not loop.is_counted:
            raise CannotRoll("Its condition may end the loop early.")
        return values, scanned

    numbers = builder.positions(loop.trips, 0, 1)
    return build_loop(builder, NetworkLoop(loop.trips, loop.initial, [numbers]), iteration)


def _rolled_with_condition(loop: _ImportedLoop) -> Sequence[SSAValue]:
    """Import a Loop that also carries whether it still runs."""
    node, builder, count = loop.node, loop.node.builder, len(loop.initial)

    def iteration(
        carried: Sequence[SSAValue], rows: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        runs, *before = carried
        condition, values, scanned = _body(loop, rows, before)
        try:
            after = _advanced(node, runs, before, values)
            return [_narrowed(node, runs, condition), *after], _rows(node, runs, scanned)
        except TooManySteps:
            raise
        except CloptError as error:
            raise CannotRoll(str(error)) from error

    initial = [scalar_condition(node, loop.condition), *loop.initial]
    numbers = builder.positions(loop.trips, 0, 1)
    _, *results = build_loop(builder, NetworkLoop(loop.trips, initial, [numbers]), iteration)
    return [*results[:count], *_cut(node, results[count:])]


def _body(
    loop: _ImportedLoop, rows: Sequence[SSAValue], carried: Sequence[SSAValue]
) -> tuple[SSAValue, Sequence[SSAValue], Sequence[SSAValue]]:
    """Import the body of a rolled loop; return its condition, carried values and rows."""
    always = loop.node.builder.constant(np.array(True))
    condition, *values = import_body(loop.node, loop.body, [*rows, always, *carried])
    if len(values) != len(carried) + loop.scan_count:
        raise CannotRoll("The body has fewer outputs than there are carried values.")
    return _limited(loop, condition, rows[0]), values[: len(carried)], values[len(carried) :]


def _unrolled(loop: _ImportedLoop) -> Sequence[SSAValue]:
    """Import a Loop iteration by iteration, until its condition is known to be false."""
    node, builder, carried = loop.node, loop.node.builder, loop.initial
    always, condition = builder.constant(np.array(True)), loop.condition
    runs: SSAValue | None = None
    stacks: list[Sequence[SSAValue]] = []
    for iteration in range(loop.trips):
        if (known := builder.known(condition)) is None:
            _check_trips(loop, condition)
            runs = _narrowed(node, runs, condition)
        elif not known.all():
            break
        if iteration == MAX_ITERATIONS:
            node.refuse(f"runs more than {MAX_ITERATIONS} iterations, too many to unroll.")
        index = builder.constant(np.array(iteration, np.int64))
        condition, *values = node.subgraph(loop.body, [index, always, *carried])
        if len(values) != len(carried) + loop.scan_count:
            node.refuse("its body has fewer outputs than there are carried values.")
        stacks.append(_rows(node, runs, values[len(carried) :]))
        carried = _advanced(node, runs, carried, values[: len(carried)])
        condition = _limited(loop, condition, index)
    if loop.scan_count and not stacks:
        node.refuse("runs no iteration, so its scan outputs have no shape.")
    return [*carried, *_cut(node, [stack(node, column, 0) for column in zip(*stacks)])]


def _check_trips(loop: _ImportedLoop, condition: SSAValue) -> None:
    """Refuse a loop whose condition and number of iterations are both unknown at import."""
    if loop.trips > MOST_ITERATIONS:
        loop.node.known(
            condition,
            "its condition is computed at run time, so it needs a trip count (input 0), a constant "
            f"of at most {MOST_ITERATIONS}, or a condition that also compares the number of the "
            "iteration with a constant.",
        )


# With a condition that is computed at run time, `runs` is whether an iteration is computed; it is
# None before the first iteration that may not be.


def _narrowed(node: NodeContext, runs: SSAValue | None, condition: SSAValue) -> SSAValue:
    """Return whether the next iteration runs, if its condition is known only after this one."""
    condition = scalar_condition(node, condition)
    if runs is None:
        return condition
    never = node.builder.constant(np.array(False))
    return node.builder.where(runs, condition, never, lazy=True)


def _advanced(
    node: NodeContext,
    runs: SSAValue | None,
    before: Sequence[SSAValue],
    after: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Return the carried values after an iteration: those before it, if it does not run."""
    if runs is None:
        return after
    try:
        pairs = zip(after, before, strict=True)
        return [select(node, runs, *pair, _WORDING) for pair in pairs]
    except TooManySteps:
        raise
    except CloptError:
        if node.builder.deciding_inputs(runs):
            node.known(runs, "its condition decides the types of the values that it carries.")
        raise


def _rows(
    node: NodeContext, runs: SSAValue | None, scanned: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Return the rows of the scan outputs, after one with which `_cut` counts the iterations."""
    builder = node.builder
    if not scanned:
        return []
    if runs is None:
        return [builder.constant(np.array(1)), *scanned]
    masked = [builder.where(runs, row, builder.scalar(0, row), lazy=True) for row in scanned]
    return [builder.cast(runs, i64), *masked]


def _cut(node: NodeContext, stacks: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the scan outputs, with a row for each iteration that ran."""
    if not stacks:
        return []
    ran, *outputs = stacks
    count = node.builder.reduce("sum", ran, [0], keepdims=False)
    return [sized(node.builder, output, 0, count) for output in outputs]


TABLE: Table = {"Loop": {1: import_loop}}
