"""The conditions on which results are needed: a lazy `nn.where` needs one of two operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects import nn
from .buffers import source_of


class ValueCondition(NamedTuple):
    """A value of one element, and what it must be."""

    value: SSAValue
    wanted: bool


class LaunchCondition(NamedTuple):
    """A condition on which a launch runs: its buffer, the tensor in it, and what it must be."""

    buffer: SSAValue
    type: Attribute
    wanted: bool


def run_conditions(function: func.FuncOp) -> Mapping[Operation, Sequence[ValueCondition]]:
    """Return the conditions on which regions and loops of a function must run; most have none.

    An operation is needed on the conditions that all users of its results share. Only conditions
    that are computed before it count, because its work-items read them.
    """
    ops = list(function.body.block.ops)
    if not any(_is_lazy(op) for op in ops):
        return {}
    position = {op: number for number, op in enumerate(ops)}
    needed: dict[SSAValue, frozenset[ValueCondition]] = {}
    found: dict[Operation, Sequence[ValueCondition]] = {}
    for number, op in reversed(list(enumerate(ops))):
        conditions = _shared([needed[result] for result in op.results if result in needed])
        for index, operand in enumerate(op.operands):
            own = conditions.union(_selecting(op, index))
            needed[operand] = needed[operand] & own if operand in needed else own
        usable = [each for each in conditions if _is_before(each.value, number, position)]
        if usable and isinstance(op, nn.FusedOp | nn.LoopOp):
            found[op] = sorted(usable, key=lambda each: _order(each, position))
    return found


def _shared(sets: Sequence[frozenset[ValueCondition]]) -> frozenset[ValueCondition]:
    """Return the conditions in all sets; none if there are no sets."""
    first, *others = sets or [frozenset[ValueCondition]()]
    return first.intersection(*others)


def _is_lazy(op: Operation) -> bool:
    return isinstance(op, nn.FusedOp) and any(
        isinstance(inner, nn.WhereOp) and inner.lazy is not None for inner in op.body.block.ops
    )


def _selecting(op: Operation, operand: int) -> Iterator[ValueCondition]:
    """Yield the condition on which a region reads an operand, if it is only selected."""
    if not isinstance(op, nn.FusedOp):
        return
    sides: set[tuple[SSAValue, bool]] = set()
    for use in op.body.block.args[operand].uses:
        where = use.operation
        if not isinstance(where, nn.WhereOp) or where.lazy is None or use.index == 0:
            return
        sides.add((where.condition, use.index == 1))
    if len(sides) == 1:
        ((condition, wanted),) = sides
        while isinstance(condition.owner, nn.ReshapeOp):
            condition = condition.owner.x
        if isinstance(condition, BlockArgument):
            outer = source_of(op.inputs[condition.index])
            if nn.layout_of(outer) is None:
                yield ValueCondition(outer, wanted)


def _is_before(value: SSAValue, number: int, position: Mapping[Operation, int]) -> bool:
    return not isinstance(value.owner, Operation) or position[value.owner] < number


def _order(condition: ValueCondition, position: Mapping[Operation, int]) -> tuple[int, int, bool]:
    """Return a sort key: the place at which the function computes the condition."""
    value = condition.value
    if isinstance(value.owner, Operation):
        return position[value.owner], value.owner.results.index(value), condition.wanted
    assert isinstance(value, BlockArgument)
    return -1, value.index, condition.wanted
