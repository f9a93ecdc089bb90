"""Bytes that the accesses of a kernel move between the levels of memory.

A buffer that loops walk through is fetched once for each time that its lines have left the cache.
They leave it where the loops between two uses touch more than the cache holds: the classic reuse
distance (Mattson et al., "Evaluation techniques for storage hierarchies", 1970), approximated by
the footprint of whole loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from .work import BufferStream, LoopLevel, StreamAxis


def footprint(stream: BufferStream, axes: Sequence[StreamAxis], line: int) -> int:
    """Return the bytes of the cache lines that a stream touches over some of its loops."""
    steps: list[tuple[int, int]] = []
    count = 1
    for axis in axes:
        if axis.step is None:
            count *= axis.size
        elif axis.step and axis.size > 1:
            steps.append((abs(axis.step), axis.size))
    # Runs grow from the smallest step: a loop whose step is within the run, or within a line of it,
    # makes it longer, and any other loop makes further runs.
    run = 1
    for step, size in sorted(steps):
        if step * stream.element_bytes <= max(run * stream.element_bytes, line):
            run += (size - 1) * step
        else:
            count *= size
    size = count * ceil(run * stream.element_bytes / line) * line
    return min(size, max(stream.buffer_bytes, line))


def traffic(streams: Sequence[BufferStream], capacity: float, line: int) -> int:
    """Return the bytes that one core fetches from beyond a cache of `capacity` bytes."""
    return sum(_fetched(stream, streams, capacity, line) for stream in streams)


def _fetched(
    stream: BufferStream, streams: Sequence[BufferStream], capacity: float, line: int
) -> int:
    """Return the bytes that one core fetches of `stream`, one of the kernel's `streams`.

    The outermost loops whose body fits into the cache reuse what it touched in their iteration
    before; loops around these start anew.
    """
    axes = stream.axes
    depth = 0
    while depth < len(axes):
        around = stream.loops[:depth]
        touched = sum(
            footprint(other, other.axes[depth:], line)
            for other in streams
            if other.loops[:depth] == around
        )
        if touched <= capacity:
            break
        depth += 1
    reusing = max(depth - 1, 0)
    while reusing > 0 and axes[reusing].size == 1:
        reusing -= 1
    return footprint(stream, axes[reusing:], line) * prod(axis.size for axis in axes[:reusing])


def group_traffic(stream: BufferStream, line: int) -> int:
    """Return the bytes that a work-group fetches if its cache holds all that it touches."""
    inside = [axis for axis in stream.axes if axis.level is not LoopLevel.GROUP]
    return footprint(stream, inside, line)
