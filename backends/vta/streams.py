"""The memory that a stream needs, and the parts of it that each launch executes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.isa import Instruction, Load, Memory, Store


def dram_extents(instructions: Iterable[Instruction], config: Config) -> dict[Memory, int]:
    """Return the bytes that instructions reach in each memory of DRAM that they access."""
    extents: dict[Memory, int] = {}
    for instruction in instructions:
        if isinstance(instruction, Load | Store) and instruction.x_size and instruction.y_size:
            last_row = (instruction.y_size - 1) * instruction.x_stride
            end = instruction.dram_base + last_row + instruction.x_size
            size = end * config.element_bytes(instruction.memory)
            extents[instruction.memory] = max(size, extents.get(instruction.memory, 0))
    return extents


def split_launches(counts: Sequence[int], most: int) -> npt.NDArray[np.uint32]:
    """Return the first instruction and the end of each core's part of each launch.

    The streams have `counts` instructions and lie one after another. A launch executes at most
    `most` instructions of each stream, or all if `most` is 0. The shape is (launches, cores, 2).
    """
    longest = max(counts)
    step = most or max(1, longest)
    launches = np.arange(0, max(1, longest), step)[:, None, None] + np.array([0, step])
    ends = np.array(counts)[None, :, None]
    starts = np.cumsum([0, *counts[:-1]])[None, :, None]
    return (starts + np.minimum(launches, ends)).astype(np.uint32)
