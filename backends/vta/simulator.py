"""A numpy simulator of the instruction set, which is the reference for the core.

It works on decoded instructions and shares no code with the core. Scratchpads are arrays that keep
their contents between runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.isa import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Store,
)
from .accesses import PAD_OF, PADDING, Indices, rectangle_of, tiles_of

Array: TypeAlias = npt.NDArray[Any]
Int32: TypeAlias = npt.NDArray[np.int32]

Dram: TypeAlias = Mapping[Memory, Array]
"""Every memory in DRAM as an array of elements; arrays may share bytes.

Shapes: UOP (n), WGT (n, block_out, block_in), INP (n, batch, block_in), ACC, ACC_8BIT and OUT (n,
batch, block_out). The type is int8, except for UOP (uint32) and ACC (int32)."""


def make_dram(config: Config, arrays: Mapping[Memory, npt.ArrayLike]) -> Dram:
    """Return memories with the elements of `arrays`, reshaped; the other memories are empty."""
    return {
        memory: np.asarray(arrays.get(memory, []), element_type(memory)).reshape(
            -1, *element_shape(memory, config)
        )
        for memory in Memory
    }


def element_type(memory: Memory) -> type[np.generic]:
    """Return the type of the values in an element of a memory in DRAM; micro-ops are encoded."""
    types: Mapping[Memory, type[np.generic]] = {Memory.UOP: np.uint32, Memory.ACC: np.int32}
    return types.get(memory, np.int8)


def element_shape(memory: Memory, config: Config) -> tuple[int, ...]:
    """Return the shape of an element of a memory; a micro-op is a scalar."""
    return () if memory is Memory.UOP else config.element_shape(memory)


@dataclass
class Counters:
    """Counts of moved bytes by DRAM memory, and of operations on tiles.

    GEMM instructions that only reset count no tiles.
    """

    bytes: dict[Memory, int] = field(default_factory=lambda: dict.fromkeys(Memory, 0))
    gemm_tiles: int = 0
    alu_tiles: int = 0


class Simulator:
    """The scratchpads of one core, initially zero, and its counters."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.counters = Counters()
        self.pads: dict[Memory, Array] = {
            memory: np.zeros(
                (config.depth(memory), *element_shape(memory, config)), element_type(memory)
            )
            for memory in (Memory.UOP, Memory.WGT, Memory.ACC, Memory.INP, Memory.OUT)
        }

    @property
    def uops(self) -> npt.NDArray[np.uint32]:
        """The encoded micro-ops in the scratchpad."""
        return self.pads[Memory.UOP]

    def run(self, instructions: Iterable[Instruction], dram: Dram) -> None:
        """Execute a stream in order, up to the first FINISH; results go to the memory OUT."""
        for instruction in instructions:
            if isinstance(instruction, Finish):
                return
            self.execute(instruction, dram)

    def execute(self, instruction: Instruction, dram: Dram) -> None:
        """Execute one instruction, ignoring its tokens."""
        match instruction:
            case Load():
                self._load(instruction, dram)
            case Store():
                self._store(instruction, dram)
            case Gemm():
                self._gemm(instruction)
            case Alu():
                self._alu(instruction)
            case Finish():
                pass

    def _load(self, instruction: Load, dram: Dram) -> None:
        source = dram[instruction.memory]
        sram, indices = rectangle_of(instruction)
        moves = indices != PADDING
        pad = self.pads[PAD_OF[instruction.memory]]
        pad[sram[~moves]] = 0
        pad[sram[moves]] = source[indices[moves]]  # int8 becomes int32 in ACC
        self._count(instruction.memory, int(moves.sum()))

    def _store(self, instruction: Store, dram: Dram) -> None:
        sram, indices = rectangle_of(instruction)
        dram[Memory.OUT][indices] = self.pads[Memory.OUT][sram]
        self._count(Memory.OUT, indices.size)

    def _count(self, memory: Memory, elements: int) -> None:
        self.counters.bytes[memory] += elements * self.config.element_bytes(memory)

    def _gemm(self, instruction: Gemm) -> None:
        """Execute a GEMM; sums wrap around, so they do not depend on their order."""
        tiles = tiles_of(instruction, self.uops, self.config)
        acc = self.pads[Memory.ACC]
        dst = tiles.dst.reshape(-1)
        if instruction.reset:
            acc[dst] = 0
        else:
            np.add.at(acc, dst, self._products(tiles.src.reshape(-1), tiles.wgt.reshape(-1)))
            self.counters.gemm_tiles += dst.size
        self.pads[Memory.OUT][dst] = acc[dst].astype(np.int8)

    def _products(self, src: Indices, wgt: Indices) -> Int32:
        """Return the product of each pair of tiles, in one matrix product per tile of weights.

        Floats are exact up to 2^24, and sums have at most block_in products of at most 2^14.
        """
        products = np.empty((src.size, self.config.batch, self.config.block_out), np.int32)
        order = np.argsort(wgt, kind="stable")
        starts = np.flatnonzero(np.diff(wgt[order], prepend=-1))
        for members in np.split(order, starts[1:]):
            if members.size:
                inp = self.pads[Memory.INP][src[members]].astype(np.float32)
                weights = self.pads[Memory.WGT][wgt[members[0]]].astype(np.float32)
                products[members] = (inp @ weights.T).astype(np.int32)
        return products

    def _alu(self, instruction: Alu) -> None:
        tiles = tiles_of(instruction, self.uops, self.config)
        acc = self.pads[Memory.ACC]
        dst = tiles.dst.reshape(-1)
        src = dst if instruction.use_imm else tiles.src.reshape(-1)
        in_order = np.unique(dst).size < dst.size or (
            not instruction.use_imm and np.intersect1d(dst, src).size
        )
        steps = np.arange(dst.size)
        for step in steps[:, None] if in_order else [steps]:
            x = acc[dst[step]]
            y = np.full_like(x, instruction.imm) if instruction.use_imm else acc[src[step]]
            acc[dst[step]] = alu_function(instruction.opcode, x, y)
        self.pads[Memory.OUT][dst] = acc[dst].astype(np.int8)
        self.counters.alu_tiles += dst.size


def alu_function(opcode: AluOpcode, x: Int32, y: Int32) -> Int32:
    """Apply the function `opcode` to elements; sums and products wrap around.

    A shift amount is the low five bits of `y`, from -16 to 15; negative amounts shift left.
    """
    match opcode:
        case AluOpcode.MIN:
            return np.minimum(x, y)
        case AluOpcode.MAX:
            return np.maximum(x, y)
        case AluOpcode.ADD:
            return x + y
        case AluOpcode.SHR:
            amount = ((y & 31) ^ 16) - 16
            return np.where(amount >= 0, x >> np.maximum(amount, 0), x << np.maximum(-amount, 0))
        case AluOpcode.MUL:
            return x * y
