"""How lanes share instructions: what may be split, and where barriers stand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clopt.backends.vta.schedule import Share, schedule_stream
from clopt.dialects.vta.config import BLOCK_16
from clopt.dialects.vta.encoding import encode_uops
from clopt.dialects.vta.isa import AluOpcode, Gemm, Instruction, Memory, Uop
from support.vta.streams import each, load, store

UOPS = (Uop(), Uop(dst=1), Uop(dst=100, src=1))
OUT, IN, UOP = Share.SPLIT_OUT, Share.SPLIT_IN, Share.SPLIT_UOPS


def schedule(*instructions: Instruction, replicas: int = 8) -> Sequence[Share]:
    stream = (load(Memory.UOP, len(UOPS)), *instructions)
    shares = schedule_stream(stream, encode_uops(UOPS, BLOCK_16), BLOCK_16, replicas)
    return [Share(int(share)) for share in shares[1:]]


SPLITS = {
    "outer loop": (Gemm(uop_end=1, iter_out=9, dst_factor_out=1), OUT),
    "sum in the outer loop": (Gemm(uop_end=1, iter_out=9, iter_in=9, dst_factor_in=1), IN),
    "both loops": (
        Gemm(uop_end=1, iter_out=4, iter_in=4, dst_factor_out=4, dst_factor_in=1),
        OUT | IN,
    ),
    "overlapping loops": (
        Gemm(uop_end=1, iter_out=4, iter_in=4, dst_factor_out=1, dst_factor_in=1),
        Share(0),
    ),
    "micro-ops": (Gemm(uop_end=2, iter_out=9), UOP),
    "overlapping micro-ops": (Gemm(uop_end=2, iter_out=9, dst_factor_out=1), Share(0)),
    "one element": (Gemm(uop_end=1, iter_out=9), Share(0)),
    "ALU": (each(AluOpcode.ADD, 9, 1), OUT),
    "ALU that reads its own element": (each(AluOpcode.ADD, 9), OUT),
    "ALU that reads the element before": (
        each(AluOpcode.ADD, 9, uop_bgn=1, uop_end=2),
        Share(0),
    ),
    "ALU that reads elsewhere": (each(AluOpcode.ADD, 9, uop_bgn=2, uop_end=3), OUT),
}


@pytest.mark.parametrize("name", SPLITS)
def test_loops_are_split_where_parts_are_apart(name: str):
    instruction, expected = SPLITS[name]
    (share,) = schedule(instruction)
    assert share & ~Share.WAIT_BEFORE == expected


def barriers(*instructions: Instruction, replicas: int = 8) -> list[bool]:
    return [bool(share & Share.WAIT_BEFORE) for share in schedule(*instructions, replicas=replicas)]


def test_barriers_stand_where_lanes_depend_on_one_another():
    gemm = Gemm(uop_end=1, iter_out=8, dst_factor_out=1, src_factor_out=1)
    relu = each(AluOpcode.MAX, 8, 0)
    # The micro-ops before are what the product waits for, then it needs the inputs.
    assert barriers(load(Memory.INP, 8), gemm) == [False, True]
    assert barriers(gemm, load(Memory.INP, 8)) == [True, True]
    assert barriers(gemm, load(Memory.INP, 8, sram_base=8)) == [True, False]
    assert barriers(gemm, relu, store(8)) == [True, True, True]
    assert barriers(gemm, load(Memory.WGT, 1, sram_base=1)) == [True, False]
    assert barriers(load(Memory.ACC, 4), load(Memory.ACC, 4, sram_base=3)) == [False, True]


def test_memories_may_share_a_buffer():
    assert barriers(store(2), load(Memory.ACC_8BIT, 2)) == [False, True]
    assert barriers(load(Memory.INP, 2), store(2)) == [False, True]
    assert barriers(store(2), load(Memory.WGT, 2)) == [False, False]


def test_columns_with_one_lane_need_no_barrier_in_between():
    gemm = Gemm(uop_end=1, iter_out=8, dst_factor_out=1, src_factor_out=1)
    relu = each(AluOpcode.MAX, 8, 0)
    assert barriers(gemm, relu, store(8), replicas=1) == [True, False, True]
