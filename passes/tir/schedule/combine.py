"""Combining a reduction's results over two parts of its elements.

`Update` derives the combination from the block of a reduction. It supports two forms: an
associative operation, and the selection of one of two elements together with its position (argmax).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, IterKind
from .analysis import index_expr
from .errors import ScheduleError, refuse
from .stage import spatial_part

_INFINITY = float("inf")

IDENTITIES: Mapping[str, float | str] = {
    "arith.addf": 0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -_INFINITY,
    "arith.maxnumf": -_INFINITY,
    "arith.minimumf": _INFINITY,
    "arith.minnumf": _INFINITY,
    "arith.addi": 0,
    "arith.muli": 1,
    "arith.maxsi": "least",
    "arith.minsi": "greatest",
    "arith.maxui": 0,
    "arith.minui": -1,
    "arith.andi": -1,
    "arith.ori": 0,
    "arith.xori": 0,
}
"""Associative and commutative operations, with their neutral values."""

Combine = Callable[[Sequence[SSAValue], Sequence[SSAValue], Block], list[SSAValue]]
"""Appends operations that combine two results, each with one value per accumulator."""


@dataclass(frozen=True)
class AccumulatorUpdate:
    """One assignment `buffer[indices] = f(buffer[indices], ...)` of an update."""

    store: memref.StoreOp
    load: memref.LoadOp
    indices: Sequence[AffineExpr]
    """The indices over the spatial variables of the block."""

    @property
    def buffer(self) -> SSAValue:
        return self.store.memref


@dataclass(frozen=True)
class Update:
    """The update that a reduction block computes, and how its results combine."""

    accumulators: Sequence[AccumulatorUpdate]
    starts: Sequence[Attribute]
    """Initial values of a partial result, which are neutral in a combination."""
    combine: Combine

    @staticmethod
    def of(block: BlockOp) -> Update:
        """Return the update of `block`. Raise ScheduleError if its results cannot be combined."""
        accumulators = [_accumulator(block, store) for store in block.stores()]
        known = [a for a in accumulators if a is not None]
        if known and len(known) == len(accumulators):
            if len(known) == 1:
                found = _operation(known[0])
            else:
                found = _choice(block, known)
            if found is not None:
                return found
        if len(accumulators) > 1:
            raise refuse(
                block,
                f"it reduces to {len(accumulators)} results; only a selected element and "
                "its position can be factored together",
            )
        raise refuse(block, f"its update must be one of {', '.join(IDENTITIES)} of the old value")


def can_combine(block: BlockOp) -> bool:
    """Return whether `block` is a reduction whose partial results can be combined."""
    try:
        Update.of(block)
    except ScheduleError:
        return False
    return True


def _accumulator(block: BlockOp, store: memref.StoreOp) -> AccumulatorUpdate | None:
    _, leaves = spatial_part(block)
    indices = [index_expr(index, leaves) for index in store.indices]
    known = [index for index in indices if index is not None]
    loads = [load for load in block.loads() if load.memref is store.memref]
    if len(loads) != 1 or len(known) != len(indices):
        return None
    (load,) = loads
    same = [index_expr(index, leaves) for index in load.indices] == indices
    return AccumulatorUpdate(store, load, known) if same else None


def _operation(accumulator: AccumulatorUpdate) -> Update | None:
    """Match `old op new` with an associative operation."""
    value = accumulator.store.value
    if not isinstance(value, OpResult) or value.op.name not in IDENTITIES:
        return None
    operation = value.op
    old = accumulator.load.res
    if old not in operation.operands or not old.has_one_use():
        return None

    def combine(olds: Sequence[SSAValue], news: Sequence[SSAValue], body: Block) -> list[SSAValue]:
        (before,), (part,) = olds, news
        new = operation.create(
            operands=[before, part],
            result_types=[before.type],
            properties=operation.properties.copy(),
        )
        body.add_op(new)
        return [new.results[0]]

    return Update([accumulator], [_identity(operation)], combine)


def _identity(operation: Operation) -> Attribute:
    value = IDENTITIES[operation.name]
    kind = operation.results[0].type
    if not isinstance(kind, IntegerType):
        assert isinstance(value, float)
        return FloatAttr(value, cast(AnyFloat, kind))
    integer = cast(IntegerType, kind)
    if isinstance(value, str):
        half = 1 << (integer.width.data - 1)
        value = -half if value == "least" else half - 1
    return IntegerAttr(int(value), integer)


def _choice(block: BlockOp, accumulators: Sequence[AccumulatorUpdate]) -> Update | None:
    """Match `old, where = (x, k) if better(x, old) else (old, where)` with one reduce variable k.

    `better` orders the elements, so the better of two partial results is the best of all, and each
    part may start from the reduction's initial value. Positions decide between equal elements: if
    `better` is false both ways, the reduction keeps the first of them, and if it is true both ways,
    the last.
    """
    selects = [a.store.value.owner for a in accumulators]
    first, second = selects if len(selects) == 2 else (None, None)
    if not isinstance(first, arith.SelectOp) or not isinstance(second, arith.SelectOp):
        return None
    element, position = accumulators
    x, old = first.lhs, first.rhs
    if first.cond is not second.cond or old is not element.load.res:
        return None
    if second.rhs is not position.load.res or not _is_step(block, second.lhs):
        return None
    better = _cone(first.cond, {x, old})
    if better is None or any(use.operation not in {*better, first} for use in old.uses):
        return None

    def beats(new: SSAValue, best: SSAValue, body: Block) -> SSAValue:
        mapper: dict[SSAValue, SSAValue] = {x: new, old: best}
        for op in better:
            body.add_op(op.clone(mapper))
        return mapper[first.cond]

    def combine(olds: Sequence[SSAValue], news: Sequence[SSAValue], body: Block) -> list[SSAValue]:
        (best, where), (part, there) = olds, news
        takes, keeps = beats(part, best, body), beats(best, part, body)
        before = arith.CmpiOp(there, where, "slt")
        behind = arith.CmpiOp(there, where, "sgt")
        tied = arith.SelectOp(takes, behind.result, before.result)
        differ = arith.XOrIOp(takes, keeps)
        take = arith.SelectOp(differ.result, takes, tied.result)
        chosen = arith.SelectOp(take.result, part, best)
        at = arith.SelectOp(take.result, there, where)
        body.add_ops([before, behind, tied, differ, take, chosen, at])
        return [chosen.result, at.result]

    return Update(accumulators, list(block.init.data), combine)


def _is_step(block: BlockOp, value: SSAValue) -> bool:
    """Return whether `value` is the variable of the block's only reduce loop."""
    reduce = [
        var
        for var, kind in zip(block.iter_vars, block.iter_kinds, strict=True)
        if kind is IterKind.Reduce
    ]
    owner = value.owner
    return isinstance(owner, arith.IndexCastOp) and len(reduce) == 1 and owner.input is reduce[0]


def _cone(value: SSAValue, leaves: set[SSAValue]) -> list[Operation] | None:
    """Return the operations that compute a condition from `leaves`, in order.

    None if it depends on other operations.
    """
    found: dict[Operation, None] = {}

    def visit(value: SSAValue) -> bool:
        if value in leaves:
            return True
        owner = value.owner
        if not isinstance(owner, Operation) or owner.regions or not owner.name.startswith("arith."):
            return False
        if owner not in found:
            if not all(visit(operand) for operand in owner.operands):
                return False
            found[owner] = None
        return True

    return list(found) if value.type == i1 and visit(value) else None
