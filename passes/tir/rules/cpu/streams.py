"""Constants that are evicted between launches, so that a CPU's kernel reads them from memory.

Hardware prefetchers stay within a page and follow few streams at once. A kernel that prefetches the
weights of later steps computes while they arrive.
"""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from .....dialects import cl, tir
from .....machine.core import LINE_BYTES
from ...schedule import Schedule
from ...schedule.analysis import memref_of
from ..space import Choice, Params, number

_DISTANCES = (0, 2048, 4096, 8192)
_SHARE = 1 / 3
"""Share of L1 that prefetched lines may occupy; beyond it they evict each other."""

AHEAD = number(
    "ahead", "bytes ahead of their use at which weights are fetched; 0 leaves it to the hardware"
)
AHEAD_DOMAIN = Choice((*_DISTANCES, 16384))


def ahead(size: int, places: int, target: cl.Target) -> int:
    """Return the distance at which a tile should fetch constants of `size` bytes from each place.

    It is 0 if L2 may still hold them from the launch before. It is 0 as well if vectors are shorter
    than lines, because each line would be fetched several times: with 8 lanes, 1x1 convolutions
    take 1.1 to 1.3 times as long then (measured on Zen 3 with Intel's runtime).
    """
    if not (is_streamed(size, target) and loads_read_lines(target)):
        return 0
    room = target.machine.l1_cache_bytes * _SHARE
    return max(distance for distance in _DISTANCES if places * distance <= room)


def is_streamed(size: int, target: cl.Target) -> bool:
    """Return whether L2 evicts constants of `size` bytes between launches."""
    return size > target.machine.l2_cache_bytes / 2


def loads_read_lines(target: cl.Target) -> bool:
    """Return whether each load of a vector reads at least a line of the caches."""
    return 4 * target.machine.vector_width >= LINE_BYTES


def stream_bytes(func: tir.FuncOp, block: tir.BlockOp) -> int:
    """Return the bytes of the constants that a block reads."""
    return sum(map(buffer_bytes, _constants(func, block)))


def fetch_ahead(schedule: Schedule, block: tir.BlockOp, params: Params) -> None:
    """Fetch the constants of a block as far ahead as the plan says."""
    if distance := params.number(AHEAD.name):
        for buffer in _constants(schedule.func, block):
            schedule.fetch_ahead(block, buffer, distance)


def buffer_bytes(buffer: SSAValue) -> int:
    """Return the bytes of a buffer without gaps."""
    type_ = memref_of(buffer)
    return prod(type_.get_shape()) * cast(FixedBitwidthType, type_.element_type).size


def _constants(func: tir.FuncOp, block: tir.BlockOp) -> list[SSAValue]:
    read = {load.memref for load in block.loads()}
    return [func.params[i] for i in func.constant_indices if func.params[i] in read]
