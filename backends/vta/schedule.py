"""The schedule by which the lanes of the OpenCL core share a stream: split loops and barriers.

Both depend only on the stream, so the host computes them once, when a stream is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.isa import Alu, Gemm, Instruction, Load, Memory
from .accesses import Accesses, Indices, accesses_of, tiles_of

Bytes = npt.NDArray[np.uint8]


class Share(IntFlag):
    """How lanes share one instruction; the values are defined in core.cl, too."""

    SPLIT_OUT = 1
    SPLIT_IN = 2
    SPLIT_UOPS = 4
    WAIT_BEFORE = 8
    """A barrier precedes the instruction, because it conflicts with accesses of an earlier one."""


_ACTIVATIONS = (Memory.INP, Memory.ACC_8BIT)
_COLUMNS = (Memory.ACC, Memory.OUT)
_SPLITS = (Share.SPLIT_OUT, Share.SPLIT_IN, Share.SPLIT_UOPS)


def schedule_stream(
    instructions: Sequence[Instruction],
    micro_ops: npt.NDArray[np.uint32],
    config: Config,
    replicas: int,
) -> Bytes:
    """Return a `Share` per instruction, for a core whose columns have `replicas` lanes each.

    `micro_ops` is the memory UOP in DRAM, from which the stream loads the micro-ops that it runs.
    """
    uops = np.zeros(config.depth(Memory.UOP), np.uint32)
    window = _Window(config)
    shares: list[int] = []
    for instruction in instructions:
        share = Share(0)
        if isinstance(instruction, Gemm | Alu) and replicas > 1:
            share = _split_loops(instruction, uops, config, replicas)
        in_columns = isinstance(instruction, Gemm | Alu) and not share
        accesses = accesses_of(instruction, uops, config)
        if window.has_conflict(accesses, in_columns):
            window = _Window(config)
            share |= Share.WAIT_BEFORE
        window.add(accesses, in_columns)
        shares.append(int(share))
        if isinstance(instruction, Load) and instruction.memory is Memory.UOP:
            first, start = instruction.sram_base, instruction.dram_base
            size = instruction.x_size
            uops[first : first + size] = micro_ops[start : start + size]
    return np.array(shares, np.uint8)


def _split_loops(
    instruction: Gemm | Alu, uops: npt.NDArray[np.uint32], config: Config, replicas: int
) -> Share:
    """Return the smallest set of loops whose split leaves each replica the fewest operations.

    Loops may be split if no two parts write the same element, and none reads what another writes.
    """
    tiles = tiles_of(instruction, uops, config)
    extents = tiles.dst.shape
    src = tiles.src if isinstance(instruction, Alu) and not instruction.use_imm else None
    best, least = Share(0), tiles.dst.size
    for count in range(1, len(extents) + 1):
        for axes in combinations(range(len(extents)), count):
            parts = prod(extents[axis] for axis in axes)
            operations = -(-parts // replicas) * (tiles.dst.size // max(1, parts))
            if operations < least and _are_apart(axes, tiles.dst, src, config):
                best, least = Share(sum(_SPLITS[axis] for axis in axes)), operations
    return best


def _are_apart(axes: Sequence[int], dst: Indices, src: Indices | None, config: Config) -> bool:
    """Return whether no element that one part writes is touched by another part.

    Each index of `axes` is a part.
    """
    shape = [size if axis in axes else 1 for axis, size in enumerate(dst.shape)]
    part = np.broadcast_to(np.arange(prod(shape)).reshape(shape), dst.shape)
    writer = np.full(config.depth(Memory.ACC), -1)
    writer[dst] = part
    if not np.array_equal(writer[dst], part):
        return False
    return src is None or bool(np.all((writer[src] == part) | (writer[src] < 0)))


class _Window:
    """The accesses since the last barrier, as marks on elements.

    Accesses of instructions whose loops are not split have separate marks. Such instructions access
    ACC and OUT column by column, and each column belongs to one lane, so they cannot conflict
    there.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._marks: dict[tuple[bool, bool, Memory], Bytes] = {}
        self._loads = False
        self._stores = False

    def has_conflict(self, accesses: Accesses, in_columns: bool) -> bool:
        """Return whether an access could conflict with an earlier one of another lane."""
        if self._stores and _loads_activations(accesses):
            return True  # the memories may share a buffer
        if accesses.dram_writes and (self._loads or self._stores):
            return True
        return self._overlaps(accesses.writes, in_columns, (False, True)) or self._overlaps(
            accesses.reads, in_columns, (True,)
        )

    def add(self, accesses: Accesses, in_columns: bool) -> None:
        """Record the accesses of an instruction."""
        for writes, touched in ((False, accesses.reads), (True, accesses.writes)):
            for memory, elements in touched.items():
                self._marks_of(writes, in_columns, memory)[elements] = 1
        self._loads |= _loads_activations(accesses)
        self._stores |= bool(accesses.dram_writes)

    def _overlaps(
        self, touched: Mapping[Memory, Indices], in_columns: bool, kinds: Sequence[bool]
    ) -> bool:
        return any(
            self._marks_of(writes, columns, memory)[elements].any()
            for memory, elements in touched.items()
            for writes in kinds
            for columns in (False, True)
            if not (in_columns and columns and memory in _COLUMNS)
        )

    def _marks_of(self, writes: bool, in_columns: bool, memory: Memory) -> Bytes:
        key = (writes, in_columns, memory)
        if key not in self._marks:
            self._marks[key] = np.zeros(self._config.depth(memory), np.uint8)
        return self._marks[key]


def _loads_activations(accesses: Accesses) -> bool:
    return any(memory in _ACTIVATIONS for memory in accesses.dram_reads)
