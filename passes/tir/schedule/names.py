"""The names by which the text of a step calls loops, buffers and parameters of a kernel.

A loop is `block.name`: a block inside of it, and the name that the kernel's text shows for its
variable. Where several loops around that block have one name, `block.name#2` is the second of them
from outside. Buffers are numbered in the same way, in the order of the text: `w#2` is the second
parameter, or else temporary, that is called `w`. What has no name is called by its number alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ....dialects.tir import BlockOp, ForOp, FuncOp, enclosing_loops
from .analysis import statements
from .errors import refuse


def block_of(func: FuncOp, label: str) -> BlockOp:
    """Return the block called `label`."""
    labels: list[str] = []
    for op in statements(func.body.block):
        if isinstance(op, BlockOp):
            if op.label.data == label:
                return op
            labels.append(op.label.data)
    raise refuse(func, f"no block is called '{label}'; the blocks are {', '.join(labels)}")


def loop_named(block: BlockOp, name: str) -> ForOp:
    """Return the loop around `block` whose variable is called `name`, which may be numbered."""
    loops = enclosing_loops(block)
    hint, number = _parts(name)
    found = [loop for loop in loops if (loop.var.name_hint or "") == hint]
    if not found:
        names = ", ".join(loop.var.name_hint or "?" for loop in loops)
        raise refuse(block, f"no loop around it is called '{name}'; the loops are {names}")
    if number is None and len(found) > 1:
        raise refuse(
            block,
            f"{len(found)} loops around it are called '{hint}'; the outermost is '{hint}#1'",
        )
    if (number or 1) > len(found):
        raise refuse(block, f"{len(found)} loops around it are called '{hint}', not {number}")
    return found[(number or 1) - 1]


def buffer_of(func: FuncOp, name: str) -> SSAValue:
    """Return the parameter or temporary called `name`, which may be numbered."""
    hint, number = _parts(name)
    buffers = _buffers(func)
    found = [buffer for buffer in buffers if (buffer.name_hint or "") == hint]
    if (number or 1) > len(found):
        names = ", ".join(buffer.name_hint or "?" for buffer in buffers)
        raise refuse(func, f"no buffer is called '{name}'; the buffers are {names}")
    if number is None and len(found) > 1:
        raise refuse(func, f"{len(found)} buffers are called '{hint}'; the first is '{hint}#1'")
    return found[(number or 1) - 1]


def name_of_loop(loop: ForOp) -> str:
    """How the text of a step calls a loop: by the last block inside of it."""
    inside = loop.body.block.last_op
    while isinstance(inside, ForOp):
        inside = inside.body.block.last_op
    assert isinstance(inside, BlockOp), "a loop of a kernel that is not lowered ends with a block"
    return name_of_loop_around(inside, loop)


def name_of_loop_around(block: BlockOp, loop: ForOp) -> str:
    """How the text of a step calls a loop, by a block inside of it."""
    return f"{block.label.data}.{_numbered(loop.var, [o.var for o in enclosing_loops(block)])}"


def name_of_buffer(func: FuncOp, buffer: SSAValue) -> str:
    """How the text of a step calls a parameter or a temporary."""
    return _numbered(buffer, _buffers(func))


def _buffers(func: FuncOp) -> list[SSAValue]:
    temporaries = [op for op in statements(func.body.block) if isinstance(op, memref.AllocaOp)]
    return [*func.params, *(op.memref for op in temporaries)]


def _numbered(value: SSAValue, values: Sequence[SSAValue]) -> str:
    hint = value.name_hint or ""
    same = [other for other in values if (other.name_hint or "") == hint]
    return hint if hint and len(same) == 1 else f"{hint}#{same.index(value) + 1}"


def _parts(name: str) -> tuple[str, int | None]:
    hint, _, number = name.partition("#")
    return (hint, int(number)) if number.isdecimal() and int(number) else (name, None)
