"""The names of a kernel's loops, buffers and parameters in schedule steps.

A loop is `block.name`: a block inside it, and the name of its variable in the printed kernel. If
several loops around that block have one name, `block.name#2` is the second of them, counted from
outside. Buffers are numbered in program order: `w#2` is the second parameter or temporary named
`w`, with parameters first. A value without a name is called by its number alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ....dialects.tir import BlockOp, ForOp, FuncOp, enclosing_loops
from .analysis import statements
from .errors import refuse


def block_of(func: FuncOp, label: str) -> BlockOp:
    """Return the block labelled `label`."""
    labels: list[str] = []
    for op in statements(func.body.block):
        if isinstance(op, BlockOp):
            if op.label.data == label:
                return op
            labels.append(op.label.data)
    raise refuse(func, f"there is no block '{label}'; the blocks are {', '.join(labels)}")


def loop_named(block: BlockOp, name: str) -> ForOp:
    """Return the loop around `block` whose variable is named `name`, such as `i` or `i#2`."""
    loops = enclosing_loops(block)
    hint, number = _parts(name)
    found = [loop for loop in loops if (loop.var.name_hint or "") == hint]
    if not found:
        names = ", ".join(loop.var.name_hint or "?" for loop in loops)
        raise refuse(block, f"it is not inside a loop '{name}'; the loops are {names}")
    if number is None and len(found) > 1:
        raise refuse(
            block,
            f"it is inside {len(found)} loops '{hint}'; the outermost is '{hint}#1'",
        )
    if (number or 1) > len(found):
        raise refuse(block, f"it is inside {len(found)} loops '{hint}', not {number}")
    return found[(number or 1) - 1]


def buffer_of(func: FuncOp, name: str) -> SSAValue:
    """Return the parameter or temporary named `name`, such as `w` or `w#2`."""
    hint, number = _parts(name)
    buffers = _buffers(func)
    found = [buffer for buffer in buffers if (buffer.name_hint or "") == hint]
    if (number or 1) > len(found):
        names = ", ".join(buffer.name_hint or "?" for buffer in buffers)
        raise refuse(func, f"there is no buffer '{name}'; the buffers are {names}")
    if number is None and len(found) > 1:
        raise refuse(func, f"there are {len(found)} buffers '{hint}'; the first is '{hint}#1'")
    return found[(number or 1) - 1]


def name_of_loop(loop: ForOp) -> str:
    """Return the name of a loop in a step, using the last block inside it."""
    inside = loop.body.block.last_op
    while isinstance(inside, ForOp):
        inside = inside.body.block.last_op
    assert isinstance(inside, BlockOp), "a loop of an unlowered kernel ends with a block"
    return name_of_loop_around(inside, loop)


def name_of_loop_around(block: BlockOp, loop: ForOp) -> str:
    """Return the name of a loop in a step, using `block` inside it."""
    return f"{block.label.data}.{_numbered(loop.var, [o.var for o in enclosing_loops(block)])}"


def name_of_buffer(func: FuncOp, buffer: SSAValue) -> str:
    """Return the name of a parameter or a temporary in a step."""
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
