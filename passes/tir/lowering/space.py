"""Step 4: every loop is a dimension, every block a set of points over them with guards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.tir import EXPANDED, BlockOp, ForOp, LoopKind
from ....dialects.tir.affine import Linear, bounds, constant_of, linear
from ....dialects.tir.expressions import used_dims, with_dims
from ..flat import Flat, compose, flat, tidy
from ..schedule.analysis import index_expr, path_to
from .inventory import Inventory


@dataclass(frozen=True)
class Guard:
    """A condition on a point: `expr < limit`, or `expr >= limit` if `below` is false."""

    expr: AffineExpr
    limit: int
    below: bool = True
    dims: frozenset[int] = field(default=frozenset(), compare=False)
    flat: Flat | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        # `expr` is left out: xDSL hashes an expression node by node at each call.
        return hash((self.dims, self.limit, self.below))

    @staticmethod
    def of(expr: AffineExpr, limit: int, below: bool = True) -> Guard:
        """Return the condition, with the dimensions that it depends on."""
        form = flat(expr)
        dims = used_dims(expr) if form is None else form[0]
        return Guard(expr, limit, below, frozenset(dims), form)

    def coarse(self, extents: Sequence[int]) -> Guard:
        """Return an equivalent condition without the dimensions that cannot decide it.

        `g q + r < g l` is `q < l` if 0 <= r < g: a tile whose size divides the extent is inside or
        outside as a whole. Without r, the limit need not be a multiple of g: l is rounded up.
        Likewise `q floordiv d < l` is `q < d l`.
        """
        form = linear(self.expr, extents)
        limit = self.limit - form.constant
        for g in sorted({abs(k) for k in form.terms.values()}, reverse=True):
            rest = Linear({a: k for a, k in form.terms.items() if k % g}, 0)
            if g == 1 or (limit % g and rest.terms):
                continue
            low, high = bounds(rest.expr(), extents)
            if low is not None and low >= 0 and high is not None and high < g:
                whole = Linear({a: k // g for a, k in form.terms.items() if k % g == 0}, 0)
                return Guard.of(whole.expr(), -(-limit // g), self.below).coarse(extents)
        quotient = Linear(form.terms, 0).expr()
        if (
            isinstance(quotient, AffineBinaryOpExpr)
            and quotient.kind is AffineBinaryOpKind.FloorDiv
        ):
            limit *= constant_of(quotient.rhs)
            return Guard.of(quotient.lhs, limit, self.below).coarse(extents)
        return Guard.of(quotient, limit, self.below)


@dataclass(frozen=True)
class IterationDomain:
    """The ranges of all dimensions at a place of the kernel: `[first, end)` for each."""

    ranges: tuple[tuple[int, int], ...]
    known: frozenset[Guard] = frozenset()

    def narrow(self, dim: int, first: int, end: int) -> IterationDomain:
        """Return the domain with `[first, end)` as the range of one dimension."""
        ranges = list(self.ranges)
        ranges[dim] = (first, end)
        return replace(self, ranges=tuple(ranges))

    def knowing(self, *guards: Guard) -> IterationDomain:
        """Return the domain at a place where `guards` hold."""
        ranges = list(self.ranges)
        for guard in guards:
            match guard.expr:
                case AffineDimExpr(position=dim) if guard.below:
                    first, end = ranges[dim]
                    ranges[dim] = (first, min(end, guard.limit))
                case _:
                    pass
        return IterationDomain(tuple(ranges), self.known.union(guards))

    @property
    def ends(self) -> list[int]:
        """The exclusive upper bound of each dimension."""
        return [end for _, end in self.ranges]

    def runs(self, dim: int) -> bool:
        """Return whether a dimension has more than one value."""
        first, end = self.ranges[dim]
        return end - first > 1

    def bounds(self, expr: AffineExpr, form: Flat | None = None) -> tuple[int, int]:
        """Return the least and the greatest value of `expr`; `form` is its flat form, or None."""
        if form is not None:
            return self._flat_bounds(form)
        low, high = bounds(*self.shifted(expr))
        assert low is not None
        assert high is not None
        return low, high

    def _flat_bounds(self, form: Flat) -> tuple[int, int]:
        factors, low = form
        high = low
        for dim, factor in factors.items():
            first, end = self.ranges[dim]
            if factor >= 0:
                low += factor * first
                high += factor * (end - 1)
            else:
                low += factor * (end - 1)
                high += factor * first
        return low, high

    def shifted(self, expr: AffineExpr) -> tuple[AffineExpr, list[int]]:
        """Return `expr` over dimensions that start at 0, and the extent of each."""
        extents = [end - first for first, end in self.ranges]
        if any(self.ranges[d][0] for d in used_dims(expr)):
            dims = [AffineExpr.dimension(d) + first for d, (first, _) in enumerate(self.ranges)]
            expr = with_dims(expr, dims)
        return expr, extents

    def holds(self, guard: Guard) -> bool | None:
        """Return True if the guard always holds, False if it never does, else None."""
        if guard in self.known:
            return True
        low, high = self.bounds(guard.expr, guard.flat)
        if guard.below:
            return True if high < guard.limit else False if low >= guard.limit else None
        return True if low >= guard.limit else False if high < guard.limit else None


COMPARISONS: dict[int, tuple[int, bool]] = {
    2: (0, True),  # lhs < rhs: lhs - rhs < 0
    3: (1, True),  # lhs <= rhs: lhs - rhs < 1
    4: (1, False),  # lhs > rhs: lhs - rhs >= 1
    5: (0, False),  # lhs >= rhs: lhs - rhs >= 0
}
"""The signed order predicates of `arith.cmpi`, as guards on the difference of the operands."""


def body_guards(block: BlockOp, iters: Sequence[AffineExpr]) -> list[Guard]:
    """Return the conditions of an `if` around the whole body, without which it does nothing."""
    last = block.body.block.last_op
    if not isinstance(last, scf.IfOp) or last.results or last.false_region.blocks:
        return []
    if any(isinstance(op, memref.StoreOp | scf.IfOp) for op in block.body.block.ops if op != last):
        return []
    return _conjuncts(last.cond, block, iters)


def access_guards(access: Operation, block: BlockOp, iters: Sequence[AffineExpr]) -> list[Guard]:
    """Return the conditions of the `if`s in `block` whose `then` regions contain `access`."""
    guards: list[Guard] = []
    inner = access
    while (outer := inner.parent_op()) is not None and inner is not block:
        if isinstance(outer, scf.IfOp) and inner.parent_region() is outer.true_region:
            guards += _conjuncts(outer.cond, block, iters)
        inner = outer
    return guards


def _conjuncts(condition: SSAValue, block: BlockOp, iters: Sequence[AffineExpr]) -> list[Guard]:
    """Return the index comparisons that `condition` implies."""
    leaves = dict(zip(block.iter_vars, iters, strict=True))
    guards: list[Guard] = []
    pending = [condition]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, arith.AndIOp):
            pending += [owner.lhs, owner.rhs]
        elif isinstance(owner, arith.CmpiOp):
            lhs, rhs = index_expr(owner.lhs, leaves), index_expr(owner.rhs, leaves)
            row = COMPARISONS.get(owner.predicate.value.data)
            if row is not None and lhs is not None and rhs is not None:
                guards.append(Guard.of(lhs - rhs, *row))
    return guards


class IterationSpace:
    """The dimensions of a kernel: one per loop, or per OpenCL index for bound loops."""

    def __init__(self, parts: Inventory, bound: Mapping[LoopKind, int]):
        self.extents: list[int] = list(bound.values())
        self.of_kind = {kind: i for i, kind in enumerate(bound)}
        self.of_var: dict[SSAValue, int] = {}
        self.expanded: set[int] = set()
        self.unrolled: set[int] = set()
        self.iters: dict[BlockOp, tuple[AffineExpr, ...]] = {}
        self.guards: dict[BlockOp, tuple[Guard, ...]] = {}
        for loop in parts.loops:
            self._add_loop(loop)
        self.domain = IterationDomain(tuple((0, extent) for extent in self.extents))
        for block in parts.blocks:
            self._add_block(block)

    def dim(self, loop: ForOp) -> int:
        """Return the dimension of a loop."""
        return self.of_var[loop.var]

    def dims(self, loops: Sequence[ForOp]) -> set[int]:
        """Return the dimensions of loops."""
        return {self.of_var[loop.var] for loop in loops}

    @property
    def bound(self) -> set[int]:
        """The dimensions that are OpenCL indices."""
        return set(self.of_kind.values())

    def extents_at(self, block: BlockOp) -> list[int]:
        """Return each dimension's extent at `block`.

        A bound index has the extent of the loop around the block.
        """
        extents = list(self.extents)
        for loop in path_to(block):
            extents[self.of_var[loop.var]] = loop.size
        return extents

    def dead(self, block: BlockOp, domain: IterationDomain) -> bool:
        """Return whether `block` has no point to execute in `domain`."""
        return any(domain.holds(guard) is False for guard in self.guards[block])

    def _add_loop(self, loop: ForOp) -> None:
        dim = self.of_kind.get(loop.kind.data)
        if dim is None:
            dim = len(self.extents)
            self.extents.append(loop.size)
            if loop.kind.data in EXPANDED:
                self.expanded.add(dim)
            if loop.kind.data is LoopKind.Unrolled:
                self.unrolled.add(dim)
        self.of_var[loop.var] = dim

    def _add_block(self, block: BlockOp) -> None:
        values = [AffineExpr.dimension(self.of_var[var]) for var in block.loops]
        iters = tuple(tidy(compose(expr, values), self.extents) for expr in block.exprs)
        guards: list[Guard] = []
        extents = self.extents_at(block)
        for loop in path_to(block):
            dim = self.of_var[loop.var]
            if loop.size < self.extents[dim]:
                guards.append(Guard.of(AffineExpr.dimension(dim), loop.size))
        for expr, extent in zip(iters, block.iter_extents, strict=True):
            low, high = bounds(expr, extents)
            if low is None or low < 0:
                guards.append(Guard.of(expr, 0, below=False))
            if high is None or high >= extent:
                guards.append(Guard.of(expr, extent))
        guards += body_guards(block, iters)
        self.iters[block] = iters
        self.guards[block] = tuple(guard.coarse(self.extents) for guard in guards)
