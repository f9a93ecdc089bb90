"""From which command to which the memory of a program's values is in use.

Commands are numbered in the order of the queue, from 0. A value's memory is that of its root: of
what its chain of `cl.view` starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from .memory import BufferViewOp, ImageViewOp
from .ops import AllocOp, EnqueueCopyOp, EnqueueKernelOp, ViewOp

if TYPE_CHECKING:
    from .program import ProgramOp


@dataclass(frozen=True)
class Lifetime:
    """The commands, both inclusive, that the contents of some memory have to outlive."""

    first: int
    """The first command that writes it."""
    last: int
    """The last one that writes or reads it."""

    def overlaps(self, other: Lifetime) -> bool:
        """Whether some command needs both."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Part:
    """Where a value's bytes are: in the memory of `root`, from byte `offset` on."""

    root: SSAValue
    offset: int


def commands(program: ProgramOp) -> list[Operation]:
    """The launches and copies, in the order of the queue."""
    return [op for op in program.body.block.ops if isinstance(op, EnqueueKernelOp | EnqueueCopyOp)]


def parts(program: ProgramOp) -> dict[SSAValue, Part]:
    """The part of its root that each value is: parameters, results of all operations."""
    found: dict[SSAValue, Part] = {arg: Part(arg, 0) for arg in program.body.block.args}
    for op in program.body.block.ops:
        for result in op.results:
            if isinstance(op, ViewOp):
                source = found[op.source]
                found[result] = Part(source.root, source.offset + op.offset)
            else:
                found[result] = Part(result, 0)
    return found


def roots(program: ProgramOp) -> dict[SSAValue, SSAValue]:
    """The root of each value."""
    return {value: part.root for value, part in parts(program).items()}


def lifetimes(program: ProgramOp) -> dict[SSAValue, Lifetime]:
    """The lifetime of each `cl.alloc`, `cl.buffer_view` and `cl.image_view`, by first write.

    What no command touches has none. The program is verified: a first touch is a write.
    """
    root_of = roots(program)
    first: dict[SSAValue, int] = {}
    last: dict[SSAValue, int] = {}
    for index, op in enumerate(commands(program)):
        for operand in op.operands:
            root = root_of[operand]
            if isinstance(root.owner, AllocOp | BufferViewOp | ImageViewOp):
                first.setdefault(root, index)
                last[root] = index
    return {root: Lifetime(begin, last[root]) for root, begin in first.items()}
