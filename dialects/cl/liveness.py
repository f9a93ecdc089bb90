"""Lifetimes of a program's values: the commands during which their memory is in use.

Commands are numbered in queue order from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from .commands import Command, Repetition, commands, repetitions
from .memory import BufferViewOp, ImageViewOp
from .ops import AllocOp
from .placement import roots
from .repeat import row_of

if TYPE_CHECKING:
    from .program import ProgramOp


@dataclass(frozen=True)
class Lifetime:
    """The range of commands, inclusive, from the first write of some memory to its last use."""

    first: int
    """The first command that writes it."""
    last: int
    """The last command that reads or writes it."""
    is_held: bool = False
    """Whether the next iteration of a repetition, whose last command this is, needs it again."""

    def overlaps(self, other: Lifetime) -> bool:
        """Return whether some command needs both."""
        return self.first <= other.last and other.first <= self.last


def lifetimes(program: ProgramOp) -> dict[SSAValue, Lifetime]:
    """Return the lifetime of each `cl.alloc`, `cl.buffer_view` and `cl.image_view`, by first write.

    The lifetime of a value includes the uses of its views; a value that no command uses has none.
    The program must be verified, so that the first use of a value is a write. A value that a
    repetition uses, but does not write anew in each iteration, lives until its end.
    """
    root_of = roots(program)
    first: dict[SSAValue, int] = {}
    last: dict[SSAValue, int] = {}
    queue = commands(program)
    for index, op in enumerate(queue):
        for operand in op.operands:
            root = root_of[operand]
            if isinstance(root.owner, AllocOp | BufferViewOp | ImageViewOp):
                first.setdefault(root, index)
                last[root] = index
    held: dict[SSAValue, int] = {}
    for part in repetitions(queue):
        for root in _kept(part, queue, root_of, first):
            first[root] = min(first[root], part.first)
            last[root] = max(last[root], part.end - 1)
            held[root] = part.end - 1
    return {
        root: Lifetime(begin, last[root], held.get(root) == last[root])
        for root, begin in sorted(first.items(), key=lambda item: item[1])
    }


def _kept(
    part: Repetition,
    queue: Sequence[Command],
    root_of: Mapping[SSAValue, SSAValue],
    first: Mapping[SSAValue, int],
) -> Iterator[SSAValue]:
    """Yield the values that must keep their bytes from one iteration to the next."""
    for op in queue[part.first : part.end]:
        for operand in op.operands:
            root = root_of[operand]
            is_written_before = first.get(root, part.end) < part.first
            if root in first and (is_written_before or row_of(operand) is not None):
                yield root
