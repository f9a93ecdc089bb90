"""Constants that a CPU's kernel reads from memory, since no cache holds them between two launches.

Hardware fetches ahead within a page, and of few places at once. A kernel that asks for the weights
of later steps itself computes while they come.
"""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .space import Choice, Parameter, Params

AHEAD = "ahead"
_DISTANCE = 8192
"""Bytes: on Zen 5, half and twice of it take up to a tenth longer (PoCL and Intel's runtime)."""

AHEAD_PARAMETER = Parameter(
    AHEAD,
    "bytes ahead of their use at which weights are fetched; 0 leaves it to the hardware",
    Choice((0, 2048, 4096, _DISTANCE, 16384)),
)


def default_ahead(func: tir.FuncOp, block: tir.BlockOp, target: cl.Target) -> int:
    """The distance, 0 where the second cache may still hold the constants of a block."""
    size = sum(buffer_bytes(buffer) for buffer in _constants(func, block))
    return _DISTANCE if size > target.l2_cache_bytes / 2 else 0


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
