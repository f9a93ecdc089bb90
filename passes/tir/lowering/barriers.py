"""Step 5: work-items of a group wait for each other between accesses to local memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.tir import BarrierOp, BlockOp, ForOp, FuncOp, LoopKind, Scope, ScopeAttr
from ..schedule.analysis import accesses, memref_of, users
from ..window import Window, window
from .space import Space

_Share = tuple[SSAValue, tuple[AffineExpr, ...] | None]
"""A local buffer, and the start of the elements that one work-item alone uses; None if shared."""


@dataclass
class _Accesses:
    """The reads and writes of local memory since the last barrier."""

    reads: set[_Share] = field(default_factory=set[_Share])
    writes: set[_Share] = field(default_factory=set[_Share])

    def conflicts(self, later: _Accesses, buffers: Iterable[SSAValue]) -> bool:
        """Whether another work-item's `later` accesses to `buffers` must not overtake these."""
        return any(
            first[0] is second[0] and first[0] in buffers and (first[1] is None or first != second)
            for these, those in (
                (self.writes, later.reads),
                (self.writes, later.writes),
                (self.reads, later.writes),
            )
            for first in these
            for second in those
        )

    def add(self, other: _Accesses) -> None:
        self.reads |= other.reads
        self.writes |= other.writes


def insert_barriers(func: FuncOp, allocas: Iterable[memref.AllocaOp], space: Space) -> None:
    """Put a barrier between two statements if one writes local memory that the other accesses.

    Successive iterations of a loop count as statements after each other. Elements that only one
    work-item accesses need no barrier.
    """
    local: dict[SSAValue, set[BlockOp]] = {
        op.memref: set(users(op.memref))
        for op in allocas
        if memref_of(op.memref).memory_space == ScopeAttr(Scope.Local)
    }
    if local:
        _Inserter(space, local).visit(func.body.block, ())


class _Inserter:
    def __init__(self, space: Space, users_of: dict[SSAValue, set[BlockOp]]):
        self.space = space
        self.users_of = users_of
        self.local_dims = {
            dim for kind, dim in space.of_kind.items() if kind.value.startswith("local")
        }
        self.group_dims = space.bound - self.local_dims

    def visit(self, body: Block, carried: Iterable[SSAValue]) -> _Accesses:
        """Insert barriers into `body`; return its accesses.

        An iteration may access elements of `carried` buffers that another iteration wrote.
        """
        total, pending, leading = _Accesses(), _Accesses(), _Accesses()
        separated = False
        for op in list(body.ops):
            if isinstance(op, BarrierOp):
                pending, separated = _Accesses(), True
                continue
            current = self.statement(op)
            if pending.conflicts(current, self.users_of):
                body.insert_op_before(BarrierOp(), op)
                pending, separated = _Accesses(), True
            pending.add(current)
            total.add(current)
            if not separated:
                leading.add(current)
        last = body.last_op
        if last is not None and pending.conflicts(leading, carried):
            body.insert_op_after(BarrierOp(), last)
        return total

    def statement(self, op: Operation) -> _Accesses:
        found = _Accesses()
        if isinstance(op, ForOp):
            return self.visit(op.body.block, self.carried(op))
        if isinstance(op, BlockOp):
            extents = self.space.extents_at(op)
            for buffer in self.users_of:
                for access, indices in accesses(op, buffer):
                    side = found.reads if isinstance(access, memref.LoadOp) else found.writes
                    parts: list[Window] = []
                    for index in indices:
                        if index is not None:
                            over = index.replace_dims_and_symbols(self.space.iters[op], ())
                            parts.append(window(over, extents, self.space.bound))
                    complete = len(parts) == len(indices)
                    side.add((buffer, self.own(parts) if complete else None))
        return found

    def carried(self, loop: ForOp) -> set[SSAValue]:
        """The buffers through which one iteration of `loop` can disturb another.

        Independent iterations share only buffers that each allocates anew, since these lie in the
        same place.
        """
        kind = loop.kind.data
        if loop.size == 1 or kind.is_bound or kind is LoopKind.Vectorized:
            return set()
        if kind is not LoopKind.Parallel:
            return set(self.users_of)
        inside = {op for op in loop.walk() if isinstance(op, BlockOp)}
        return {buffer for buffer, blocks in self.users_of.items() if blocks <= inside}

    def own(self, parts: list[Window]) -> tuple[AffineExpr, ...] | None:
        """The start of a work-item's elements, None if two work-items may have some in common.

        They have none if every local index moves the start along some dimension by at least the
        size of the work-item's part there, and nothing else moves it along that dimension.
        """
        apart: set[int] = set()
        for part in parts:
            terms = [
                (atom, step)
                for atom, step in part.low.terms.items()
                if not atom.used_dims() <= self.group_dims
            ]
            if len(terms) == 1:
                ((atom, step),) = terms
                if isinstance(atom, AffineDimExpr) and abs(step) >= part.size:
                    apart.add(atom.position)
        moving = {dim for dim in self.local_dims if self.space.extents[dim] > 1}
        return tuple(part.low.expr() for part in parts) if moving <= apart else None
