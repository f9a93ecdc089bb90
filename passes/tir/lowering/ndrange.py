"""Step 3: the index space of the kernel, from the loops bound to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ....dialects.tir import (
    GRID,
    BlockOp,
    ForOp,
    FuncOp,
    LoopKind,
    Scope,
    ScopeAttr,
    enclosing_loops,
)
from ....dialects.tir.affine import linear
from ..schedule.analysis import loop_extents, memref_of, written
from ..schedule.errors import refuse
from ..schedule.nest import only_child
from .inventory import Inventory


def bound_extents(func: FuncOp, loops: Iterable[ForOp]) -> dict[LoopKind, int]:
    """Set the kernel's NDRange. Return the extent of each OpenCL index that `loops` bind.

    If loops of different extents bind one index, the longest sets its extent. A global index is
    rounded up to a multiple of the kernel's `local_size`, if it has one. A kernel without bound
    loops is a single work-item.
    """
    extents: dict[LoopKind, int] = {}
    for loop in loops:
        if (kind := loop.kind.data).is_bound:
            extents[kind] = max(loop.size, extents.get(kind, 1))
    given = cast(DenseArrayBase[IntegerType] | None, func.local_size)
    local_size = [] if given is None else [int(size) for size in given.iter_values()]
    rank = max([kind.axis + 1 for kind in extents], default=1)
    rank = max(rank, len(local_size))
    if local_size:
        local_size += [1] * (rank - len(local_size))
    if not extents and not local_size:
        local_size = [1] * rank  # A single work-item is a group.
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
    func.global_size = DenseArrayBase.from_list(i64, global_size)
    if local_size:
        func.local_size = DenseArrayBase.from_list(i64, local_size)
    return extents


def _extent(extents: dict[LoopKind, int], family: str, axis: int, default: int = 1) -> int:
    return extents.get(LoopKind(f"{family}_{'xyz'[axis]}"), default)


def single_out(blocks: Iterable[BlockOp], extents: Mapping[LoopKind, int]) -> None:
    """Let only the first work-item run a stage that writes shared memory but lacks an index.

    Such a stage gets a loop of extent 1, bound to the index. The work-items of a group share local
    memory, and all work-items share the outputs.
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
                stage = _stage(block, grid=kind in GRID)
                if any(isinstance(op, ForOp) and op.kind.data is kind for op in stage.walk()):
                    raise refuse(
                        block,
                        f"it runs once along {kind.value}, but it shares a loop with "
                        f"a stage that is bound to {kind.value}; bind the loop that they share",
                    )
                _wrap(stage, kind)


def _scope(buffer: SSAValue) -> Scope:
    space = memref_of(buffer).memory_space
    return space.scope if isinstance(space, ScopeAttr) else Scope.Global


def _stage(block: BlockOp, grid: bool) -> Operation:
    """Return the outermost statement to wrap in a bound loop that `block` lacks."""
    op: Operation = block
    while isinstance(parent := op.parent_op(), ForOp):
        if parent.kind.data in GRID or not (grid or only_child(op)):
            break
        if parent.kind.data.is_bound and not grid:
            break
        op = parent
    return op


def _wrap(op: Operation, kind: LoopKind) -> None:
    for outer in enclosing_loops(op):
        if outer.kind.data is LoopKind.Vectorized:
            raise refuse(
                op,
                f"it runs once along {kind.value}, but other statements share its "
                f"vectorized loop '{outer.var.name_hint}'; do not vectorize that loop",
            )
    parent = op.parent_block()
    assert parent is not None
    loop = ForOp(kind, 1, hint=kind.value)
    parent.insert_op_before(loop, op)
    op.detach()
    loop.body.block.add_op(op)


def check_scopes(parts: Inventory) -> None:
    """Refuse temporaries in global memory, and in local memory if there are no groups."""
    ungrouped = any(loop.kind.data.value.startswith("global") for loop in parts.loops)
    for op in parts.allocas:
        scope = _scope(op.memref)
        if scope is Scope.Local and ungrouped:
            raise refuse(
                op, "local memory needs loops bound to group and local indices, not to global ones"
            )
        if scope is Scope.Global:
            raise refuse(
                op,
                "a temporary cannot stay in global memory; compute it at a loop "
                "of its consumer and set its scope",
            )


def check_shared(blocks: Iterable[BlockOp]) -> None:
    """Refuse a reduction whose work-items update the same element of local memory."""
    for block in blocks:
        if not block.is_reduction or Scope.Local not in map(_scope, written(block)):
            continue
        for loop in enclosing_loops(block):
            kind = loop.kind.data
            if kind.value.startswith("local") and loop.size > 1 and not _are_apart(block, loop):
                raise refuse(
                    block,
                    f"it accumulates in local memory, and several work-items along {kind.value} "
                    "would update the same element; keep the result in private memory, or compute "
                    f"it outside loop '{loop.var.name_hint}'",
                )


def _are_apart(block: BlockOp, loop: ForOp) -> bool:
    """Return whether some variable of `block` differs between any two iterations of `loop`.

    That holds if the loops number the variable's values like digits of a number.
    """
    extents = loop_extents(block)
    for expr in block.exprs:
        form = linear(expr, extents)
        digits = sorted(
            (abs(step), atom.position)
            for atom, step in form.terms.items()
            if isinstance(atom, AffineDimExpr)
        )
        if len(digits) < len(form.terms) or all(
            block.loops[dim] is not loop.var for _, dim in digits
        ):
            continue
        reach, numbered = 0, True
        for step, dim in digits:
            numbered &= step > reach
            reach += step * (extents[dim] - 1)
        if numbered:
            return True
    return False
