"""The elements that an instruction reads and writes, as arrays of indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.encoding import uop_layout
from ...dialects.vta.isa import Alu, Finish, Gemm, Instruction, Load, Memory, Store, Uop

Indices: TypeAlias = npt.NDArray[np.int64]

PADDING = -1
"""The DRAM index of an element that a load fills with zeros."""

PAD_OF = {memory: memory for memory in Memory} | {Memory.ACC_8BIT: Memory.ACC}
"""The scratchpad of each memory."""

_NOTHING: Mapping[Memory, Indices] = {}


@dataclass(frozen=True)
class Tiles:
    """The elements of each operation of a GEMM or ALU instruction, in execution order.

    All arrays have the shape (iter_out, iter_in, micro-ops).
    """

    dst: Indices
    src: Indices
    wgt: Indices


@dataclass(frozen=True)
class Accesses:
    """The elements that an instruction reads and writes; DRAM elements are counted per memory."""

    reads: Mapping[Memory, Indices] = field(default_factory=lambda: _NOTHING)
    writes: Mapping[Memory, Indices] = field(default_factory=lambda: _NOTHING)
    dram_reads: Mapping[Memory, Indices] = field(default_factory=lambda: _NOTHING)
    dram_writes: Mapping[Memory, Indices] = field(default_factory=lambda: _NOTHING)


def tiles_of(instruction: Gemm | Alu, uops: npt.NDArray[np.uint32], config: Config) -> Tiles:
    """Return the operations of `instruction`; `uops` is the micro-op scratchpad."""
    words = uops[instruction.uop_bgn : instruction.uop_end].astype(np.int64)
    out = np.arange(instruction.iter_out, dtype=np.int64)[:, None, None]
    inner = np.arange(instruction.iter_in, dtype=np.int64)[None, :, None]
    dst, src, wgt = fields_of_uops(words, config)
    return Tiles(
        dst + out * instruction.dst_factor_out + inner * instruction.dst_factor_in,
        src + out * instruction.src_factor_out + inner * instruction.src_factor_in,
        wgt + out * instruction.wgt_factor_out + inner * instruction.wgt_factor_in
        if isinstance(instruction, Gemm)
        else np.zeros((instruction.iter_out, instruction.iter_in, len(words)), np.int64),
    )


def fields_of_uops(words: Indices, config: Config) -> tuple[Indices, Indices, Indices]:
    """Return the fields dst, src and wgt of encoded micro-ops."""
    fields = {field.name: field for field in uop_layout(config)}
    dst, src, wgt = (
        words >> fields[name].low & ((1 << fields[name].width) - 1) for name in Uop._fields
    )
    return dst, src, wgt


def rectangle_of(instruction: Load | Store) -> tuple[Indices, Indices]:
    """Return the scratchpad and the DRAM index of each moved element; padding has PADDING."""
    if instruction.x_size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    y = np.arange(-instruction.y_pad_0, instruction.y_size + instruction.y_pad_1)[:, None]
    x = np.arange(-instruction.x_pad_0, instruction.x_size + instruction.x_pad_1)[None, :]
    inside = (y >= 0) & (y < instruction.y_size) & (x >= 0) & (x < instruction.x_size)
    dram = np.where(inside, instruction.dram_base + y * instruction.x_stride + x, PADDING)
    return instruction.sram_base + np.arange(dram.size, dtype=np.int64), dram.reshape(-1)


def accesses_of(instruction: Instruction, uops: npt.NDArray[np.uint32], config: Config) -> Accesses:
    """Return the accesses of `instruction`; `uops` is the micro-op scratchpad before it."""
    match instruction:
        case Load():
            sram, dram = rectangle_of(instruction)
            return Accesses(
                writes={PAD_OF[instruction.memory]: sram},
                dram_reads={instruction.memory: dram[dram != PADDING]},
            )
        case Store():
            sram, dram = rectangle_of(instruction)
            return Accesses(reads={Memory.OUT: sram}, dram_writes={Memory.OUT: dram})
        case Gemm() | Alu():
            return _compute_accesses(instruction, uops, config)
        case Finish():
            return Accesses()


def _compute_accesses(
    instruction: Gemm | Alu, uops: npt.NDArray[np.uint32], config: Config
) -> Accesses:
    tiles = tiles_of(instruction, uops, config)
    dst = np.unique(tiles.dst)
    reads = {Memory.UOP: np.arange(instruction.uop_bgn, instruction.uop_end), Memory.ACC: dst}
    if isinstance(instruction, Alu):
        if not instruction.use_imm:
            reads[Memory.ACC] = np.union1d(dst, tiles.src)
    elif not instruction.reset:
        reads |= {Memory.INP: np.unique(tiles.src), Memory.WGT: np.unique(tiles.wgt)}
    return Accesses(reads, {Memory.ACC: dst, Memory.OUT: dst})
