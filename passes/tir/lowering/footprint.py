"""Step 4: a temporary shrinks to the elements that one pass of its innermost common loop needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import EXPANDED, BlockOp, ForOp, Scope, ScopeAttr, enclosing_loops
from ..schedule.analysis import accesses, memref_of, users
from ..schedule.errors import refuse
from ..window import Window, hull, whole, window
from .resolve import alive
from .space import Space


@dataclass(frozen=True)
class Footprint:
    """The loop that allocates a temporary (None: the kernel), its type, and its first element.

    Element 0 along each dimension is index `origin` of the whole tensor, over the dimensions of the
    `Space`.
    """

    home: ForOp | None
    type: MemRefType[Attribute]
    origin: tuple[AffineExpr, ...]


def footprints(allocas: Iterable[memref.AllocaOp], space: Space) -> dict[SSAValue, Footprint]:
    """The footprint of each temporary that is used."""
    return {op.memref: _footprint(op, space) for op in allocas if op.memref.first_use is not None}


def _footprint(alloca: memref.AllocaOp, space: Space) -> Footprint:
    kind = memref_of(alloca.memref)
    blocks = users(alloca.memref)
    local = kind.memory_space == ScopeAttr(Scope.Local)
    loops = _common_loops(blocks, local)
    fixed = space.dims(loops) | {
        dim for k, dim in space.of_kind.items() if not (local and k.value.startswith("local"))
    }
    shape = kind.get_shape()
    reads: list[list[Window]] = [[] for _ in shape]
    writes: list[list[Window]] = [[] for _ in shape]
    for block in blocks:
        extents = space.extents_at(block)
        for op, indices in accesses(block, alloca.memref):
            side = writes if isinstance(op, memref.StoreOp) else reads
            for dim, (index, size) in enumerate(zip(indices, shape, strict=True)):
                if index is None:
                    side[dim].append(whole(size))
                    continue
                expr = index.replace_dims_and_symbols(space.iters[block], ())
                side[dim].append(window(expr, extents, fixed))
    windows = [hull([*w, *r], size) for w, r, size in zip(writes, reads, shape, strict=True)]
    bound = space.bound & fixed
    _check_reach(alloca, blocks, space, bound)
    for r, w in zip(reads, writes, strict=True):
        _check_own(alloca, r, w, bound)
    new = MemRefType(
        kind.element_type, [item.size for item in windows], kind.layout, kind.memory_space
    )
    home = loops[-1] if loops and not local else None
    return Footprint(home, new, tuple(item.low.expr() for item in windows))


def _common_loops(blocks: Iterable[BlockOp], local: bool) -> list[ForOp]:
    """The loops around all `blocks` that can hold the allocation, outermost first."""
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
    alloca: memref.AllocaOp, blocks: Mapping[BlockOp, bool], space: Space, bound: set[int]
) -> None:
    """Refuse a read by a work-item (or group, for local memory) that runs none of the writes."""

    def reach(block: BlockOp) -> list[int]:
        return [alive([block], space, dim, space.domain)[1] for dim in sorted(bound)]

    writers = [reach(block) for block, writes in blocks.items() if writes]
    for block, writes in blocks.items():
        for writer in writers:
            if not writes and any(r > w for r, w in zip(reach(block), writer, strict=True)):
                raise refuse(alloca, _FOREIGN)


_FOREIGN = (
    "a work-item reads elements of it that another one computes; "
    "compute it at a loop of the consumer"
)


def _check_own(
    alloca: memref.AllocaOp, reads: Sequence[Window], writes: Sequence[Window], bound: set[int]
) -> None:
    """Refuse a read of elements that another work-item (or group, for local memory) wrote."""
    if not any(item.low.expr().used_dims() & bound for item in writes):
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
