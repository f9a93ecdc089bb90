"""The values of a loop's body that are known at import, as a function of the iteration's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from .....dialects import nn
from .....dialects.nn.base import NNOp
from .....dialects.nn.constant import constant_value
from .....dialects.nn.evaluation.folding import fold
from .....dialects.nn.types import Array
from ....builder import Builder, array_size

_MOST_EVALUATED = 1 << 17
"""Most operations that are evaluated to count iterations: a few seconds."""

_LARGEST = 64
"""Elements of the largest value that is evaluated in each iteration."""


@dataclass(frozen=True)
class IterationValues:
    """The body of a loop that was imported once, for all iterations."""

    builder: Builder
    number: SSAValue
    """The number of the iteration."""
    initial: Sequence[SSAValue]
    carried: Sequence[SSAValue]
    """The carried values that an iteration reads."""
    values: Sequence[SSAValue]
    """The carried values that an iteration returns."""

    def is_known(self, value: SSAValue) -> bool:
        """Return whether only constants and the number of the iteration determine a value."""
        return self._sources(value) is not None

    def first_end(self, condition: SSAValue, most: int) -> int | None:
        """Return a number of iterations after which the condition cannot hold, up to `most`.

        It is the exact number if the whole condition is known; None if nothing known ends the loop.
        """
        if self.is_known(condition):
            return self._first_false(condition, most)
        ends = (self._first_false(part, most) for part in _conjuncts(self.builder, condition))
        return min((end for end in ends if end is not None), default=None)

    def _sources(self, value: SSAValue) -> set[SSAValue] | None:
        """Return the values that determine a value; None if one of them is not known."""
        pairs = zip(self.initial, self.values, strict=True)
        sources = dict(zip(self.carried, pairs, strict=True))
        seen, waiting = {value}, [value]
        while waiting:
            each = waiting.pop()
            if each is self.number or self.builder.known(each) is not None:
                continue
            if each in sources:
                operands: Sequence[SSAValue] = sources[each]
            elif isinstance(each.owner, Block):
                return None
            else:
                operands = each.owner.operands
            waiting += [operand for operand in operands if operand not in seen]
            seen.update(operands)
        return seen

    def _first_false(self, condition: SSAValue, most: int) -> int | None:
        """Return the number of iterations after the first of which `condition` is false."""
        sources = self._sources(condition)
        if sources is None or any(array_size(value) > _LARGEST for value in sources):
            return None
        places = [i for i, value in enumerate(self.carried) if value in sources]
        if any(self.carried[i].type != self.values[i].type for i in places):
            return None
        state = {self.carried[i]: self.builder.known(self.initial[i]) for i in places}
        ops = sum(isinstance(value.owner, Operation) for value in sources)
        for number in range(min(most, _MOST_EVALUATED // max(ops, 1))):
            found = {value: array for value, array in state.items() if array is not None}
            found[self.number] = np.array(number, np.int64)
            holds = self._evaluated(condition, found)
            if holds is None:
                return None
            if not holds.all():
                return number + 1
            after = [self._evaluated(self.values[i], found) for i in places]
            state = {self.carried[i]: array for i, array in zip(places, after, strict=True)}
        return None

    def _evaluated(self, value: SSAValue, found: dict[SSAValue, Array]) -> Array | None:
        """Return a value in one iteration, and add those that it needs to `found`."""
        waiting = [value]
        while waiting:
            each = waiting[-1]
            if each in found:
                waiting.pop()
                continue
            array = self._constant(each)
            if array is not None:
                found[each] = array
                continue
            op = each.owner
            if not isinstance(op, NNOp):
                return None
            if missing := [operand for operand in op.operands if operand not in found]:
                waiting += missing
                continue
            results = fold(op, [found[operand] for operand in op.operands])
            if results is None:
                return None
            found.update(zip(op.results, results, strict=True))
        return found[value]

    def _constant(self, value: SSAValue) -> Array | None:
        array = self.builder.known(value)
        return constant_value(value) if array is None else array


def _conjuncts(builder: Builder, condition: SSAValue) -> Iterator[SSAValue]:
    """Yield a condition, and the values that must be true for it to hold."""
    waiting = [condition]
    while waiting:
        value = waiting.pop()
        yield value
        match value.owner:
            case nn.ReshapeOp(x=x) | nn.CastOp(x=x):
                waiting.append(x)
            case nn.BinaryOp(a=a, b=b) as op if op.kind.data == "and":
                waiting += [a, b]
            case nn.WhereOp(condition=first, a=a, b=b) if _is_false(builder, b):
                waiting += [first, a]
            case _:
                pass


def _is_false(builder: Builder, value: SSAValue) -> bool:
    array = builder.known(value)
    array = constant_value(value) if array is None else array
    return array is not None and not array.any()
