"""Lifetimes of a program's values: the commands during which their memory is in use.

Commands are numbered in queue order from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from .commands import commands
from .memory import BufferViewOp, ImageViewOp
from .ops import AllocOp
from .placement import roots

if TYPE_CHECKING:
    from .program import ProgramOp


@dataclass(frozen=True)
class Lifetime:
    """The range of commands, inclusive, from the first write of some memory to its last use."""

    first: int
    """The first command that writes it."""
    last: int
    """The last command that reads or writes it."""

    def overlaps(self, other: Lifetime) -> bool:
        """Return whether some command needs both."""
        return self.first <= other.last and other.first <= self.last


def lifetimes(program: ProgramOp) -> dict[SSAValue, Lifetime]:
    """Return the lifetime of each `cl.alloc`, `cl.buffer_view` and `cl.image_view`, by first write.

    The lifetime of a value includes the uses of its views; a value that no command uses has none.
    The program must be verified, so that the first use of a value is a write.
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
