"""The loops, blocks and temporaries of a kernel, found without walking block bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import Block

from ....dialects.tir import BlockOp, ForOp, FuncOp


@dataclass
class Inventory:
    """Loops, blocks and temporaries, each in program order."""

    loops: list[ForOp] = field(default_factory=list[ForOp])
    blocks: list[BlockOp] = field(default_factory=list[BlockOp])
    allocas: list[memref.AllocaOp] = field(default_factory=list[memref.AllocaOp])


def inventory(func: FuncOp) -> Inventory:
    """Return the loops, blocks and temporaries of `func`.

    Steps that change `func` invalidate the result.
    """
    found = Inventory()
    _collect(func.body.block, found)
    return found


def _collect(body: Block, found: Inventory) -> None:
    for op in body.ops:
        if isinstance(op, ForOp):
            found.loops.append(op)
            _collect(op.body.block, found)
        elif isinstance(op, BlockOp):
            found.blocks.append(op)
        elif isinstance(op, memref.AllocaOp):
            found.allocas.append(op)
