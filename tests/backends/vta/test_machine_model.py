"""Cycles of streams, by hand and by the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clopt.backends.vta.machine_model import MachineModel, time_stream
from clopt.dialects.vta.config import BLOCK_16
from clopt.dialects.vta.encoding import VTAStreamError
from clopt.dialects.vta.isa import (
    AluOpcode,
    Gemm,
    Instruction,
    Load,
    Memory,
    Stage,
    is_nop,
    token_bits,
)
from support.vta.products import gemm_of_virtual_threads
from support.vta.streams import each, load, serial

MODEL = MachineModel(
    dram_bytes_per_cycle=4, dram_latency=10, cycles_per_gemm_tile=1, cycles_per_alu_tile=2,
    pipeline_depth=5, cycles_per_padding=1, decode=1,
)  # fmt: skip


def cycles(*instructions: Instruction) -> float:
    return time_stream(instructions, BLOCK_16, MODEL).cycles


def test_single_instructions():
    assert cycles(load(Memory.INP, 8)) == 1 + 10 + 8 * 16 / 4
    assert cycles(load(Memory.ACC, 8)) == 1 + 10 + 8 * 64 / 4
    assert cycles(Load(memory=Memory.INP, y_size=2, x_size=3, x_pad_0=2)) == 1 + 10 + 24 + 4
    assert cycles(Gemm(uop_end=3, iter_out=4, iter_in=5)) == 1 + 60 + 5
    assert cycles(each(AluOpcode.MAX, 7, 0)) == 1 + 14 + 5
    assert cycles(load(Memory.INP, 0)) == 1


def test_stages_overlap_and_share_the_bus():
    inp, acc, tiles = load(Memory.INP, 8), load(Memory.ACC, 2), Gemm(uop_end=1, iter_out=50)
    assert cycles(inp, tiles) == 1 + 50 + 5
    assert cycles(inp, acc) == 1 + 10 + 32 + 32
    waiting = load(Memory.INP, 8, push_next=True), Gemm(uop_end=1, iter_out=50, pop_prev=True)
    assert cycles(*waiting) == 43 + 56


def test_virtual_threads_hide_loads():
    case = gemm_of_virtual_threads(BLOCK_16, np.random.default_rng(0))
    rows = case.instructions[2:]  # behind the loads of micro-ops and weights
    bare = [without_tokens(one) for one in rows[:-1] if not is_nop(one)]
    threads, alone = (time_stream(one, BLOCK_16, MODEL) for one in (rows, serial(bare)))
    assert threads.cycles < 0.8 * alone.cycles
    assert threads.cycles >= threads.busy[Stage.COMPUTE] >= threads.gemm
    assert threads.gemm == alone.gemm


def without_tokens(instruction: Instruction) -> Instruction:
    return replace(instruction, **token_bits((), ()))


def test_a_stream_that_waits_for_ever():
    with pytest.raises(VTAStreamError, match="waits forever"):
        cycles(Gemm(uop_end=1, pop_prev=True))
