"""Loops in networks: the construction of their bodies, which are functions of the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import nn
from ..dialects.nn.loop import row_type
from ..dialects.nn.types import shape_of, tensor_type
from ..errors import CloptError
from .builder import Builder, array_size

MOST_UNROLLED = 4
"""Iterations up to which a loop is unrolled: its text is short, and constants fold in each."""

MOST_ITERATIONS = 1 << 16
"""Most iterations of a loop: the verifier of its program looks at each of them."""

_CONSTANT_DEPTH = 8
"""Most operations between a constant and a value that counts as constant, too."""

Iteration: TypeAlias = Callable[
    [Sequence[SSAValue], Sequence[SSAValue]], tuple[Sequence[SSAValue], Sequence[SSAValue]]
]
"""Builds an iteration from the carried values and the rows; returns the next ones and results."""


class CannotRoll(CloptError):
    """Raised when the iterations of a loop are not the same operations on values of one type."""


@dataclass(frozen=True)
class NetworkLoop:
    """A loop to build: its `initial` values, and the tensors that iterations read row by row."""

    trips: int
    initial: Sequence[SSAValue]
    rows: Sequence[SSAValue]
    reversed: Sequence[int] = ()
    """The tensors of rows, those read before those written, whose last row comes first."""


def build_loop(builder: Builder, loop: NetworkLoop, iteration: Iteration) -> Sequence[SSAValue]:
    """Append a loop; return the last carried values and the stacked results.

    Raise CannotRoll, with nothing appended, if the loop must be unrolled: its iterations differ, or
    its results are known at import.
    """
    if builder.is_inside:
        raise CannotRoll("The loop is in the body of another.")
    if loop.trips > MOST_ITERATIONS:
        raise CannotRoll("The loop has too many iterations.")
    if not all(isinstance(v.type, TensorType) for v in (*loop.initial, *loop.rows)):
        raise CannotRoll("A sequence is carried.")
    if any(not array_size(value) for value in (*loop.initial, *loop.rows)):
        raise CannotRoll("A tensor of the loop has no elements.")
    types = [*(v.type for v in loop.initial), *(row_type(v.type) for v in loop.rows)]
    with builder.inside(types) as block:
        count, arguments = len(loop.initial), list(block.args)
        carried, results = iteration(arguments[:count], arguments[count:])
        if [value.type for value in carried] != types[:count]:
            raise CannotRoll("The shapes of the carried values change.")
        if not all(isinstance(value.type, TensorType) for value in results):
            raise CannotRoll("A result is a sequence.")
        yielded = [builder.place(value) for value in (*carried, *results)]
        body = _LoopBody(builder, block)
        body.capture(yielded)
        given = [builder.known(value) for value in (*loop.initial, *loop.rows)]
        if not body.shared and all(value is not None for value in given):
            raise CannotRoll("The results of the loop are known at import.")
    return body.close(loop, yielded)


@dataclass
class _LoopBody:
    """The body of a loop, whose operations may still refer to values outside of it."""

    builder: Builder
    block: Block
    shared: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values outside of the body that become operands of the loop."""
    inner: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The values in the body that replace values outside of it."""
    last_copy: Operation | None = None
    """The last of the copied constants at the start of the body."""

    def capture(self, yielded: list[SSAValue]) -> None:
        """Replace values outside of the body by arguments, and by copies of constants."""
        for op in list(self.block.ops):
            if not self._hoist(op, yielded):
                for i, operand in enumerate(op.operands):
                    op.operands[i] = self._captured(operand)
        yielded[:] = map(self._captured, yielded)

    def close(self, loop: NetworkLoop, yielded: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Append the loop to the block outside; return its results."""
        self.block.add_op(func.ReturnOp(*yielded))
        initial = [self.builder.place(value) for value in loop.initial]
        count, read = len(initial), len(loop.rows)
        used = [i for i in range(read) if self.block.args[count + i].uses]
        for i in sorted(set(range(read)) - set(used), reverse=True):
            self.block.erase_arg(self.block.args[count + i])
        rows = [self.builder.place(loop.rows[i]) for i in used]
        numbers = [*used, *range(read, read + len(yielded) - count)]
        reversed_ = [i for i, number in enumerate(numbers) if number in loop.reversed]
        results = [
            *(value.type for value in initial),
            *(_stacked(value, loop.trips) for value in yielded[count:]),
        ]
        name = self.builder.add_body(self.block, [value.type for value in yielded])
        op = nn.LoopOp(name, loop.trips, initial, rows, self.shared, results, reversed_)
        return self.builder.append(op)

    def _captured(self, value: SSAValue) -> SSAValue:
        if self._is_inside(value):
            return value
        if value not in self.inner:
            if _is_constant(value):
                self.inner[value] = self._copied(value)
            else:
                self.shared.append(value)
                argument = self.block.insert_arg(value.type, len(self.block.args))
                argument.name_hint = value.name_hint
                self.inner[value] = argument
        return self.inner[value]

    def _copied(self, value: SSAValue) -> SSAValue:
        """Return a copy of a constant value in the body, where later passes can fold it."""
        copy = _clone(value, self._captured)
        if self.last_copy is not None:
            self.block.insert_op_after(copy, self.last_copy)
        elif self.block.first_op is not None:
            self.block.insert_op_before(copy, self.block.first_op)
        else:
            self.block.add_op(copy)
        self.last_copy = copy
        return _same_result(copy, value)

    def _hoist(self, op: Operation, yielded: list[SSAValue]) -> bool:
        """Move an operation before the loop if all iterations compute the same; return whether."""
        outside = [value for value in op.operands if not self._is_inside(value)]
        inside = [value for value in op.operands if self._is_inside(value)]
        if all(map(_is_constant, outside)) or not all(map(_is_constant, inside)):
            return False
        copy = op.clone({operand: self._outside(operand) for operand in op.operands})
        for value, moved in zip(op.results, self.builder.append_outside(copy), strict=True):
            value.replace_all_uses_with(moved)
            yielded[:] = [moved if each is value else each for each in yielded]
        op.detach()
        op.erase()
        return True

    def _outside(self, value: SSAValue) -> SSAValue:
        """Return a value that exists before the loop: itself, or a copy of a constant."""
        if not self._is_inside(value):
            return value
        copy = _clone(value, self._outside)
        self.builder.append_outside(copy)
        return _same_result(copy, value)

    def _is_inside(self, value: SSAValue) -> bool:
        owner = value.owner
        return owner is self.block or (isinstance(owner, Operation) and owner.parent is self.block)


def _stacked(value: SSAValue, trips: int) -> Attribute:
    return TensorType(tensor_type(value).element_type, [trips, *shape_of(value)])


def _is_constant(value: SSAValue, depth: int = _CONSTANT_DEPTH) -> bool:
    """Return whether a value is a constant, or computed by a few operations on constants."""
    owner = value.owner
    return (
        isinstance(owner, Operation)
        and depth > 0
        and all(_is_constant(operand, depth - 1) for operand in owner.operands)
    )


def _clone(value: SSAValue, place: Callable[[SSAValue], SSAValue]) -> Operation:
    """Return a copy of the operation that computes `value`, on the operands that `place` gives."""
    op = value.owner
    assert isinstance(op, Operation), "a constant is the result of an operation"
    return op.clone({operand: place(operand) for operand in op.operands})


def _same_result(copy: Operation, value: SSAValue) -> SSAValue:
    """Return the result of a copied operation that corresponds to `value`."""
    assert isinstance(value.owner, Operation)
    return copy.results[value.owner.results.index(value)]
