"""The verifier of programs against slow ones that try every pair and every iteration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.utils.exceptions import VerifyException

from clopt.dialects.vta import (
    BLOCK_16,
    Alu,
    AluOpcode,
    Gemm,
    Instruction,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
    Uop,
)
from clopt.dialects.vta.hazards import Hazards
from clopt.dialects.vta.isa import stage_of
from clopt.dialects.vta.order import Order
from clopt.dialects.vta.steps import Step, loops_of, tiles, verify_step
from support import effort

Range = tuple[str, frozenset[int]]


def _step(number: int, instruction: Instruction, **values: object) -> Step:
    return Step(number, "operation", "op", instruction, **values)


@st.composite
def _instruction(draw: st.DrawFn) -> tuple[Instruction, str | None]:
    """Small ranges, so that they often meet; a load or store is of the buffer `x`."""
    base, count, dram = draw(st.integers(0, 5)), draw(st.integers(1, 2)), draw(st.integers(0, 5))
    transfer = {"sram_base": base, "dram_base": dram, "x_size": count, "x_stride": count}
    loop = {"iter_in": count, "dst_factor_in": 1, "src_factor_in": 1, "uop_end": 1}
    return draw(
        st.sampled_from(
            [
                (Load(memory=Memory.INP, **transfer), "x"),
                (Load(memory=Memory.WGT, **transfer), None),
                (Store(**transfer), "x"),
                (Gemm(**loop), None),
                (Alu(opcode=AluOpcode.MAX, use_imm=True, **loop), None),
            ]
        )
    )


@st.composite
def _program(draw: st.DrawFn) -> list[Step]:
    """Steps whose tokens are there when they are taken."""
    steps: list[Step] = []
    pending = dict.fromkeys(Queue, 0)
    for number in range(draw(st.integers(2, 8))):
        instruction, buffer = draw(_instruction())
        stage = stage_of(instruction)
        open_ = [q for q in Queue if q.target is stage and pending[q]]
        waits = [q for q in open_ if draw(st.booleans())]
        signals = [q for q in Queue if q.source is stage and draw(st.booleans())]
        for queue in waits:
            pending[queue] -= 1
        for queue in signals:
            pending[queue] += 1
        uop = Uop(draw(st.integers(0, 5)), draw(st.integers(0, 5)), draw(st.integers(0, 5)))
        uops = (uop,) if stage is Stage.COMPUTE else ()
        values = {"uops": uops, "waits": tuple(waits), "signals": tuple(signals)}
        steps.append(_step(number, instruction, buffer=buffer, **values))
    return steps


def _accesses(step: Step) -> tuple[list[Range], list[Range]]:
    """What a step reads and writes, as sets."""
    op = step.instruction
    if isinstance(op, Load | Store):
        inside = frozenset(range(op.sram_base, op.sram_base + op.x_size))
        outside = frozenset(range(op.dram_base, op.dram_base + op.x_size))
        there = [("x", outside)] if step.buffer else []
        if isinstance(op, Store):
            return [("OUT", inside)], there
        return there, [(op.memory.name, inside)]
    assert isinstance(op, Gemm | Alu)
    (uop,) = step.uops
    turns = range(op.iter_in)
    reads: list[Range] = []
    if isinstance(op, Gemm):
        reads += [("INP", frozenset(uop.src + i for i in turns)), ("WGT", frozenset([uop.wgt]))]
    return reads, [("OUT", frozenset(uop.dst + i for i in turns))]


def _meets(some: list[Range], others: list[Range]) -> bool:
    return any(a == b and x & y for (a, x), (b, y) in product(some, others))


def _has_race(steps: list[Step]) -> bool:
    """Whether two steps that touch the same element have no path between them."""
    before = np.zeros((len(steps), len(steps)), bool)
    sent: dict[Queue, list[int]] = {queue: [] for queue in Queue}
    for j, step in enumerate(steps):
        sources = [i for i in range(j) if steps[i].stage is step.stage]
        sources += [sent[queue].pop(0) for queue in step.waits]
        for i in sources:
            before[j] |= before[i]
            before[j, i] = True
        for queue in step.signals:
            sent[queue].append(j)
    accesses = [_accesses(step) for step in steps]
    for j, (reads, writes) in enumerate(accesses):
        for i, (earlier_reads, earlier_writes) in enumerate(accesses[:j]):
            meet = _meets(writes, earlier_reads + earlier_writes) or _meets(reads, earlier_writes)
            if meet and not before[j, i]:
                return True
    return False


def _refusal(steps: list[Step]) -> str:
    """The verifier's sentence; empty if it has none."""
    order, hazards = Order(), Hazards(BLOCK_16, {"x": ("x", 16)})
    for content in (*hazards.filled.values(), hazards.content):
        content.fill(3)  # everything was computed before
    try:
        for step in steps:
            clock = order.start(step)
            hazards.step(step, clock, order)
            order.end(step, clock)
    except VerifyException as error:
        return str(error)
    return ""


@given(_program())
@settings(max_examples=effort.examples(300))
def test_races_are_found_exactly(steps: list[Step]):
    found = _refusal(steps)
    assert ("no tokens order them" in found) == bool(found) == _has_race(steps)


_FACTORS = st.integers(0, 2)


@st.composite
def _loops(draw: st.DrawFn) -> tuple[Alu, tuple[Uop, ...]]:
    uops = draw(st.lists(st.builds(Uop, _FACTORS, _FACTORS), min_size=1, max_size=3))
    op = Alu(
        opcode=AluOpcode.ADD,
        use_imm=draw(st.booleans()),
        uop_end=len(uops),
        iter_out=draw(st.integers(1, 3)),
        iter_in=draw(st.integers(1, 3)),
        dst_factor_out=draw(_FACTORS),
        dst_factor_in=draw(_FACTORS),
        src_factor_out=draw(_FACTORS),
        src_factor_in=draw(_FACTORS),
    )
    return op, tuple(uops)


def _sequence(op: Alu, uops: tuple[Uop, ...], index: str) -> list[int]:
    """The tiles in the order of time."""
    (outer, out), (inner, in_) = loops_of(op, index)
    turns = product(range(outer), range(inner), uops)
    return [getattr(uop, index) + o * out + i * in_ for o, i, uop in turns]


@given(_loops(), st.integers(0, 6))
@settings(max_examples=effort.examples(300))
def test_the_distance_from_a_write_to_a_read_is_found_exactly(
    drawn: tuple[Alu, tuple[Uop, ...]], least: int
):
    op, uops = drawn
    writes = _sequence(op, uops, "dst")
    reads = [writes] if op.use_imm else [writes, _sequence(op, uops, "src")]
    too_near = any(
        writes[t - distance] == read[t]
        for read in reads
        for distance in range(1, least)
        for t in range(distance, len(writes))
    )
    step = _step(0, op, uops=uops)
    if too_near:
        with pytest.raises(VerifyException, match=f"but the core needs {least}"):
            verify_step(step, BLOCK_16, least)
    else:
        verify_step(step, BLOCK_16, least)


@given(_loops())
@settings(max_examples=effort.examples(100))
def test_tiles_are_those_of_all_iterations(drawn: tuple[Alu, tuple[Uop, ...]]):
    op, uops = drawn
    for index in ("dst", "src"):
        found = tiles(uops, index, loops_of(op, index)).tolist()
        assert found == sorted(set(_sequence(op, uops, index)))
