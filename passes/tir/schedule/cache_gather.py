"""cache_gather: let a block read a copy of a buffer in the order of the block's variables."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, IterKind, Scope, building
from ....dialects.tir.affine import simplify
from .analysis import accesses, func_of
from .cache_read import check_copied
from .compute_at import iteration_names
from .errors import refuse
from .stage import free_label, index_value, insert_before, new_stage, new_temporary


def cache_gather(
    block: BlockOp, buffer: SSAValue, scope: Scope, positions: Sequence[int]
) -> BlockOp:
    """Let `block` read `buffer` through a temporary over its iteration variables at `positions`.

    Element (a, b) of the temporary is the value that the block reads when these variables are a and
    b. A convolution thus reads rows of a matrix, and a product its transposed operand. Returns the
    block that fills the temporary, a stage before `block`, whose loops have the names of `block`'s
    loops. `compute_at` can move it to a loop that needs only a part. `positions` must list every
    variable on which the load depends.
    """
    anchor = check_copied(block, buffer, scope)
    places = [indices for _, indices in accesses(block, buffer)]
    first = [index for index in places[0] if index is not None]
    if len(first) < len(places[0]) or any(other != places[0] for other in places):
        raise refuse(block, f"it reads '{buffer.name_hint}' at more than one affine place")
    if any(load.parent_op() is not block for load in block.loads() if load.memref is buffer):
        raise refuse(block, f"it reads '{buffer.name_hint}' only under a condition")
    if any(not 0 <= position < len(block.iter_vars) for position in positions):
        raise refuse(block, f"it has only {len(block.iter_vars)} variables")
    extents = block.iter_extents
    used = {dim for index in first for dim in simplify(index, extents).used_dims()}
    if len(set(positions)) < len(positions) or not used <= set(positions):
        listed = ", ".join(f"d{position}" for position in sorted(used))
        raise refuse(block, f"'{buffer.name_hint}' is indexed by {listed}; list each once")
    shape = [extents[position] for position in positions]
    name = f"{buffer.name_hint or 'buffer'}_{scope.value}"
    copy = new_temporary(func_of(block), buffer, shape, name, scope)
    names = iteration_names(block)
    iters = [(names[position], extents[position], IterKind.Spatial) for position in positions]
    root, stage = new_stage(free_label(func_of(block), name), iters)
    body = stage.body.block
    values = [AffineExpr.constant(0)] * len(extents)
    for dim, position in enumerate(positions):
        values[position] = AffineExpr.dimension(dim)
    moved = [simplify(e.replace_dims_and_symbols(values, ()), shape) for e in first]
    load = building.load(buffer, [index_value(index, body) for index in moved])
    body.add_ops([load, building.store(load.res, copy, body.args)])
    insert_before(root, anchor)
    for use in [load for load in block.loads() if load.memref is buffer]:
        use.operands = [copy, *(block.iter_vars[position] for position in positions)]
    return stage
