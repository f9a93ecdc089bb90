"""compute_at: let a loop of the consumer compute the part of a stage that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.tir import BlockOp, ForOp, IterKind, LoopKind, Scope, ScopeAttr, enclosing_loops
from ....dialects.tir.expressions import with_dims
from ..window import Window, hull, whole, window
from .analysis import (
    accesses,
    drive,
    index_expr,
    loop_of,
    memref_of,
    temporary,
    users,
    written,
)
from .errors import refuse
from .nest import only_child


def compute_at(block: BlockOp, loop: ForOp) -> list[ForOp]:
    """Move the stage of `block` into `loop`, which encloses all consumers of its results.

    Interval analysis finds the region that one iteration of `loop` reads. New loops run over that
    region: first the spatial loops (parallel, even for extent 1), then the reduce loops (serial),
    with their old names. They are returned in that order. Loops around both the stage and `loop`
    are kept. Elements that two iterations need are computed twice. Points outside the block's
    extents, which a consumer's padding or last tile may request, are skipped.
    """
    path = [*enclosing_loops(loop), loop]
    own = _own_loops(block, path)
    buffers = _buffers(block, loop)
    consumers = _consumers(block, buffers, loop)
    place = _place(block, consumers, loop)
    fixed = {outer.var: position for position, outer in enumerate(path)}
    # A buffer that only the block itself reads, such as the maximum of an argmax, has no region.
    needs = {
        buffer: _region(buffer, consumers, fixed)
        for buffer in buffers
        if any(True for consumer in consumers for _ in accesses(consumer, buffer))
    }
    windows = _iterations(block, needs)
    names = iteration_names(block)
    root: Operation = own[0] if own else block
    block.detach()
    if own:
        root.detach()
    loops = _new_loops(block, windows, names)
    order = [new for kind in IterKind for new, k in loops if k is kind]
    _insert(order, block, place)
    for stale in own[:1]:
        stale.erase()
    values = [outer.var for outer in path]
    exprs: list[AffineExpr] = []
    for item, (new, _) in zip(windows, loops, strict=True):
        exprs.append(item.low.expr() + AffineExpr.dimension(len(values)))
        values.append(new.var)
    drive(block, values, exprs)
    return order


def _own_loops(block: BlockOp, path: Sequence[ForOp]) -> list[ForOp]:
    """Return the loops around only `block`, outermost first."""
    around = enclosing_loops(block)
    shared = 0
    while shared < min(len(around), len(path)) and around[shared] is path[shared]:
        shared += 1
    if shared == len(path):
        raise refuse(block, f"it is already inside loop '{path[-1].var.name_hint}'")
    own = around[shared:]
    for op in [*own[1:], block] if own else []:
        if not only_child(op):
            raise refuse(block, "other statements share its loops; move the whole stage earlier")
    for op in own:
        if op.kind.data.is_bound:
            raise refuse(op, "a stage must be moved before its loops are bound")
    return own


def _buffers(block: BlockOp, loop: ForOp) -> list[SSAValue]:
    buffers = written(block)
    for buffer in buffers:
        if temporary(buffer) is None:
            raise refuse(block, "it writes an output of the kernel, which must be complete")
        if memref_of(buffer).memory_space == ScopeAttr(Scope.Local):
            for outer in [*enclosing_loops(loop), loop]:
                if outer.kind.data.value.startswith("local"):
                    raise refuse(
                        block,
                        "it writes local memory, which the whole group shares; compute it outside "
                        f"the {outer.kind.data.value} loop '{outer.var.name_hint}'",
                    )
    return buffers


def _consumers(block: BlockOp, buffers: Iterable[SSAValue], loop: ForOp) -> list[BlockOp]:
    found: dict[BlockOp, None] = {}
    for buffer in buffers:
        for user, writes in users(buffer).items():
            if user is block:
                continue
            if writes:
                raise refuse(block, f"block '{user.label.data}' writes the same buffer")
            if not loop.is_ancestor(user):
                raise refuse(
                    block,
                    f"its consumer '{user.label.data}' is outside loop '{loop.var.name_hint}'",
                )
            found[user] = None
    if not found:
        raise refuse(block, "nothing reads its results")
    return list(found)


def _place(block: BlockOp, consumers: Sequence[BlockOp], loop: ForOp) -> Operation:
    """Return the first statement in `loop` that reads a result of `block`."""
    readers = {_statement(consumer, loop) for consumer in consumers}
    for statement in loop.body.block.ops:
        if statement in readers:
            return statement
    raise refuse(block, "its consumers are not statements of the loop")


def _statement(op: Operation, loop: ForOp) -> Operation:
    while op.parent_op() is not loop:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _region(
    buffer: SSAValue, consumers: Iterable[BlockOp], path: dict[SSAValue, int]
) -> list[Window]:
    """Return the region of `buffer` that consumers read in one iteration of the loops in `path`."""
    shape = memref_of(buffer).get_shape()
    parts: list[list[Window]] = [[] for _ in shape]
    for consumer in consumers:
        dims = dict(path)
        for var in consumer.loops:
            dims.setdefault(var, len(dims))
        extents = [loop_of(var).size for var in dims]
        values = [AffineExpr.dimension(dims[var]) for var in consumer.loops]
        iters = [with_dims(e, values) for e in consumer.exprs]
        fixed = set(path.values())
        for _, indices in accesses(consumer, buffer):
            for index, size, part in zip(indices, shape, parts, strict=True):
                if index is None:
                    part.append(whole(size))
                    continue
                over_loops = with_dims(index, iters)
                part.append(window(over_loops, extents, fixed))
    return [hull(part, size) for part, size in zip(parts, shape, strict=True)]


def _iterations(block: BlockOp, needs: Mapping[SSAValue, Sequence[Window]]) -> list[Window]:
    """Return the range of each iteration variable that covers the needed regions."""
    leaves = {var: AffineExpr.dimension(i) for i, var in enumerate(block.iter_vars)}
    found: list[list[Window]] = [[] for _ in block.iter_vars]
    for store in block.stores():
        if store.memref not in needs:
            continue
        direct: dict[int, Window] = {}
        for index, need in zip(store.indices, needs[store.memref], strict=True):
            expr = index_expr(index, leaves)
            if isinstance(expr, AffineDimExpr):
                direct[expr.position] = need
        for position, windows in enumerate(found):
            extent = block.iter_extents[position]
            windows.append(direct.get(position, whole(extent)))
    return [hull(w, extent) for w, extent in zip(found, block.iter_extents, strict=True)]


def iteration_names(block: BlockOp) -> list[str]:
    """Return a loop name for each iteration variable: that of the only loop driving it, if any."""
    names: list[str] = []
    for var, expr in zip(block.iter_vars, block.exprs, strict=True):
        hint = var.name_hint
        if isinstance(expr, AffineDimExpr):
            hint = block.loops[expr.position].name_hint or hint
        names.append(hint or "i")
    return names


def _new_loops(
    block: BlockOp, windows: Sequence[Window], names: Sequence[str]
) -> list[tuple[ForOp, IterKind]]:
    kinds = {IterKind.Spatial: LoopKind.Parallel, IterKind.Reduce: LoopKind.Serial}
    return [
        (ForOp(kinds[kind], item.size, hint=name), kind)
        for item, name, kind in zip(windows, names, block.iter_kinds, strict=True)
    ]


def _insert(loops: Sequence[ForOp], block: BlockOp, before: Operation) -> None:
    parent = before.parent_block()
    assert parent is not None
    chain: list[Operation] = [*loops, block]
    parent.insert_op_before(chain[0], before)
    for outer, inner in zip(loops, chain[1:], strict=True):
        outer.body.block.add_op(inner)
