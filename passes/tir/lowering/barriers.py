"""Step 6: insert barriers between accesses of a work-group to local memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.tir import BarrierOp, BlockOp, ForOp, FuncOp, IterKind, LoopKind, Scope, ScopeAttr
from ....dialects.tir.affine import bounds, linear, simplify
from ..schedule.analysis import accesses, blocks_in, driven, memref_of, users
from ..window import Window, window
from .footprint import Footprint
from .space import IterationSpace


@dataclass(frozen=True)
class _Share:
    """The elements of a local buffer that a statement accesses."""

    buffer: SSAValue
    own: tuple[AffineExpr, ...] | None
    """The start of the elements that only one work-item uses; None if work-items share elements."""
    indices: tuple[AffineExpr | None, ...]
    """The index along each dimension if the loops around the statement fix it, else None."""


@dataclass
class _Accesses:
    """The reads and writes of local memory since the last barrier."""

    reads: set[_Share] = field(default_factory=set[_Share])
    writes: set[_Share] = field(default_factory=set[_Share])

    def conflicts(self, later: _Accesses, buffers: Iterable[SSAValue], apart: _Apart) -> bool:
        """Return whether `later` accesses to `buffers` conflict with these across work-items."""
        return any(
            first.buffer is second.buffer
            and first.buffer in buffers
            and (first.own is None or first.own != second.own)
            and not apart(first, second)
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

    def after(self, dim: int) -> _Accesses:
        """Return the accesses of all iterations of a loop over `dim`."""
        return _Accesses(
            {_outside(share, dim) for share in self.reads},
            {_outside(share, dim) for share in self.writes},
        )


_Apart = Callable[[_Share, _Share], bool]
"""Whether two accesses never touch the same element."""


def _outside(share: _Share, dim: int) -> _Share:
    kept = (None if index is None or dim in index.used_dims() else index for index in share.indices)
    return replace(share, indices=tuple(kept))


def insert_barriers(
    func: FuncOp,
    allocas: Iterable[memref.AllocaOp],
    space: IterationSpace,
    footprints: Mapping[SSAValue, Footprint],
) -> None:
    """Insert a barrier between two statements if one writes local memory that the other accesses.

    Successive iterations of a loop count as successive statements. Elements that only one work-item
    accesses need no barrier.
    """
    local: dict[SSAValue, set[BlockOp]] = {
        op.memref: set(users(op.memref))
        for op in allocas
        if memref_of(op.memref).memory_space == ScopeAttr(Scope.Local)
    }
    if local:
        _Inserter(space, local, footprints).visit(func.body.block, ())


def _never(first: _Share, second: _Share) -> bool:
    return False


def _later(index: AffineExpr, dim: int | None) -> AffineExpr:
    """Return an index in the next iteration of the loop over `dim`."""
    if dim is None or dim not in index.used_dims():
        return index
    values = [AffineExpr.dimension(d) + (d == dim) for d in range(max(index.used_dims()) + 1)]
    return index.replace_dims_and_symbols(values, ())


def _remainder(index: AffineExpr) -> tuple[AffineExpr, int | None]:
    """Split an index `a mod n` into `a` and `n`; return any other index with None."""
    match index:
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod, lhs=lhs, rhs=AffineConstantExpr(value=count)
        ):
            return lhs, count
        case _:
            return index, None


class _Inserter:
    def __init__(
        self,
        space: IterationSpace,
        users_of: dict[SSAValue, set[BlockOp]],
        footprints: Mapping[SSAValue, Footprint],
    ):
        self.space = space
        self.footprints = footprints
        self.users_of = users_of
        self.local_dims = {
            dim for kind, dim in space.of_kind.items() if kind.value.startswith("local")
        }
        self.group_dims = space.bound - self.local_dims

    def visit(self, body: Block, carried: Iterable[SSAValue]) -> _Accesses:
        """Insert barriers into `body` and return its accesses.

        An iteration may access elements of `carried` buffers that another iteration wrote.
        """
        loop = body.parent_op()
        total, pending, leading = _Accesses(), _Accesses(), _Accesses()
        separated = False
        for op in list(body.ops):
            if isinstance(op, BarrierOp):
                pending, separated = _Accesses(), True
                continue
            current = self.statement(op)
            if pending.conflicts(current, self.users_of, self.apart):
                body.insert_op_before(BarrierOp(), op)
                pending, separated = _Accesses(), True
            pending.add(current)
            total.add(current)
            if not separated:
                leading.add(current)
        last = body.last_op
        if last is None or not isinstance(loop, ForOp):
            return total
        dim = self.space.dim(loop)
        # Without a barrier in the body, any two iterations may run at the same time.
        apart = partial(self.apart, next_of=dim) if separated else _never
        if pending.conflicts(leading, carried, apart):
            body.insert_op_after(BarrierOp(), last)
        return total.after(dim)

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
                    own = self.own(parts) if complete else None
                    side.add(_Share(buffer, own, self.fixed(op, buffer, indices)))
        return found

    def fixed(
        self, block: BlockOp, buffer: SSAValue, indices: Sequence[AffineExpr | None]
    ) -> tuple[AffineExpr | None, ...]:
        """Return the indices into the allocated part of a buffer that all work-items share.

        That part is the same memory in each iteration, although it holds other elements of the
        tensor.
        """
        found: list[AffineExpr | None] = []
        for index, origin in zip(indices, self.footprints[buffer].origin, strict=True):
            if index is not None:
                over = index.replace_dims_and_symbols(self.space.iters[block], ())
                index = simplify(over - origin, self.space.extents)
                if index.used_dims() & self.local_dims:
                    index = None
            found.append(index)
        return tuple(found)

    def apart(self, first: _Share, second: _Share, next_of: int | None = None) -> bool:
        """Return whether an index of two accesses differs, so that they never conflict.

        With `next_of`, the dimension of a loop, `second` is in the iteration after `first`'s;
        without it, both are in one iteration. An index may count modulo the number of copies of a
        buffer.
        """
        return any(
            a is not None and b is not None and self.differ(a, _later(b, next_of))
            for a, b in zip(first.indices, second.indices, strict=True)
        )

    def differ(self, a: AffineExpr, b: AffineExpr) -> bool:
        (first, modulus), (second, other) = _remainder(a), _remainder(b)
        if modulus is None and other is None:
            distance = linear(first - second, self.space.extents)
            return not distance.terms and distance.constant != 0
        count = modulus or other
        if count is None or (None not in (modulus, other) and modulus != other):
            return False
        for expr, given in ((first, modulus), (second, other)):
            if given is None:
                low, high = bounds(expr, self.space.extents)
                if low is None or low < 0 or high is None or high >= count:
                    return False
        distance = linear(first - second, self.space.extents)
        return not distance.terms and distance.constant % count != 0

    def carried(self, loop: ForOp) -> set[SSAValue]:
        """Return the buffers through which iterations of `loop` can conflict.

        Independent iterations conflict only in buffers allocated inside the loop, which all
        iterations place in the same memory.
        """
        kind = loop.kind.data
        if loop.size == 1 or kind.is_bound or kind is LoopKind.Vectorized:
            return set()
        inside = blocks_in(loop)
        # Unrolling only changes the text: a loop over spatial variables stays parallel.
        spatial = all(driven(block, loop.var) <= {IterKind.Spatial} for block in inside)
        if kind is not LoopKind.Parallel and not (kind is LoopKind.Unrolled and spatial):
            return set(self.users_of)
        return {buffer for buffer, blocks in self.users_of.items() if blocks <= set(inside)}

    def own(self, parts: list[Window]) -> tuple[AffineExpr, ...] | None:
        """Return the start of a work-item's elements, or None if two work-items may share some.

        The parts are disjoint if each local index moves the start along some dimension by at least
        the size of the work-item's part, and nothing else moves it along that dimension.
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
