"""Step 7: write the kernel anew, with guards where a point can lie outside its block.

A tile inside all extents must not pay for the tiles at the border. Guards are therefore resolved as
far out as possible, by the first of these methods that applies:

* clip: a loop runs only over points for which some block in it has work;
* peel: the iterations in which the guards hold for all values of inner loops become a loop without
  guards; the iterations before and after become separate code;
* branch: in the body of a loop bound to an OpenCL index, an `if` selects code without guards if
  they hold for all values of inner loops, else guarded code. In the guarded code, expanded loops
  that appear in a guard become serial. If the work-items of a group run together and only some
  iterations of an unrolled loop need the guard, those iterations are peeled instead;
* guard: an `if` around the outermost statement whose points all share the condition.

Peeling and branching duplicate code; `COPIES` limits by how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr

from ....dialects.tir import EXPANDED, GRID, BarrierOp, BlockOp, ForOp, FuncOp, LoopKind
from ....dialects.tir.expressions import used_dims
from ..schedule.vectorize import WIDTHS
from ..window import window
from .body import BodyCloner
from .footprint import Footprint
from .resolve import Survey, alive, safe
from .space import Guard, IterationDomain, IterationSpace
from .values import IndexEnvironment, constant

COPIES = 4
"""The maximum number of copies of a statement's code."""

FEW_COPIES = 2
"""The same for kernels with work-groups, and for kernels that keep scratch in memory.

Groups at the border run at the same time as the others, so their speed matters less. Kernels with
scratch have several stages: their code is long, and little of their time is spent at borders.
"""

SCRATCH = 1024
"""A temporary with more elements is kept in memory, not in registers."""


def emit(func: FuncOp, space: IterationSpace, footprints: Mapping[SSAValue, Footprint]) -> Region:
    """Emit a new body for `func`, without blocks."""
    old = func.body.block
    new = Block(arg_types=[arg.type for arg in old.args])
    buffers: dict[SSAValue, SSAValue] = {}
    for before, after in zip(old.args, new.args, strict=True):
        after.name_hint = before.name_hint
        buffers[before] = after
    emitter = _Emitter(space, footprints, Survey(old.ops, space))
    scratch = any(prod(kept.type.get_shape()) > SCRATCH for kept in footprints.values())
    copies = FEW_COPIES if emitter.grouped or scratch else COPIES
    emitter.body(None, list(old.ops), IndexEnvironment(space.domain), buffers, copies, new)
    for branch in emitter.branches:
        branch.add_op(scf.YieldOp())
    return Region(new)


