"""What a stream needs from memory, and how launches share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.isa import Instruction, Load, Memory, Store


def dram_extents(instructions: Iterable[Instruction], config: Config) -> dict[Memory, int]:
    """The bytes of each memory of DRAM that instructions reach; without those they leave alone."""
    extents: dict[Memory, int] = {}
    for instruction in instructions:
        if isinstance(instruction, Load | Store) and instruction.x_size and instruction.y_size:
            last_row = (instruction.y_size - 1) * instruction.x_stride
            end = instruction.dram_base + last_row + instruction.x_size
            size = end * config.element_bytes(instruction.memory)
            extents[instruction.memory] = max(size, extents.get(instruction.memory, 0))
    return extents


def split_launches(counts: Sequence[int], most: int) -> npt.NDArray[np.uint32]:
    """The first instruction and the end of each core's part of each launch.

    Streams of `counts` instructions lie one behind the other. A launch executes at most `most`
    instructions of each, 0 for all. Shape (launches, cores, 2).
    """
    longest = max(counts)
    step = most or max(1, longest)
    launches = np.arange(0, max(1, longest), step)[:, None, None] + np.array([0, step])
    ends = np.array(counts)[None, :, None]
    starts = np.cumsum([0, *counts[:-1]])[None, :, None]
    return (starts + np.minimum(launches, ends)).astype(np.uint32)
