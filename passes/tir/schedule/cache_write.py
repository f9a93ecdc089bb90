"""cache_write: a block writes a temporary that a new stage copies to its buffer."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ....dialects.tir import BlockOp, IterKind, Scope, building
from .analysis import func_of, index_expr, memref_of, written
from .compute_at import iteration_names
from .errors import refuse
from .stage import (
    free_label,
    index_value,
    insert_after,
    new_stage,
    new_temporary,
    spatial_part,
    whole_stage,
)


def cache_write(block: BlockOp, scope: Scope) -> BlockOp:
    """Let `block` write a new temporary in `scope`; returns the block that copies it to the buffer.

    The copy is a stage after the block's, over its spatial variables, after which its loops are
    named. `compute_at` then moves `block` into them. A block that writes several buffers gets a
    temporary for each.
    """
    if scope not in (Scope.Private, Scope.Local):
        raise refuse(block, f"a copy is kept in private or local memory, not {scope.value}")
    root = whole_stage(block, "cache")
    buffers = written(block)
    positions, leaves = spatial_part(block)
    places = [[index_expr(index, leaves) for index in store.indices] for store in block.stores()]
    if any(index is None for place in places for index in place) or len(places) > len(buffers):
        raise refuse(block, "its stores are at no affine function of its spatial variables")
    copies: dict[SSAValue, SSAValue] = {}
    for buffer in buffers:
        name = f"{buffer.name_hint or 'buffer'}_{scope.value}"
        shape = memref_of(buffer).get_shape()
        copies[buffer] = new_temporary(func_of(block), buffer, shape, name, scope)
    for op in [*block.loads(), *block.stores()]:
        if op.memref in copies:
            value = [] if isinstance(op, memref.LoadOp) else [op.value]
            op.operands = [*value, copies[op.memref], *op.indices]
    names = iteration_names(block)
    iters = [
        (names[position], block.iter_extents[position], IterKind.Spatial) for position in positions
    ]
    label = free_label(func_of(block), f"{block.label.data}_write")
    stage_root, stage = new_stage(label, iters)
    body = stage.body.block
    for (buffer, copy), place in zip(copies.items(), places, strict=True):
        at = [index_value(index, body) for index in place if index is not None]
        load = building.load(copy, at)
        body.add_ops([load, building.store(load.res, buffer, at)])
    insert_after(stage_root, root)
    return stage
