"""prefetch: let a stage of a loop work one or more iterations ahead of its consumers.

The loads of step k + 1 are issued before the computation of step k, and stored after it. This is a
software pipeline (Lam, "Software Pipelining", 1988) with a copy of the buffer for each step in
flight. Blocks skip points outside their extents, so the last iterations need no special code here;
`tir-lower-blocks` peels them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import affine, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    StringAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ....dialects.tir import BlockOp, ForOp, IterKind, LoopKind, Scope, ScopeAttr, enclosing_loops
from ....dialects.tir.affine import bounds, linear
from ..window import Window, hull, window
from .analysis import (
    accesses,
    drive,
    func_of,
    loop_of,
    memref_of,
    path_to,
    temporary,
    users,
    written,
)
from .errors import refuse
from .nest import check_plain, only_child
from .stage import free_label, insert_before, new_temporary

_MOST_POINTS = 1 << 16
"""The maximum number of points of a stage whose region is checked point by point."""


def prefetch(block: BlockOp, loop: ForOp, copies: int) -> tuple[BlockOp, BlockOp]:
    """Let the stage of `block` in `loop` work ahead. Return the blocks that load and that store.

    The stage copies the data that its iteration of `loop` reads: a chunk of one dimension of its
    buffer. The buffer shrinks to `copies` chunks. The stage, which now loads into registers, runs
    one iteration ahead of the other statements, or `copies - 1` if there are more than two copies.
    A new stage at the end of the loop stores the registers. Another one before the loop fills the
    first chunks.
    """
    check_plain(loop, "pipelined")
    nest = _nest(block, loop)
    if copies < 1:
        raise refuse(block, f"a buffer must have at least one copy, not {copies}")
    ahead = max(1, copies - 1)
    if loop.size <= ahead:
        raise refuse(loop, f"it runs {loop.size} times, too few to work {ahead} ahead")
    buffer = _buffer(block, loop, nest)
    dim, chunk = _chunked(block, buffer, loop)
    _check_complete(block, buffer, loop)
    own = _own_loops(block, loop)
    first, prologue = _clone(nest, block, f"{block.label.data}_first")
    _start(first, prologue, loop, ahead)
    _fold(buffer, dim, chunk, copies)
    store = _through_registers(block, nest, loop, own)
    for moved in (block, store):
        _shift(moved, loop, ahead)
    return block, store


def _nest(block: BlockOp, loop: ForOp) -> Operation:
    """Return the statement of `loop` that contains only `block`."""
    op: Operation = block
    while (parent := op.parent_op()) is not loop:
        if not isinstance(parent, ForOp):
            raise refuse(block, f"it is not inside loop '{loop.var.name_hint}'")
        if not only_child(op):
            raise refuse(block, "other statements share its loops")
        op = parent
    return op


def _buffer(block: BlockOp, loop: ForOp, nest: Operation) -> SSAValue:
    """Return the single temporary that the stage fills for later statements of the loop."""
    stores, loads = block.stores(), block.loads()
    if block.is_reduction or len(stores) != 1 or stores[0].parent_op() is not block:
        raise refuse(block, "only a stage that computes each element once can run ahead")
    buffer = stores[0].memref
    if temporary(buffer) is None:
        raise refuse(block, "it writes an output of the kernel, which cannot have copies")
    inside = [op for op in loop.walk() if isinstance(op, BlockOp) and op is not block]
    changed = {value for other in inside for value in written(other)}
    if any(load.memref is buffer or load.memref in changed for load in loads):
        raise refuse(block, f"it reads a buffer that loop '{loop.var.name_hint}' writes")
    for user, writes in users(buffer).items():
        if user is block:
            continue
        if writes:
            raise refuse(block, f"block '{user.label.data}' writes the same buffer")
        if not loop.is_ancestor(user) or not _follows(user, nest, loop):
            raise refuse(
                block, f"block '{user.label.data}' must read its buffer after it, in the same loop"
            )
    return buffer


def _follows(op: Operation, nest: Operation, loop: ForOp) -> bool:
    while op.parent_op() is not loop:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return nest.is_before_in_block(op)


def _over_loops(
    block: BlockOp, buffer: SSAValue, loop: ForOp
) -> tuple[list[list[AffineExpr]], Mapping[SSAValue, int], list[int]]:
    """Return the indices of each access over the loops up to `loop` and the block's own loops.

    Also return the number of each loop variable, outermost first, and the extents.
    """
    dims = {outer.var: position for position, outer in enumerate(path_to(loop))}
    for var in block.loops:
        dims.setdefault(var, len(dims))
    values = [AffineExpr.dimension(dims[var]) for var in block.loops]
    iters = [expr.replace_dims_and_symbols(values, ()) for expr in block.exprs]
    found: list[list[AffineExpr]] = []
    for _, indices in accesses(block, buffer):
        known = [i.replace_dims_and_symbols(iters, ()) for i in indices if i is not None]
        if len(known) < len(indices):
            raise refuse(block, f"an index of its access to '{buffer.name_hint}' is not affine")
        found.append(known)
    return found, dims, [loop_of(var).size for var in dims]


def _chunked(block: BlockOp, buffer: SSAValue, loop: ForOp) -> tuple[int, int]:
    """Return the dimension along which iteration k uses only chunk k, and the chunk size."""
    found: set[tuple[int, int]] = set()
    for user in users(buffer):
        places, dims, extents = _over_loops(user, buffer, loop)
        variable = AffineExpr.dimension(dims[loop.var])
        for indices in places:
            forms = [linear(index, extents) for index in indices]
            moved = [d for d, index in enumerate(indices) if dims[loop.var] in index.used_dims()]
            chunk = forms[moved[0]].terms.get(variable, 0) if len(moved) == 1 else 0
            if chunk < 1:
                raise refuse(
                    user,
                    f"an iteration of loop '{loop.var.name_hint}' does not use a separate chunk "
                    f"of '{buffer.name_hint}'",
                )
            rest = forms[moved[0]].expr() - variable * chunk
            low, high = bounds(rest, extents)
            if low is None or low < 0 or high is None or high >= chunk:
                raise refuse(
                    user,
                    f"iterations of loop '{loop.var.name_hint}' share elements of "
                    f"'{buffer.name_hint}'",
                )
            found.add((moved[0], chunk))
    if len(found) != 1:
        raise refuse(block, f"its readers divide '{buffer.name_hint}' into different chunks")
    return found.pop()


def _check_complete(block: BlockOp, buffer: SSAValue, loop: ForOp) -> None:
    """Refuse a stage that leaves elements of the chunk to an earlier iteration."""
    fixed = set(range(len(path_to(loop))))
    needed: list[list[Window]] = [[] for _ in memref_of(buffer).get_shape()]
    (place,), dims, extents = _over_loops(block, buffer, loop)
    lows = [window(index, extents, fixed).low for index in place]
    for user in users(buffer):
        if user is not block:
            places, _, around = _over_loops(user, buffer, loop)
            for indices in places:
                for needs, index in zip(needed, indices, strict=True):
                    needs.append(window(index, around, fixed))
    shape = memref_of(buffer).get_shape()
    regions = [hull(needs, size) for needs, size in zip(needed, shape, strict=True)]
    points = prod(extents[len(fixed) :])
    if points > _MOST_POINTS:
        raise refuse(block, f"it has {points} points, but at most {_MOST_POINTS} can be checked")
    made = np.zeros(shape, bool)
    made[_elements(place, [1] * len(fixed) + extents[len(fixed) :], shape)] = True
    wanted: list[slice] = []
    for region, low, size in zip(regions, lows, shape, strict=True):
        distance = region.low + low.scaled(-1)
        start = low.expr().eval([0] * len(dims), []) + distance.constant
        if distance.terms or start < 0:
            raise refuse(block, _INCOMPLETE)
        wanted.append(slice(start, min(start + region.size, size)))
    if not made[tuple(wanted)].all():
        raise refuse(block, _INCOMPLETE)


_INCOMPLETE = "its readers need elements from other iterations"


def _elements(
    place: Sequence[AffineExpr], extents: Sequence[int], shape: Sequence[int]
) -> tuple[np.ndarray, ...]:
    """Return the elements of `shape` at the indices `place`, for all values of its dimensions."""
    values = [axis.ravel() for axis in np.indices(extents)]
    found = np.array([np.broadcast_to(_evaluate(e, values), values[0].shape) for e in place])
    inside = (found < np.array(shape)[:, None]).all(0)
    return tuple(found[:, inside])


def _evaluate(expr: AffineExpr, values: Sequence[np.ndarray]) -> np.ndarray:
    match expr:
        case AffineDimExpr(position=position):
            return values[position]
        case AffineConstantExpr(value=value):
            return np.array(value)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return _OPERATIONS[kind](_evaluate(lhs, values), _evaluate(rhs, values))
        case _:
            raise AssertionError(f"unexpected index {expr}")


_OPERATIONS: dict[AffineBinaryOpKind, Callable[[Any, Any], Any]] = {
    AffineBinaryOpKind.Add: np.add,
    AffineBinaryOpKind.Mul: np.multiply,
    AffineBinaryOpKind.Mod: np.mod,
    AffineBinaryOpKind.FloorDiv: np.floor_divide,
}


def _own_loops(block: BlockOp, loop: ForOp) -> list[ForOp]:
    around = enclosing_loops(block)
    return around[around.index(loop) + 1 :]


def _clone(nest: Operation, block: BlockOp, label: str) -> tuple[BlockOp, Operation]:
    """Copy a nest without inserting it. Return its block, with a new label, and the nest."""
    copy = nest.clone()
    (made,) = (op for op in copy.walk() if isinstance(op, BlockOp))
    made.label = StringAttr(free_label(func_of(block), label))
    for old, new in zip(nest.walk(), copy.walk(), strict=True):
        if isinstance(old, ForOp) and isinstance(new, ForOp):
            new.var.name_hint = old.var.name_hint
    return made, copy


def _fold(buffer: SSAValue, dim: int, chunk: int, copies: int) -> None:
    """Shrink a buffer to `copies` chunks: element i of `dim` lies in chunk i / size mod copies."""
    kind = memref_of(buffer)
    shape = list(kind.get_shape())
    shape[dim] = chunk
    scope = kind.memory_space.scope if isinstance(kind.memory_space, ScopeAttr) else None
    several = [copies] if copies > 1 else []
    name = buffer.name_hint or "buffer"
    alloca = temporary(buffer)
    assert alloca is not None
    new = new_temporary(func_of(alloca), buffer, [*several, *shape], name, scope)
    index = AffineExpr.dimension(0)
    parts = [(index // chunk) % copies, index % chunk] if several else [index % chunk]
    for use in reversed(list(buffer.uses)):
        op = use.operation
        assert isinstance(op, memref.LoadOp | memref.StoreOp)
        places = list(op.indices)
        made: list[SSAValue] = []
        for part in parts:
            apply = affine.ApplyOp([places[dim]], AffineMapAttr(AffineMap(1, 0, (part,))))
            insert_before(apply, op)
            made.append(apply.result)
        places[dim] = made[-1]
        value = [] if isinstance(op, memref.LoadOp) else [op.value]
        op.operands = [*value, new, *made[:-1], *places]
    alloca.detach()
    alloca.erase()


def _start(first: BlockOp, prologue: Operation, loop: ForOp, ahead: int) -> None:
    """Fill the first chunks before the loop."""
    insert_before(prologue, loop)
    if ahead == 1:
        _replace(first, loop.var, AffineExpr.constant(0), [])
        return
    steps = ForOp(LoopKind.Serial, ahead, hint=loop.var.name_hint or "")
    insert_before(steps, prologue)
    prologue.detach()
    steps.body.block.add_op(prologue)
    _replace(first, loop.var, AffineExpr.dimension(0), [steps.var])


def _shift(block: BlockOp, loop: ForOp, ahead: int) -> None:
    _replace(block, loop.var, AffineExpr.dimension(0) + ahead, [loop.var])


def _replace(block: BlockOp, old: SSAValue, expr: AffineExpr, new: Sequence[SSAValue]) -> None:
    """Replace the loop variable `old` of a block by `expr` over the loop variables `new`."""
    kept = [var for var in block.loops if var is not old]
    loops = [*kept, *new]
    dims = [AffineExpr.dimension(len(kept) + i) for i in range(len(new))]
    value = expr.replace_dims_and_symbols(dims, ()) if dims else expr
    values = [value if var is old else AffineExpr.dimension(kept.index(var)) for var in block.loops]
    drive(block, loops, [e.replace_dims_and_symbols(values, ()) for e in block.exprs])


def _through_registers(
    block: BlockOp, nest: Operation, loop: ForOp, own: Sequence[ForOp]
) -> BlockOp:
    """Split a stage in two: one loads into registers, one at the end of the loop stores them."""
    store, copy = _clone(nest, block, f"{block.label.data}_store")
    loop.body.block.add_op(copy)
    (written_,) = block.stores()
    name = f"{written_.memref.name_hint or 'buffer'}_ahead"
    shape = [op.size for op in own]
    registers = new_temporary(func_of(block), written_.memref, shape, name, Scope.Private)
    # Computed values are stored as they are, which makes the rest of the new body dead.
    places = _add_variables(block, own)
    insert_before(memref.StoreOp.get(written_.value, registers, places), written_)
    written_.detach()
    written_.erase()
    (stored,) = store.stores()
    places = _add_variables(store, _own_loops(store, loop))
    load = memref.LoadOp.get(registers, places)
    insert_before(load, stored)
    stored.operands = [load.res, *stored.operands[1:]]
    for body in (block, store):
        _erase_dead(body)
    return store


def _add_variables(block: BlockOp, loops: Sequence[ForOp]) -> list[SSAValue]:
    """Add an iteration variable to `block` for each of `loops`."""
    body = block.body.block
    made: list[SSAValue] = []
    operands, exprs = list(block.loops), list(block.exprs)
    extents, kinds = list(block.iter_extents), list(block.iter_kinds)
    for loop in loops:
        if loop.var not in operands:
            operands.append(loop.var)
        arg = body.insert_arg(IndexType(), len(body.args))
        arg.name_hint = loop.var.name_hint
        made.append(arg)
        exprs.append(AffineExpr.dimension(operands.index(loop.var)))
        extents.append(loop.size)
        kinds.append(IterKind.Spatial)
    block.rebind(operands, exprs)
    block.extents = DenseArrayBase.from_list(i64, extents)
    block.kinds = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    return made


def _erase_dead(block: BlockOp) -> None:
    for op in reversed(list(block.body.block.ops)):
        if op.results and not op.regions and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
