"""Step 5: shrink temporaries to the elements that one iteration of their common loop needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.tir import EXPANDED, BlockOp, ForOp, Scope, ScopeAttr, enclosing_loops
from ....dialects.tir.affine import Linear, linear
from ....dialects.tir.expressions import used_dims, with_dims
from ..schedule.analysis import accesses, memref_of, users
from ..schedule.errors import refuse
from ..window import Window, hull, whole, window
from .resolve import alive
from .space import IterationDomain, IterationSpace, access_guards


@dataclass(frozen=True)
class Footprint:
    """The allocation of a temporary: its loop (None: the kernel), its type and its first element.

    Element 0 along each dimension is index `origin` of the whole tensor, over the dimensions of the
    `IterationSpace`. If only the first elements of each period are used, the dimension is stored as
    two: the periods, and these elements.
    """

    home: ForOp | None
    type: MemRefType[Attribute]
    origin: tuple[AffineExpr, ...]
    periods: tuple[int | None, ...]

    def parts(self, dim: int, index: AffineExpr) -> list[AffineExpr]:
        """Return the indices that replace an index into the whole tensor."""
        inside, period = index - self.origin[dim], self.periods[dim]
        return [inside] if period is None else [inside // period, inside % period]


def footprints(
    allocas: Iterable[memref.AllocaOp], space: IterationSpace
) -> dict[SSAValue, Footprint]:
    """Return the footprint of each temporary that is used."""
    return {op.memref: _footprint(op, space) for op in allocas if op.memref.first_use is not None}


def _footprint(alloca: memref.AllocaOp, space: IterationSpace) -> Footprint:
    kind = memref_of(alloca.memref)
    blocks = users(alloca.memref)
    local = kind.memory_space == ScopeAttr(Scope.Local)
    loops = _common_loops(blocks, local)
    fixed = space.dims(loops) | {
        dim for k, dim in space.of_kind.items() if not (local and k.value.startswith("local"))
    }
    shape = kind.get_shape()
    forms: list[list[_Form]] = [[] for _ in shape]
    reads: list[list[Window]] = [[] for _ in shape]
    writes: list[list[Window]] = [[] for _ in shape]
    for block in blocks:
        extents = space.extents_at(block)
        for op, indices in accesses(block, alloca.memref):
            side = writes if isinstance(op, memref.StoreOp) else reads
            for dim, (index, size) in enumerate(zip(indices, shape, strict=True)):
                if index is None:
                    side[dim].append(whole(size))
                    forms[dim].append(None)
                    continue
                expr = with_dims(index, space.iters[block])
                forms[dim].append(_form(expr, extents, fixed))
                side[dim].append(window(expr, extents, fixed))
    windows = [hull([*w, *r], size) for w, r, size in zip(writes, reads, shape, strict=True)]
    bound = space.bound & fixed
    _check_reach(alloca, blocks, space, bound)
    for r, w in zip(reads, writes, strict=True):
        _check_own(alloca, r, w, bound)
    periods = [None if local else _period(of_dim) for of_dim in forms]
    kept: list[int] = []
    for item, period, of_dim in zip(windows, periods, forms, strict=True):
        if period is None:
            kept.append(item.size)
        else:
            kept += [-(-item.size // period), max(_reach(form, period) for form in of_dim)]
    new = MemRefType(kind.element_type, kept, kind.layout, kind.memory_space)
    home = loops[-1] if loops and not local else None
    return Footprint(home, new, tuple(item.low.expr() for item in windows), tuple(periods))


_Form = tuple[Linear, dict[int, int]] | None
"""The fixed part of an index, and the last value of its varying part for each step, or None."""


def _form(expr: AffineExpr, extents: Sequence[int], fixed: set[int]) -> _Form:
    form = linear(expr, extents)
    low, steps = Linear({}, form.constant), dict[int, int]()
    for atom, step in form.terms.items():
        if used_dims(atom) <= fixed:
            low = low + Linear({atom: step}, 0)
        elif isinstance(atom, AffineDimExpr) and step > 0:
            steps[step] = steps.get(step, 0) + extents[atom.position] - 1
        else:
            return None
    return low, steps


def _reach(form: _Form, period: int) -> int:
    """Return how many elements of a period an index uses."""
    assert form is not None
    return 1 + sum(step * last for step, last in form[1].items() if step < period)


def _period(forms: Sequence[_Form]) -> int | None:
    """Return the largest step of all indices that skips at least half of the elements."""
    first = forms[0] if forms else None
    if first is None or any(form is None or form[0] != first[0] for form in forms):
        return None
    steps = {step for form in forms if form is not None for step in form[1]}
    for period in sorted(steps, reverse=True):
        apart = all(step < period or step % period == 0 for step in steps)
        if apart and all(2 * _reach(form, period) <= period for form in forms):
            return period
    return None


def _common_loops(blocks: Iterable[BlockOp], local: bool) -> list[ForOp]:
    """Return the loops around all `blocks` that can hold the allocation, outermost first."""
    common: list[ForOp] | None = None
    for block in blocks:
        path = enclosing_loops(block)
        if common is None:
            common = path
            continue
        same = 0
        while same < min(len(common), len(path)) and common[same] is path[same]:
            same += 1
        common = common[:same]
    assert common is not None
    for position, loop in enumerate(common):
        shared = local and loop.kind.data.value.startswith("local")
        if shared or loop.kind.data in EXPANDED:
            return common[:position]
    return common


def _check_reach(
    alloca: memref.AllocaOp, blocks: Mapping[BlockOp, bool], space: IterationSpace, bound: set[int]
) -> None:
    """Refuse a read by a work-item (or group, for local memory) that does not run any write."""

    def reach(block: BlockOp, domain: IterationDomain = space.domain) -> list[int]:
        return [alive([block], space, dim, domain)[1] for dim in sorted(bound)]

    writers = [reach(block) for block, writes in blocks.items() if writes]
    for block, writes in blocks.items():
        if writes:
            continue
        for op, _ in accesses(block, alloca.memref):
            # A test guards the read of a tensor's zero tail, and may exclude the last element.
            guards = access_guards(op, block, space.iters[block])
            domain = space.domain.knowing(*(guard.coarse(space.extents) for guard in guards))
            reader = reach(block, domain)
            if any(r > w for writer in writers for r, w in zip(reader, writer, strict=True)):
                raise refuse(alloca, _FOREIGN)


_FOREIGN = (
    "a work-item reads elements that another work-item computes; "
    "compute it at a loop of the consumer"
)


def _check_own(
    alloca: memref.AllocaOp, reads: Sequence[Window], writes: Sequence[Window], bound: set[int]
) -> None:
    """Refuse a read of elements that another work-item (or group, for local memory) wrote."""
    if not any(used_dims(item.low.expr()) & bound for item in writes):
        return
    start = writes[0].low
    offsets = [item.low + start.scaled(-1) for item in (*writes, *reads)]
    if any(offset.terms for offset in offsets):
        raise refuse(alloca, _FOREIGN)
    starts = [offset.constant for offset in offsets]
    count = len(writes)
    first = min(starts[:count])
    last = max(s + w.size for s, w in zip(starts[:count], writes, strict=True))
    for begin, item in zip(starts[count:], reads, strict=True):
        if not (first <= begin and begin + item.size <= last):
            raise refuse(alloca, _FOREIGN)
