"""cache_write: let a block write a temporary that a new stage copies to its buffer."""

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
    """Let `block` write a temporary in `scope`. Return the block that copies it to the buffer.

    The copy is a stage after `block`, over its spatial variables and with their loop names.
    `compute_at` can then move `block` into its loops. A block that writes several buffers gets one
    temporary for each.
    """
    if scope not in (Scope.Private, Scope.Local):
        raise refuse(block, f"a copy must be in private or local memory, not {scope.value}")
    root = whole_stage(block, "cache")
    buffers = written(block)
    positions, leaves = spatial_part(block)
    places = [[index_expr(index, leaves) for index in store.indices] for store in block.stores()]
    if any(index is None for place in places for index in place) or len(places) > len(buffers):
        raise refuse(block, "its stores must have affine indices over spatial variables")
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
