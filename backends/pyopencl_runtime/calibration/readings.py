"""Timing of kernels on a CPU device."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyopencl as cl

from ..build import build_kernels
from ..cache import BinaryCache
from ..devices import Device
from ..processor_time import processor_seconds
from .kernels import (
    LANES,
    CalibrationKernel,
    CopyKernel,
    TileKernel,
    TurnsKernel,
    source_of,
)

WIDTHS = (8, 16)
"""The vector widths that are compared: 256 and 512 bits."""

_TILE_SHAPES = {8: (6, 2), 16: (8, 3)}
"""Rows and vectors per row of the tiles, sized for 16 and for 32 vector registers."""

_ITEMS_EACH = 4
"""Work-items of a tile per compute unit."""
_ITEM_MADS = 4_000_000
"""Multiply-adds of such a work-item: some 50 microseconds."""
_SHORT_ITEM_MADS = 1_000_000
"""Multiply-adds of a work-item of a small kernel: 15 to 30 microseconds, in which all cores start.
"""
_PART_VECTORS = 256
"""Vectors that a work-item copies: enough to hide its start-up cost."""
_PART_BYTES = 4 * LANES * _PART_VECTORS
_COPIED_BYTES = 64 << 20
"""Bytes of each of two buffers: together they exceed the caches of most processors."""

_ROUNDS = 25
_COPIES = 9
_SHARED = 1.1
"""Processor seconds per second of wall time from which on several cores are known to work."""
_BATCHES = 25
_LAUNCHES = 40
_TURNS = 8
"""Turns of a kernel; compilers may copy its text for each."""


@dataclass(frozen=True)
class Readings:
    """Measured times, in seconds."""

    tiles: Sequence[Sequence[float]]
    """Per round, the processor time of one multiply-add in vectors of each of `WIDTHS`."""
    copies: Sequence[float]
    """Per copy, the time of one byte read or written: wall time or, if that is less, processor
    time. Several cores copy faster together (wall time), and time during which another process held
    the core does not count (processor time)."""
    launches: Sequence[float]
    """Per series of small kernels, the time that each launch adds. Each launch waits for the
    previous one on all cores, as in a network. Empty if only one core worked."""
    turns: Sequence[float] = ()
    """Per launch in which the small kernel takes several turns, the time that each turn adds."""


@dataclass(frozen=True)
class Kernels:
    """The kernels that are timed on a device."""

    device: Device
    tiles: Sequence[TileKernel]
    copy: CopyKernel
    small: TileKernel
    turns: TurnsKernel

    @classmethod
    def of(cls, device: Device) -> Kernels:
        """Return the kernels that keep all cores of `device` busy."""
        units = device.compute_units
        tiles = [_tile(width, units * _ITEMS_EACH, _ITEM_MADS) for width in WIDTHS]
        most = min(_COPIED_BYTES, device.handle.max_mem_alloc_size)
        copy = CopyKernel(max(units, most // _PART_BYTES), _PART_VECTORS)
        small = _tile(WIDTHS[0], units * _LAUNCHES, _SHORT_ITEM_MADS)
        turns = TurnsKernel(replace(small, items=units), _TURNS)
        return cls(device, tiles, copy, small, turns)

    @property
    def all(self) -> Sequence[CalibrationKernel]:
        """All kernels of the measurement."""
        return *self.tiles, self.copy, self.small, self.turns

    @cached_property
    def source(self) -> str:
        """The OpenCL C of the kernels."""
        return source_of(self.all)

    def build(self) -> Built:
        """Compile the kernels. Raises pyopencl's errors if the driver cannot."""
        context = cl.Context([self.device.handle])
        names = [kernel.name for kernel in self.all]
        # No cache on disk: calibration is rare, and its kernels depend on the number of cores.
        none = BinaryCache(None)
        built = build_kernels(context, self.device, self.source, names, none)
        return Built(self, context, built.programs)


@dataclass(frozen=True)
class Built:
    """The compiled kernels."""

    kernels: Kernels
    context: cl.Context
    programs: Mapping[str, cl.Program]


