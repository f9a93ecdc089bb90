"""Find loops, blocks and temporaries of a kernel by the names that its text shows."""

from __future__ import annotations

from xdsl.dialects import memref

from ....dialects.tir import BlockOp, ForOp, FuncOp, enclosing_loops
from .errors import refuse


def block_of(func: FuncOp, label: str) -> BlockOp:
    """The block called `label`."""
    labels: list[str] = []
    for op in func.walk():
        if isinstance(op, BlockOp):
            if op.label.data == label:
                return op
            labels.append(op.label.data)
    raise refuse(func, f"no block is called '{label}'; the blocks are {', '.join(labels)}")


def loops_of(block: BlockOp) -> list[ForOp]:
    """The loops around `block`, outermost first."""
    return enclosing_loops(block)


def loop_named(block: BlockOp, name: str) -> ForOp:
    """The loop around `block` whose variable is called `name`."""
    loops = enclosing_loops(block)
    found = [loop for loop in loops if loop.var.name_hint == name]
    if not found:
        names = ", ".join(loop.var.name_hint or "?" for loop in loops)
        raise refuse(block, f"no loop around it is called '{name}'; the loops are {names}")
    if len(found) > 1:
        raise refuse(block, f"{len(found)} loops around it are called '{name}'")
    return found[0]


def buffer_of(func: FuncOp, name: str) -> memref.AllocaOp:
    """The temporary called `name`."""
    names: list[str] = []
    for op in func.walk():
        if isinstance(op, memref.AllocaOp):
            if op.memref.name_hint == name:
                return op
            names.append(op.memref.name_hint or "?")
    raise refuse(func, f"no temporary is called '{name}'; the temporaries are {', '.join(names)}")
