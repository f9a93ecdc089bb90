"""Where the bytes of a program's values lie.

A value's memory is that of its root: of what its chain of `cl.view` starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from .memory import BufferViewOp, ImageViewOp, stored_bytes
from .ops import ViewOp

if TYPE_CHECKING:
    from .program import ProgramOp


@dataclass(frozen=True)
class Part:
    """Where a value's bytes are: in the memory of `root`, from byte `offset` on."""

    root: SSAValue
    offset: int


@dataclass(frozen=True)
class Extent:
    """Bytes of a buffer or image object: of an arena where a value lies in one."""

    memory: SSAValue
    begin: int
    end: int
    """The first byte behind them."""

    def overlaps(self, other: Extent) -> bool:
        """Whether some byte belongs to both."""
        return self.memory is other.memory and self.begin < other.end and other.begin < self.end


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


def extent(value: SSAValue, part: Part) -> Extent:
    """The bytes of `value`, which is `part` of its root; all rows of an image with their pitch."""
    owner = part.root.owner
    pitch = owner.pitch if isinstance(owner, ImageViewOp) else None
    size = stored_bytes(value.type, pitch if value is part.root else None)
    if isinstance(owner, BufferViewOp | ImageViewOp):
        begin = owner.offset + part.offset
        return Extent(owner.arena, begin, begin + size)
    return Extent(part.root, part.offset, part.offset + size)
