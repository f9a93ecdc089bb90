"""Reads the clock around kernels on a CPU device."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyopencl as cl

from ..build import build_kernels
from ..cache import BinaryCache
from ..devices import Device
from .kernels import LANES, Copy, Tile, source_of

WIDTHS = (8, 16)
"""The vectors that are compared: 256 and 512 bits."""

_TILE_SHAPES = {8: (6, 2), 16: (8, 3)}
"""Rows and vectors of the tiles, for 16 and for 32 vector registers."""

_ITEMS_EACH = 4
"""Work-items of a tile for each compute unit."""
_ITEM_MADS = 4_000_000
"""Multiply-adds of such a work-item: some 50 microseconds."""
_SHORT_ITEM_MADS = 400_000
"""Multiply-adds of a work-item of a small kernel: some 10 microseconds; all cores start in that."""
_PART_VECTORS = 256
"""Vectors that a work-item copies: enough to hide its start."""
_PART_BYTES = 4 * LANES * _PART_VECTORS
_COPIED_BYTES = 64 << 20
"""Of each of two buffers: together more than the caches of most processors."""

_ROUNDS = 25
_COPIES = 9
_SHARED = 1.25
"""Seconds of processors in a second of the wall, where several work."""
_BATCHES = 25
_LAUNCHES = 40


@dataclass(frozen=True)
class Readings:
    """What the clock said, in seconds."""

    tiles: Sequence[Sequence[float]]
    """For each round, the processor time of a multiply-add in vectors of each of `WIDTHS`."""
    copies: Sequence[float]
    """The time of each byte that a large copy reads or writes, for each copy: by the clock of the
    wall or, where that is less, the processor's. Several cores are faster together, and a core that
    a neighbour took away has not copied."""
    launches: Sequence[float]
    """The time that a launch adds to the work of small kernels, for each series of them. Each waits
    for the one before it on all cores, as those of a network do. Empty if only one core worked."""


@dataclass(frozen=True)
class Kernels:
    """The kernels that are timed on a device."""

    device: Device
    tiles: Sequence[Tile]
    copy: Copy
    small: Tile

    @classmethod
    def of(cls, device: Device) -> Kernels:
        """Return the kernels that keep all cores of `device` busy."""
        units = device.compute_units
        tiles = [_tile(width, units * _ITEMS_EACH, _ITEM_MADS) for width in WIDTHS]
        most = min(_COPIED_BYTES, device.handle.max_mem_alloc_size)
        copy = Copy(max(units, most // _PART_BYTES), _PART_VECTORS)
        return cls(device, tiles, copy, _tile(WIDTHS[0], units * _LAUNCHES, _SHORT_ITEM_MADS))

    @property
    def all(self) -> Sequence[Tile | Copy]:
        """All of them."""
        return *self.tiles, self.copy, self.small

    @cached_property
    def source(self) -> str:
        """The OpenCL C of the kernels."""
        return source_of(self.all)

    def build(self) -> Built:
        """Compile the kernels. Raises pyopencl's errors for a driver that does not."""
        context = cl.Context([self.device.handle])
        names = [kernel.name for kernel in self.all]
        # No cache on disk: calibration is rare, and its kernels change with the number of cores.
        none = BinaryCache(None)
        built = build_kernels(context, self.device, self.source, names, none)
        return Built(self, context, built.programs)


@dataclass(frozen=True)
class Built:
    """The kernels, compiled."""

    kernels: Kernels
    context: cl.Context
    programs: Mapping[str, cl.Program]


def read(built: Built) -> Readings:
    """Time the kernels on their device. Raises pyopencl's errors if it does not run them.

    Widths take turns, so that a neighbour's load on the machine disturbs all of them alike.
    """
    kernels, device = built.kernels, built.kernels.device
    bench = _Bench(built.context, cl.CommandQueue(built.context, device.handle))
    for kernel in kernels.all:
        bench.prepare(built.programs[kernel.name], kernel)
    tiles, copy = kernels.tiles, kernels.copy
    moved = 2 * copy.items * _PART_BYTES
    return Readings(
        [[bench.time(t.name, t.items).processor / t.mads for t in tiles] for _ in range(_ROUNDS)],
        [min(bench.time(copy.name, copy.items)) / moved for _ in range(_COPIES)],
        _launches(bench, kernels.small, device.compute_units),
    )


def _launches(bench: _Bench, small: Tile, units: int) -> list[float]:
    """Seconds that each launch adds, in series of launches with one work-item for each core.

    None where a busy machine leaves all work to one core, which then never waits for others.
    """

    def shared(launches: int, items: int) -> list[float]:
        times = (bench.time(small.name, items, launches) for _ in range(_BATCHES))
        return [t.wall for t in times if units == 1 or t.processor > _SHARED * t.wall]

    series, whole = shared(_LAUNCHES, units), shared(1, units * _LAUNCHES)
    # One launch of all the work, undisturbed; it has a start of its own.
    least = min(whole, default=math.inf)
    return [max(0.0, time - least) / (_LAUNCHES - 1) for time in series if whole]


def _tile(width: int, items: int, mads: int) -> Tile:
    rows, vectors = _TILE_SHAPES[width]
    once = Tile(width, rows, vectors, items=1, rounds=1).mads
    return Tile(width, rows, vectors, items, rounds=mads // once)


class Seconds(NamedTuple):
    """A time by two clocks."""

    wall: float
    processor: float
    """Of all threads of this process, which neighbours do not stretch."""


def _now() -> Seconds:
    wall = time.perf_counter()
    # Windows counts processor time in steps of 16 milliseconds.
    is_fine = time.get_clock_info("process_time").resolution < 1e-6
    return Seconds(wall, time.process_time() if is_fine else wall)


class _Bench:
    """Kernels with their buffers."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        self._kernels: dict[str, cl.Kernel] = {}
        self._buffers: list[cl.Buffer] = []  # a kernel does not keep its arguments

    def prepare(self, program: cl.Program, kernel: Tile | Copy) -> None:
        """Make the buffers of `kernel`, write to them, and run it once."""
        built = self._kernels[kernel.name] = cl.Kernel(program, kernel.name)
        for index, floats in enumerate(kernel.sizes):
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, 4 * floats)
            # Memory that nobody has written to is one page of zeros, always in the cache.
            cl.enqueue_fill_buffer(self._queue, buffer, np.full(1, 0.5, np.float32), 0, 4 * floats)
            built.set_arg(index, buffer)
            self._buffers.append(buffer)
        self.time(kernel.name, kernel.items)

    def time(self, name: str, items: int, launches: int = 1) -> Seconds:
        """The time that some launches of the first `items` work-items take together."""
        kernel = self._kernels[name]
        start = _now()
        for _ in range(launches):
            cl.enqueue_nd_range_kernel(self._queue, kernel, (items,), (1,))
        self._queue.finish()
        end = _now()
        return Seconds(end.wall - start.wall, end.processor - start.processor)
