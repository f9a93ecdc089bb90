"""Constants that a CPU's kernel reads from memory, since no cache holds them between two launches.

Hardware fetches ahead within a page, and of few places at once. A kernel that asks for the weights
of later steps itself computes while they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .space import Choice, Parameter, Params

AHEAD = "ahead"
_DISTANCES = (0, 2048, 4096, 8192)
_SHARE = 1 / 3
"""Of the first cache, what lines that wait for their use may take: with more, they evict others."""

AHEAD_PARAMETER = Parameter(
    AHEAD,
    "bytes ahead of their use at which weights are fetched; 0 leaves it to the hardware",
    Choice((*_DISTANCES, 16384)),
)


@dataclass(frozen=True)
class Streams:
    """The constants that a block reads, one after the other, from one place or several."""

    target: cl.Target
    size: int
    """Their bytes."""

    @staticmethod
    def of(func: tir.FuncOp, block: tir.BlockOp, target: cl.Target) -> Streams:
        return Streams(target, sum(map(buffer_bytes, _constants(func, block))))

    def ahead(self, places: int) -> int:
        """The distance at which a tile that reads so many places fetches the constants of each.

        It is 0 where the second cache may still hold them from the launch before.
        """
        if self.size <= self.target.l2_cache_bytes / 2:
            return 0
        room = self.target.l1_cache_bytes * _SHARE
        return max(distance for distance in _DISTANCES if places * distance <= room)


def fetch_ahead(schedule: Schedule, block: tir.BlockOp, params: Params) -> None:
    """Fetch the constants of a block as the plan says."""
    if distance := params.number(AHEAD):
        for buffer in _constants(schedule.func, block):
            schedule.fetch_ahead(block, buffer, distance)


def buffer_bytes(buffer: SSAValue) -> int:
    """The bytes of a buffer without gaps."""
    type_ = memref_of(buffer)
    return prod(type_.get_shape()) * cast(FixedBitwidthType, type_.element_type).size


def _constants(func: tir.FuncOp, block: tir.BlockOp) -> list[SSAValue]:
    read = {load.memref for load in block.loads()}
    return [func.params[i] for i in func.constant_indices if func.params[i] in read]
