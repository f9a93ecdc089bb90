"""Where a program's values are in memory.

A value is in the memory of its root, the value at which its chain of `cl.view` starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from .memory import BufferViewOp, ImageViewOp, stored_bytes
from .ops import ViewOp
from .repeat import RowOp

if TYPE_CHECKING:
    from .program import ProgramOp


@dataclass(frozen=True)
class MemorySlice:
    """The location of a value: the bytes of the memory of `root` from `offset` on."""

    root: SSAValue
    offset: int


@dataclass(frozen=True)
class Extent:
    """A range of bytes in a buffer or image object, or in the arena that contains it."""

    memory: SSAValue
    begin: int
    end: int
    """One past the last byte."""

    def overlaps(self, other: Extent) -> bool:
        """Return whether both contain a common byte."""
        return self.memory is other.memory and self.begin < other.end and other.begin < self.end

    def contains(self, other: Extent) -> bool:
        """Return whether every byte of the other is a byte of this one."""
        return self.memory is other.memory and self.begin <= other.begin and other.end <= self.end


def parts(program: ProgramOp) -> dict[SSAValue, MemorySlice]:
    """Return the location of each value: of parameters, and of the results of all operations.

    The location of a row is that in the first iteration.
    """
    found: dict[SSAValue, MemorySlice] = {
        arg: MemorySlice(arg, 0) for arg in program.body.block.args
    }
    for op in program.body.block.ops:
        for result in op.results:
            if isinstance(op, ViewOp | RowOp):
                source = found[op.source]
                found[result] = MemorySlice(source.root, source.offset + start_of(op))
            else:
                found[result] = MemorySlice(result, 0)
    return found


def start_of(op: ViewOp | RowOp) -> int:
    """Return the byte of its source at which a view begins, or a row in the first iteration."""
    return op.start if isinstance(op, RowOp) else op.offset


def roots(program: ProgramOp) -> dict[SSAValue, SSAValue]:
    """Return the root of each value."""
    return {value: part.root for value, part in parts(program).items()}


def extent(value: SSAValue, part: MemorySlice) -> Extent:
    """Return the bytes of `value` at `part`; an image takes all its rows with their pitch."""
    owner = part.root.owner
    pitch = owner.pitch if isinstance(owner, ImageViewOp) else None
    size = stored_bytes(value.type, pitch if value is part.root else None)
    if isinstance(owner, BufferViewOp | ImageViewOp):
        begin = owner.offset + part.offset
        return Extent(owner.arena, begin, begin + size)
    return Extent(part.root, part.offset, part.offset + size)
