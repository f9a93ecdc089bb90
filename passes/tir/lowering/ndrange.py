"""Step 2: the index space of the kernel, from the loops bound to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.tir import (
    BlockOp,
    ForOp,
    FuncOp,
    LoopKind,
    Scope,
    ScopeAttr,
    enclosing_loops,
)
from ..schedule.analysis import GRID, memref_of, written
from ..schedule.errors import refuse
from ..schedule.nest import only_child
from .inventory import Inventory


def bound_extents(func: FuncOp, loops: Iterable[ForOp]) -> dict[LoopKind, int]:
    """How far each OpenCL index runs that one of `loops` is bound to; sets the kernel's NDRange.

    Loops bound to one index may differ in extent: the index runs as far as the longest, and global
    indices up to a multiple of a `local_size` that the kernel already has. A kernel without such
    loops is one work-item.
    """
    extents: dict[LoopKind, int] = {}
    for loop in loops:
        if (kind := loop.kind.data).is_bound:
            extents[kind] = max(loop.size, extents.get(kind, 1))
    given = cast(DenseArrayBase[IntegerType] | None, func.local_size)
    local_size = [] if given is None else [int(size) for size in given.iter_values()]
    rank = max([kind.axis + 1 for kind in extents], default=1)
    rank = max(rank, len(local_size))
    if not extents and not local_size:
        local_size = [1] * rank  # one work-item is a group
    global_size = [1] * rank
    grouped = any(not kind.value.startswith("global") for kind in extents)
    if grouped:
        local_size = [_extent(extents, "local", axis) for axis in range(rank)]
    for axis in range(rank):
        count = _extent(extents, "global", axis) * _extent(extents, "group", axis)
        if grouped:
            count *= local_size[axis]
        elif local_size:
            step = local_size[axis] if axis < len(local_size) else 1
            count = -(-count // step) * step
            if (kind := LoopKind(f"global_{'xyz'[axis]}")) in extents:
                extents[kind] = count
        global_size[axis] = count
    for kind in extents:
        for other in extents:
            same_axis = other is not kind and other.axis == kind.axis
            if kind.value.startswith("global") and same_axis:
                raise refuse(func, f"loops are bound to both {kind.value} and {other.value}")
    func.global_size = DenseArrayBase.from_list(i64, global_size)
    if local_size:
        func.local_size = DenseArrayBase.from_list(i64, local_size)
    return extents


def _extent(extents: dict[LoopKind, int], family: str, axis: int, default: int = 1) -> int:
    return extents.get(LoopKind(f"{family}_{'xyz'[axis]}"), default)


def single_out(blocks: Iterable[BlockOp], extents: Mapping[LoopKind, int]) -> None:
    """Let only the first work-item run what does not depend on an index but writes shared memory.

    A stage without a loop over some index gets one of extent 1. Local memory is shared by the
    work-items of a group, outputs by all.
    """
    for block in blocks:
        shared = {_scope(buffer) for buffer in written(block)} - {Scope.Private}
        if not shared:
            continue
        path = enclosing_loops(block)
        present = {loop.kind.data for loop in path}
        for kind in extents:
            local = kind.value.startswith("local")
            if kind not in present and (local or shared & {Scope.Global, Scope.Texture}):
                _wrap(_stage(block, grid=kind in GRID), kind)


def _scope(buffer: SSAValue) -> Scope:
    space = memref_of(buffer).memory_space
    return space.scope if isinstance(space, ScopeAttr) else Scope.Global


def _stage(block: BlockOp, grid: bool) -> Operation:
    """The outermost statement to wrap in a bound loop that `block` lacks."""
    op: Operation = block
    while isinstance(parent := op.parent_op(), ForOp):
        if parent.kind.data in GRID or not (grid or only_child(op)):
            break
        if parent.kind.data.is_bound and not grid:
            break
        op = parent
    return op


def _wrap(op: Operation, kind: LoopKind) -> None:
    parent = op.parent_block()
    assert parent is not None
    loop = ForOp(kind, 1, hint=kind.value)
    parent.insert_op_before(loop, op)
    op.detach()
    loop.body.block.add_op(op)


def check_scopes(parts: Inventory) -> None:
    """Every temporary of a kernel must have been given a memory that its loops know."""
    ungrouped = any(loop.kind.data.value.startswith("global") for loop in parts.loops)
    for op in parts.allocas:
        scope = _scope(op.memref)
        if scope is Scope.Local and ungrouped:
            raise refuse(
                op, "local memory belongs to a group, and loops are bound to global indices"
            )
        if scope is Scope.Global:
            raise refuse(
                op,
                "a temporary of a kernel cannot stay in global memory; compute it at a loop "
                "of its consumer and set its scope",
            )
