"""The figures of a memory report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BUFFER, IMAGE, IN_PLACE, SEPARATE = KINDS = ("buffer", "image", "in place", "separate")


@dataclass(frozen=True)
class MemoryRow:
    """One intermediate: its memory, which its views (`cl.view`) share."""

    name: str
    """Its name in the program's text, without a numeric suffix that makes names unique."""
    node: str
    """The ONNX node that writes it first; the kernel if the program has no names of nodes."""
    type: str
    kind: str
    """One of `KINDS`: a buffer or an image in an arena; a buffer that takes over the bytes of one
    that the same launch reads for the last time; or a value outside of arenas."""
    bytes: int
    """The bytes that it occupies: all rows of an image, including padding."""
    content: int
    """The bytes of its elements."""
    first: int
    """Index of the first command that writes it; commands are counted from 0."""
    last: int
    """Index of the last command that uses it."""
    kernels: tuple[str, ...]
    """The kernels that use it, in queue order; a copy is `copy`, and a command of a graph
    is `toy.product @toy_0[3]`."""
    arena: int | None = None
    offset: int | None = None
    """The offset of its first byte in its arena."""
    pitch: int | None = None
    """Bytes between the rows of a 2-D image in an arena."""


@dataclass(frozen=True)
class Waste:
    """Unused bytes of the arenas at the busiest command, by cause."""

    pitch: int
    """The padding of rows of images that are live at `MemoryReport.busiest`, which is part of the
    lower bound."""
    alignment: int
    """The additional bytes of the arenas because views start at multiples of the target's
    alignment: the most live bytes with all sizes but one rounded up, minus the lower bound."""
    fragmentation: int
    """The rest: arenas - lower bound - alignment."""


@dataclass(frozen=True)
class MemoryReport:
    """Memory of one inference, in bytes.

    `total` is everything that the device holds for the model: the program's own memory, and the
    buffers of its inputs and outputs. It does not count the memory of the driver and of the
    kernels' code.
    """

    rows: tuple[MemoryRow, ...]
    """The intermediates by first write."""
    commands: tuple[str, ...]
    """The node of each command, in queue order."""
    live: tuple[int, ...]
    """Bytes of the arenas that are in use at each command. A launch that computes in place has its
    input and output in the same bytes, which count once."""
    arenas: tuple[int, ...]
    """The size of each arena."""
    waste: Waste
    separate: int
    """The number of image objects and buffers outside of arenas."""
    separate_bytes: int
    """The bytes of these objects. Images with equal shapes and texels share an object if possible.
    """
    without_views: int
    """The bytes of intermediates on a device that cannot back images by buffers."""
    objects_without_views: int
    """The number of image objects on such a device."""
    weights: int
    graph_weights: int
    """The weights that are constants of graphs, estimated if only the device knows their size."""
    inputs: int
    outputs: int
    without_reuse: int
    """The bytes of all intermediates if each had separate memory."""

    @property
    def lower_bound(self) -> int:
        """The most bytes live at one command, without alignment: no arena can be smaller."""
        return max(self.live, default=0)

    @property
    def busiest(self) -> int | None:
        """The first command that reaches the lower bound; None without commands."""
        return self.live.index(self.lower_bound) if self.live else None

    @property
    def peak(self) -> int:
        """The bytes of the arenas up to the end of their last values."""
        return used_bytes(self.rows)

    @property
    def arena_bytes(self) -> int:
        """The bytes of all arenas together."""
        return sum(self.arenas)

    @property
    def ratio(self) -> float:
        """The ratio of the arenas to the lower bound: 1 is optimal, also 1 without arenas."""
        return self.arena_bytes / self.lower_bound if self.lower_bound else 1.0

    @property
    def total(self) -> int:
        """Everything that the device holds for the model."""
        made = self.arena_bytes + self.separate_bytes + self.weights
        return made + self.inputs + self.outputs


def used_bytes(rows: Iterable[MemoryRow]) -> int:
    """Return the bytes of all arenas up to the ends of the last of `rows`."""
    ends: dict[int, int] = {}
    for row in rows:
        if row.arena is not None and row.offset is not None:
            ends[row.arena] = max(ends.get(row.arena, 0), row.offset + row.bytes)
    return sum(ends.values())