class _Emitter:
    def __init__(
        self, space: IterationSpace, footprints: Mapping[SSAValue, Footprint], survey: Survey
    ):
        self.space = space
        self.footprints = footprints
        self.survey = survey
        self.grouped = any(kind.value.startswith("local") for kind in space.of_kind)
        # Work-items of a group run together, so a branch between two copies of all iterations would
        # make them run both. The few iterations that need a guard are peeled instead.
        self.peelable = space.unrolled if self.grouped else frozenset[int]()
        self.branches: list[Block] = []
        self.homes: dict[ForOp | None, list[SSAValue]] = {}
        for buffer, footprint in footprints.items():
            self.homes.setdefault(footprint.home, []).append(buffer)

    def body(
        self,
        loop: ForOp | None,
        ops: Sequence[Operation],
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        copies: int,
        out: Block,
    ) -> None:
        """Emit the statements of a loop, or of the kernel."""
        if loop is not None and loop.kind.data.is_bound and not self.survey.holds_grid(ops):
            if self._branch(loop, ops, place, buffers, copies, out):
                return
        buffers = {**buffers, **self._allocate(loop, out)}
        place, out = self._guarded(ops, place, out)
        for op in ops:
            self._statement(op, place, buffers, copies, out)

    def _allocate(self, home: ForOp | None, out: Block) -> dict[SSAValue, SSAValue]:
        made: dict[SSAValue, SSAValue] = {}
        for buffer in self.homes.get(home, ()):
            kind = self.footprints[buffer].type
            op = memref.AllocaOp.get(
                kind.element_type, None, kind.shape, None, kind.layout, kind.memory_space
            )
            op.memref.name_hint = buffer.name_hint
            out.add_op(op)
            made[buffer] = op.memref
        return made

    def _statement(
        self,
        op: Operation,
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        copies: int,
        out: Block,
    ) -> None:
        if isinstance(op, ForOp | BlockOp):
            if self.survey.dead(op, place.domain):
                return
            place, out = self._guarded([op], place, out)
            if isinstance(op, ForOp):
                self._loop(op, place, buffers, copies, out)
            else:
                iters = dict(zip(op.iter_vars, self.space.iters[op], strict=True))
                cloner = BodyCloner(place, buffers, self.footprints, iters, self.space.extents)
                cloner.clone(op.body.block.ops, out, {})
        elif isinstance(op, BarrierOp):
            out.add_op(BarrierOp())

    def _guarded(
        self, ops: Sequence[Operation], place: IndexEnvironment, out: Block
    ) -> tuple[IndexEnvironment, Block]:
        """Open an `if` around `ops` for the guards that they share and that are decided here."""
        shared = [
            guard
            for guard in self.survey.shared(ops, place.domain)
            if all(d in place.variables or not place.domain.runs(d) for d in guard.dims)
            and self._may_branch(ops, guard.dims)
        ]
        if not shared:
            return place, out
        ends = place.domain.ends
        then, _ = self._if([guard.coarse(ends) for guard in shared], place, out)
        return place.with_domain(place.domain.knowing(*shared)), then

    def _if(
        self, guards: Sequence[Guard], place: IndexEnvironment, out: Block, otherwise: bool = False
    ) -> tuple[Block, Block]:
        """Emit an `if` with empty branches; `emit` terminates them at the end."""
        then, other = Block(), Block()
        branches = [then, other] if otherwise else [then]
        self.branches += branches
        else_region = Region(other) if otherwise else None
        out.add_op(scf.IfOp(_condition(guards, place, out), [], Region(then), else_region))
        return then, other

    def _may_branch(self, ops: Sequence[Operation], dims: frozenset[int]) -> bool:
        """Return whether a condition on `dims` may enclose `ops`.

        All work-items of a group must reach the same barriers.
        """
        if not self.survey.holds_barrier(ops):
            return True
        return not any(
            dim in dims
            for kind, dim in self.space.of_kind.items()
            if not kind.value.startswith("group")
        )

    def _loop(
        self,
        loop: ForOp,
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        copies: int,
        out: Block,
    ) -> None:
        dim, kind = self.space.dim(loop), loop.kind.data
        ops = list(loop.body.block.ops)
        hint = loop.var.name_hint or ""
        if kind.is_bound:
            new = ForOp(kind, self.space.extents[dim], hint=hint)
            out.add_op(new)
            first, end = place.domain.ranges[dim]
            inner = place.inside(dim, new.var, 0, end)
            inner = inner.with_domain(inner.domain.narrow(dim, first, end))
            self.body(loop, ops, inner, buffers, copies, new.body.block)
            return
        pieces = self._pieces(loop, dim, place.domain, copies)
        for first, end in pieces:
            share = copies // len(pieces)
            # A rolled loop that runs once stays separate from the code around it.
            is_apart = kind is LoopKind.Rolled and loop.size == 1
            if end - first == 1 and not is_apart:
                at = place.with_domain(place.domain.narrow(dim, first, end))
                self.body(loop, ops, at, buffers, share, out)
                continue
            domain = place.domain.narrow(dim, first, end)
            new = ForOp(self._kind(loop, dim, end - first, domain), end - first, hint=hint)
            inner = place.inside(dim, new.var, first, end)
            self.body(loop, ops, inner, buffers, share, new.body.block)
            if new.body.block.first_op is not None:
                out.add_op(new)

    def _pieces(
        self, loop: ForOp, dim: int, domain: IterationDomain, copies: int
    ) -> list[tuple[int, int]]:
        """Return the iterations of a loop, split into ranges with separate code."""
        guards = [g for g in self.survey.open([loop], domain) if dim in g.dims]
        if not guards:
            return [domain.ranges[dim]]
        first, end = alive(self.survey.blocks(loop), self.space, dim, domain)
        if end <= first:
            return []
        whole = [(first, end)]
        if loop.kind.data in EXPANDED and dim not in self.peelable:
            return whole
        start, stop = safe(guards, dim, domain.narrow(dim, first, end))
        pieces = [(a, b) for a, b in ((first, start), (start, stop), (stop, end)) if a < b]
        return pieces if start < stop and len(pieces) <= copies else whole

    def _kind(self, loop: ForOp, dim: int, size: int, domain: IterationDomain) -> LoopKind:
        """Return the loop kind for a part of a loop's iterations."""
        kind = loop.kind.data
        if kind not in EXPANDED:
            return kind
        if any(dim in guard.dims for guard in self.survey.open([loop], domain)):
            return LoopKind.Serial
        if kind is LoopKind.Vectorized and size not in WIDTHS:
            return LoopKind.Unrolled
        return kind

    def _branch(
        self,
        loop: ForOp,
        ops: Sequence[Operation],
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        copies: int,
        out: Block,
    ) -> bool:
        """Emit a branch between code without and with guards in a bound loop.

        Return False, and emit nothing, if a branch does not help.
        """
        if copies < 2:
            return False
        many: list[tuple[Guard, Guard]] = []
        for guard in self.survey.open(ops, place.domain):
            here = [d for d in guard.dims if d in place.variables and place.domain.runs(d)]
            if self._peels(guard, place.domain):
                continue
            if not here or not self._may_branch(ops, frozenset(here)):
                continue
            if len(here) == 1 and len(guard.dims) > 1 and not self.grouped:
                (dim,) = here
                if not _wraps(guard.expr, dim) and self._branch_on(
                    dim, guard, loop, ops, place, buffers, copies, out
                ):
                    return True
            elif (inner := guard.dims - self.space.bound) and (
                loop.kind.data in GRID or inner <= self.space.expanded
            ):
                # Work-items of a group run together, so some groups would run both sides of a
                # branch. Serial loops are peeled instead.
                many.append((guard, _always(guard, place)))
        possible = [(g, f) for g, f in many if place.domain.holds(f) is not False]
        if not possible:
            return False
        inside = place.domain.knowing(*(g for g, _ in possible))
        conditions = list(dict.fromkeys(f for _, f in possible))
        then, other = self._if(conditions, place, out, otherwise=True)
        self.body(loop, ops, place.with_domain(inside), buffers, copies // 2, then)
        self.body(loop, ops, place, buffers, 1, other)
        return True

    def _peels(self, guard: Guard, domain: IterationDomain) -> bool:
        """Return whether peeling a few unrolled iterations resolves a guard."""
        ranges = (safe([guard], dim, domain) for dim in guard.dims & self.peelable)
        return any(start < stop for start, stop in ranges)

    def _branch_on(
        self,
        dim: int,
        guard: Guard,
        loop: ForOp,
        ops: Sequence[Operation],
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        copies: int,
        out: Block,
    ) -> bool:
        """Branch on one index: values for which `guard` always holds, and the others."""
        domain = place.domain
        first, end = domain.ranges[dim]
        start, stop = safe([guard], dim, domain)
        if start >= stop or (start, stop) == (first, end):
            return False
        value = AffineExpr.dimension(dim)
        conditions: list[Guard] = []
        rest = domain
        if start > first:
            conditions.append(Guard.of(value, start, below=False))
            rest = domain.narrow(dim, first, start)
        if stop < end:
            conditions.append(Guard.of(value, stop))
            rest = domain if conditions[1:] else domain.narrow(dim, stop, end)
        inside = place.with_domain(domain.narrow(dim, start, stop))
        if all(self.survey.dead(op, rest) for op in ops):
            then, _ = self._if(conditions, place, out)
            self.body(loop, ops, inside, buffers, copies, then)
            return True
        then, other = self._if(conditions, place, out, otherwise=True)
        self.body(loop, ops, inside, buffers, copies // 2, then)
        outside = place.with_domain(rest)
        self.body(loop, ops, outside, buffers, 1 if rest is domain else copies // 2, other)
        return True


def _wraps(expr: AffineExpr, dim: int) -> bool:
    """Return whether an expression has a remainder of `dim`, so that no range of it decides."""
    return any(
        isinstance(part, AffineBinaryOpExpr)
        and part.kind is AffineBinaryOpKind.Mod
        and dim in used_dims(part)
        for part in expr.dfs()
    )


def _always(guard: Guard, place: IndexEnvironment) -> Guard:
    """Return the condition that `guard` holds for all values of the dimensions not yet fixed."""
    domain = place.domain
    guard = guard.coarse(domain.ends)
    fixed = {d for d in guard.dims if d in place.variables}
    expr, _ = domain.shifted(guard.expr)
    reach = window(expr, [end - first for first, end in domain.ranges], fixed)
    low = reach.low.expr()
    back = [AffineExpr.dimension(d) - first for d, (first, _) in enumerate(domain.ranges)]
    low = low.replace_dims_and_symbols(back, ())
    limit = guard.limit - reach.size + 1 if guard.below else guard.limit
    return Guard.of(low, limit, guard.below).coarse(domain.ends)


def _condition(guards: Sequence[Guard], place: IndexEnvironment, out: Block) -> SSAValue:
    """Emit the conjunction of `guards` and return it."""
    total: SSAValue | None = None
    for guard in guards:
        value = place.index(guard.expr, out)
        compare = arith.CmpiOp(value, constant(guard.limit, out), "slt" if guard.below else "sge")
        out.add_op(compare)
        if total is None:
            total = compare.result
        else:
            both = arith.AndIOp(total, compare.result)
            out.add_op(both)
            total = both.result
    assert total is not None
    return total
