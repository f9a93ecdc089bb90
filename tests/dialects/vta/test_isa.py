"""Stages, queues and dependence bits of instructions."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from clopt.dialects.vta import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
)
from clopt.dialects.vta.isa import (
    is_nop,
    nop,
    signals_of,
    stage_of,
    token_bits,
    unconnected_bits,
    waits_of,
)

ALL_BITS = {"pop_prev": True, "pop_next": True, "push_prev": True, "push_next": True}


@pytest.mark.parametrize(
    ("instruction", "stage"),
    [
        (Load(memory=Memory.INP), Stage.LOAD),
        (Load(memory=Memory.WGT), Stage.LOAD),
        (Load(memory=Memory.ACC), Stage.COMPUTE),
        (Load(memory=Memory.ACC_8BIT), Stage.COMPUTE),
        (Load(memory=Memory.UOP), Stage.COMPUTE),
        (Gemm(), Stage.COMPUTE),
        (Alu(opcode=AluOpcode.MIN), Stage.COMPUTE),
        (Finish(), Stage.COMPUTE),
        (Store(), Stage.STORE),
    ],
)
def test_stage_of_an_instruction(instruction: Instruction, stage: Stage):
    assert stage_of(instruction) is stage


def test_bits_without_a_queue_are_named():
    assert unconnected_bits(Load(memory=Memory.INP, **ALL_BITS)) == ("pop_prev", "push_prev")
    assert unconnected_bits(Gemm(**ALL_BITS)) == ()
    assert unconnected_bits(Store(**ALL_BITS)) == ("pop_next", "push_next")


@pytest.mark.parametrize("stage", Stage)
def test_a_nop_moves_the_tokens_asked_for(stage: Stage):
    ins = [queue for queue in Queue if queue.target is stage]
    outs = [queue for queue in Queue if queue.source is stage]
    for waits in _subsets(ins):
        for signals in _subsets(outs):
            instruction = nop(stage, waits, signals)
            assert is_nop(instruction)
            assert stage_of(instruction) is stage
            assert set(waits_of(instruction)) == set(waits)
            assert set(signals_of(instruction)) == set(signals)
            assert unconnected_bits(instruction) == ()


def _subsets(queues: list[Queue]) -> list[tuple[Queue, ...]]:
    sizes = range(len(queues) + 1)
    return [*chain.from_iterable(combinations(queues, size) for size in sizes)]


def test_bits_of_the_compute_stage():
    assert token_bits({Queue.L2C, Queue.S2C}, {Queue.C2L, Queue.C2S}) == ALL_BITS
