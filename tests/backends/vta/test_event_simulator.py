"""The event simulator notices what is wrong with tokens, whatever the order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from clopt.backends.vta.event_simulator import run_stages
from clopt.backends.vta.simulator import Simulator
from clopt.dialects.vta.config import BLOCK_16
from clopt.dialects.vta.encoding import VTAStreamError
from clopt.dialects.vta.isa import (
    Instruction,
    Memory,
    Queue,
    signals_of,
    stage_of,
    token_bits,
    waits_of,
)
from support.vta.cases import CASES
from support.vta.products import gemm_of_virtual_threads
from support.vta.streams import Case, load, serial, store

CASE = gemm_of_virtual_threads(BLOCK_16, np.random.default_rng(3))
SEEDS = range(4)


def run(case: Case, seed: int) -> tuple[int, ...]:
    return run_stages(case.instructions, Simulator(BLOCK_16), case.dram(BLOCK_16), seed)


def with_queues(
    instruction: Instruction, waits: Collection[Queue], signals: Collection[Queue]
) -> Instruction:
    return replace(instruction, **token_bits(waits, signals))


def without(instructions: Sequence[Instruction], queue: Queue) -> list[Instruction]:
    """The stream without any token of `queue`."""
    return [
        with_queues(one, set(waits_of(one)) - {queue}, set(signals_of(one)) - {queue})
        for one in instructions
    ]


def with_one_token_less(instructions: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """The stream without one of its pops or pushes, for each of them."""
    for number, one in enumerate(instructions):
        waits, signals = set(waits_of(one)), set(signals_of(one))
        for queue in Queue:
            if queue in waits | signals:
                less = with_queues(one, waits - {queue}, signals - {queue})
                yield [*instructions[:number], less, *instructions[number + 1 :]]


def test_seeds_give_different_orders_that_keep_those_of_stages():
    orders = {run(CASE, seed) for seed in range(6)}
    assert len(orders) > 3
    for order in orders:
        assert sorted(order) == list(range(len(CASE.instructions)))
        for stage in {stage_of(one) for one in CASE.instructions}:
            own = [n for n in order if stage_of(CASE.instructions[n]) is stage]
            assert own == sorted(own)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("queue", Queue)
def test_a_queue_without_tokens_is_a_race(queue: Queue, seed: int):
    case = replace(CASE, instructions=without(CASE.instructions, queue))
    with pytest.raises(VTAStreamError, match="no tokens order them"):
        run(case, seed)


def test_every_token_counts():
    streams = list(with_one_token_less(CASE.instructions))
    assert len(streams) > 20
    for instructions in streams:
        with pytest.raises(VTAStreamError):
            run(replace(CASE, instructions=instructions), seed=0)


def test_stages_that_wait_for_each_other():
    stream = [
        load(Memory.INP, 1, pop_next=True, push_next=True),
        load(Memory.ACC, 1, pop_prev=True, push_prev=True),
    ]
    case = replace(CASES["gemm"](BLOCK_16, np.random.default_rng(0)), instructions=stream)
    with pytest.raises(VTAStreamError, match="waits forever: instruction 0 for c2l"):
        run(case, seed=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_load_of_what_is_stored_needs_a_token(seed: int):
    """Only the bytes in DRAM are common to both."""
    arena = np.zeros((4, *BLOCK_16.element_shape(Memory.OUT)), np.int8)
    stream = serial([store(2), load(Memory.ACC_8BIT, 2, dram_base=1)])
    case = Case(stream, [], {Memory.OUT: arena, Memory.ACC_8BIT: arena}, arena)
    run(case, seed)
    case = replace(case, instructions=without(stream, Queue.S2C))
    with pytest.raises(VTAStreamError, match="activations in DRAM"):
        run(case, seed)
    apart = without(serial([store(2), load(Memory.ACC_8BIT, 2, dram_base=2)]), Queue.S2C)
    run(replace(case, instructions=apart), seed)
