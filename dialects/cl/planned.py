"""Verification of planned memory: alignment, size and sharing of the values in an arena."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...machine.target import Target
from .. import tir
from .commands import commands
from .images import image_of
from .labels import byte_range, label, title
from .liveness import Lifetime
from .memory import ArenaOp, BufferViewOp, ImageViewOp
from .placement import Extent, MemorySlice, extent

if TYPE_CHECKING:
    from .program import ProgramOp

# By kind of image: the target fact for whether it can be a view of a buffer.
_VIEW_FACTS = {
    tir.ImageKind.Buffer: "image1d_buffer",
    tir.ImageKind.Image2D: "image_from_buffer",
}


def verify_arena(op: ArenaOp, target: Target) -> None:
    """Raise VerifyException for an arena that exceeds the largest buffer of `target`."""
    if op.size > target.device.max_alloc_bytes > 0:
        raise VerifyException(
            f"{label(op.result)} has {op.size} bytes, but {target.name} limits a buffer to "
            f"{target.device.max_alloc_bytes}; divide the arena into several"
        )


def verify_image_view(op: ImageViewOp, target: Target) -> None:
    """Raise VerifyException for an image view that `target` does not support."""
    image = image_of(op.result.type)
    assert image is not None, "an image_view that verified"
    if not target.facts[_VIEW_FACTS[image.kind]]:
        raise VerifyException(
            f"{label(op.result)} is an {image.kind.value} over {label(op.arena)}, but "
            f"{target.name} does not support such views; keep its cl.alloc"
        )
    alignment = target.device.image_pitch_alignment_bytes
    if op.pitch is not None and (alignment == 0 or op.pitch % alignment):
        raise VerifyException(
            f"the pitch of {label(op.result)}, {op.pitch} bytes, must be a multiple of the "
            f"{alignment} bytes that {target.name} requires"
        )


def verify_aligned(op: Operation, value: SSAValue, at: Extent, target: Target) -> None:
    """Raise VerifyException if a sub-buffer cannot start at the first byte of `value`.

    Its origin must be a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN (OpenCL 1.2, clCreateSubBuffer).
    It is a sub-buffer of the whole arena or of the caller's buffer, since OpenCL does not allow a
    sub-buffer of a sub-buffer.
    """
    alignment = target.device.image_base_alignment_bytes
    if at.begin % alignment:
        raise VerifyException(
            f"{title(op)} uses {label(value)} from byte {at.begin} of {label(at.memory)} on, but "
            f"{target.name} requires views to start at multiples of {alignment} bytes"
        )


def verify_sharing(program: ProgramOp, lives: Mapping[SSAValue, Lifetime]) -> None:
    """Raise VerifyException if two values in an arena share bytes and are live at once.

    A sweep in the order of first writes keeps the live values sorted by their first bytes: O(n log
    n) for n values. The last command of one value may be the first command of the next; whether
    that command may read the one and write the other depends on its arguments, not on lifetimes.
    """
    live: defaultdict[SSAValue, _Live] = defaultdict(_Live)
    leaving: list[tuple[int, int, Extent]] = []
    in_arenas = [v for v in lives if isinstance(v.owner, BufferViewOp | ImageViewOp)]
    for number, value in enumerate(in_arenas):
        life, at = lives[value], extent(value, MemorySlice(value, 0))
        while leaving and leaving[0][0] <= life.first:
            _, _, gone = heappop(leaving)
            live[gone.memory].remove(gone)
        other = live[at.memory].add(value, at)
        if other is not None:
            raise VerifyException(_conflict(program, lives, other, value))
        heappush(leaving, (life.last + life.is_held, number, at))


class _Live:
    """The live values of an arena, by their first byte; no two share a byte."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.entries: list[tuple[Extent, SSAValue]] = []

    def add(self, value: SSAValue, at: Extent) -> SSAValue | None:
        """Add `value`; return a live value with which it shares a byte, or None."""
        position = bisect_left(self.begins, at.begin)
        for extent_, other in self.entries[max(0, position - 1) : position + 1]:
            if extent_.overlaps(at):
                return other
        self.begins.insert(position, at.begin)
        self.entries.insert(position, (at, value))
        return None

    def remove(self, at: Extent) -> None:
        """Remove the value that starts at the first byte of `at`."""
        position = bisect_left(self.begins, at.begin)
        del self.begins[position], self.entries[position]


def _conflict(
    program: ProgramOp, lives: Mapping[SSAValue, Lifetime], older: SSAValue, newer: SSAValue
) -> str:
    first, second = (extent(value, MemorySlice(value, 0)) for value in (older, newer))
    shared = byte_range(max(first.begin, second.begin), min(first.end, second.end))
    queue, last = commands(program), lives[older].last
    return (
        f"{title(queue[lives[newer].first])} writes {label(newer)} over {shared} of "
        f"{label(first.memory)}, which {label(older)} needs until command {last}, "
        f"{title(queue[last])}; give them different bytes"
    )
