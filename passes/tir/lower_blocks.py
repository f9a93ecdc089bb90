"""`tir-lower-blocks`: replaces blocks by plain statements in their loops.

The result consists of loops, conditions, loads, stores and arithmetic, and has an NDRange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import cl
from ...dialects.tir import FuncOp
from .lowering.barriers import insert_barriers
from .lowering.emit import emit
from .lowering.footprint import footprints
from .lowering.inventory import inventory
from .lowering.ndrange import bound_extents, check_scopes, check_shared, single_out
from .lowering.reduction import place_initial_values
from .lowering.space import IterationSpace
from .lowering.start import start_from_biases


@dataclass(frozen=True)
class TIRLowerBlocksPass(ModulePass):
    """Replace the blocks of each kernel by plain statements in its loops."""

    name: ClassVar[str] = "tir-lower-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and inventory(func).blocks:
                lower_blocks(func, biased=cl.target_of(op).compiler.biased_sums)


def lower_blocks(func: FuncOp, *, biased: bool = False) -> None:
    """Replace the blocks of one kernel; with `biased`, its sums start from their biases."""
    blocks = inventory(func).blocks
    check_shared(blocks)
    place_initial_values(blocks)
    parts = inventory(func)
    if biased:
        start_from_biases(parts.blocks)
    check_scopes(parts)
    extents = bound_extents(func, parts.loops)
    single_out(parts.blocks, extents)
    parts = inventory(func)
    space = IterationSpace(parts, extents)
    kept = footprints(parts.allocas, space)
    insert_barriers(func, parts.allocas, space, kept)
    body = emit(func, space, kept)
    old = func.detach_region(func.body)
    func.add_region(body)
    old.drop_all_references()