def read(built: Built) -> Readings:
    """Time the kernels on their device.

    Raises pyopencl's errors if it cannot run them.

    The widths alternate, so that other load on the machine disturbs both alike.
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
        _turns(bench, kernels, device.compute_units),
    )


def _launches(bench: _Bench, small: TileKernel, units: int) -> list[float]:
    """Return the seconds that each launch adds, per series with one work-item per core and launch.

    Series in which a busy machine left all work to one core are excluded, since that core never
    waits for others.
    """

    def shared(launches: int, items: int) -> list[float]:
        times = (bench.time(small.name, items, launches) for _ in range(_BATCHES))
        return [t.wall for t in times if units == 1 or t.processor > _SHARED * t.wall]

    series, whole = shared(_LAUNCHES, units), shared(1, units * _LAUNCHES)
    # The reference is a single launch of all the work, undisturbed; it includes one start.
    least = min(whole, default=math.inf)
    return [max(0.0, time - least) / (_LAUNCHES - 1) for time in series if whole]


def _turns(bench: _Bench, kernels: Kernels, units: int) -> list[float]:
    """Return the seconds that each turn adds, per launch with one work-item per core and turn.

    A launch of the same work without turns follows each, so that load affects both alike.
    """

    def added() -> float:
        turns = bench.time(kernels.turns.name, units).wall
        return max(0.0, turns - bench.time(kernels.small.name, units * _TURNS).wall)

    return [added() / (_TURNS - 1) for _ in range(_BATCHES)]


def _tile(width: int, items: int, mads: int) -> TileKernel:
    rows, vectors = _TILE_SHAPES[width]
    once = TileKernel(width, rows, vectors, items=1, rounds=1).mads
    return TileKernel(width, rows, vectors, items, rounds=mads // once)


class Seconds(NamedTuple):
    """A time by two clocks."""

    wall: float
    processor: float
    """Of all threads of this process; other processes do not lengthen it."""


def _now() -> Seconds:
    wall = time.perf_counter()
    # Windows counts processor time in steps of 16 ms, which is too coarse.
    is_fine = time.get_clock_info("process_time").resolution < 1e-6
    return Seconds(wall, processor_seconds() if is_fine else wall)


class _Bench:
    """The kernels of a measurement with their buffers, on a queue."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        self._kernels: dict[str, cl.Kernel] = {}
        self._buffers: list[cl.Buffer] = []  # kernels do not keep their arguments alive
        self._counters: dict[str, cl.Buffer] = {}
        """The counters of kernels with turns, which are zero before each launch."""

    def prepare(self, program: cl.Program, kernel: CalibrationKernel) -> None:
        """Allocate and initialise the buffers of `kernel` and run it once."""
        built = self._kernels[kernel.name] = cl.Kernel(program, kernel.name)
        for index, floats in enumerate(kernel.sizes):
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, 4 * floats)
            # Pages that were never written share one page of zeros, which would always be in the
            # cache.
            cl.enqueue_fill_buffer(self._queue, buffer, np.full(1, 0.5, np.float32), 0, 4 * floats)
            built.set_arg(index, buffer)
            self._buffers.append(buffer)
            if index == 0 and isinstance(kernel, TurnsKernel):
                self._counters[kernel.name] = buffer
        self.time(kernel.name, kernel.items)

    def time(self, name: str, items: int, launches: int = 1) -> Seconds:
        """Return the total time of some launches of the first `items` work-items."""
        kernel = self._kernels[name]
        if counters := self._counters.get(name):
            zero = np.zeros(1, np.int32)
            cl.enqueue_fill_buffer(self._queue, counters, zero, 0, counters.size).wait()
        start = _now()
        for _ in range(launches):
            cl.enqueue_nd_range_kernel(self._queue, kernel, (items,), (1,))
        self._queue.finish()
        end = _now()
        return Seconds(end.wall - start.wall, end.processor - start.processor)
