"""cache_read: let a block read a copy of a buffer."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ....dialects.tir import BlockOp, IterKind, Scope, building, enclosing_loops
from .analysis import func_of, memref_of, users
from .errors import refuse
from .stage import free_label, insert_before, new_stage, new_temporary


def cache_read(block: BlockOp, buffer: SSAValue, scope: Scope) -> BlockOp:
    """Let `block` read `buffer` through a temporary in `scope`. Return the block that fills it.

    The copy is a stage over the whole buffer before `block`, with loops named ax0, ax1, and so on.
    `compute_at` can move it to a loop that needs only a part.
    """
    anchor = check_copied(block, buffer, scope)
    loads = [load for load in block.loads() if load.memref is buffer]
    shape = memref_of(buffer).get_shape()
    name = f"{buffer.name_hint or 'buffer'}_{scope.value}"
    copy = new_temporary(func_of(block), buffer, shape, name, scope)
    iters = [(f"ax{d}", extent, IterKind.Spatial) for d, extent in enumerate(shape)]
    root, stage = new_stage(free_label(func_of(block), name), iters)
    body = stage.body.block
    load = building.load(buffer, body.args)
    body.add_ops([load, building.store(load.res, copy, body.args)])
    insert_before(root, anchor)
    for use in loads:
        use.operands = [copy, *use.indices]
    return stage


def check_copied(block: BlockOp, buffer: SSAValue, scope: Scope) -> Operation:
    """Return the statement before which a copy of `buffer` can be made, or refuse."""
    if scope not in (Scope.Private, Scope.Local):
        raise refuse(block, f"a copy must be in private or local memory, not {scope.value}")
    if all(load.memref is not buffer for load in block.loads()):
        raise refuse(block, f"it does not read '{buffer.name_hint}'")
    if any(store.memref is buffer for store in block.stores()):
        raise refuse(block, f"it writes '{buffer.name_hint}' as well")
    loops = enclosing_loops(block)
    anchor = loops[0] if loops else block
    for user, writes in users(buffer).items():
        if writes and anchor.is_ancestor(user):
            raise refuse(
                block,
                f"block '{user.label.data}' fills '{buffer.name_hint}' inside its loops; "
                "cache the read before moving that block",
            )
    return anchor
