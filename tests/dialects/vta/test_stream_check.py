"""Streams that a core must not see are refused, with the number of the instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clopt.dialects.vta import (
    BLOCK_16,
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
    Uop,
    VTAStreamError,
    check_stream,
)
from clopt.dialects.vta.isa import nop

SIZES = {Memory.INP: 64, Memory.WGT: 4, Memory.ACC: 4, Memory.ACC_8BIT: 64, Memory.OUT: 64}
UOPS = (Uop(), Uop(1, 1, 1))

UOP_LOAD = Load(memory=Memory.UOP, x_size=2, x_stride=2)
INP_LOAD = Load(memory=Memory.INP, x_size=64, x_stride=64)
WGT_LOAD = Load(memory=Memory.WGT, x_size=4, x_stride=4, push_next=True)
RESET = Gemm(reset=True, uop_end=1, iter_in=63, dst_factor_in=1)
GEMM = Gemm(pop_prev=True, uop_end=2, iter_in=63, dst_factor_in=1, src_factor_in=1)
SHIFT = Alu(opcode=AluOpcode.SHR, use_imm=True, imm=8, uop_end=2, iter_in=63, dst_factor_in=1)
SHIFT = replace(SHIFT, push_next=True)
STORE = Store(pop_prev=True, push_prev=True, y_size=2, x_size=32, x_stride=32)
WAIT = nop(Stage.COMPUTE, [Queue.S2C])
STREAM = [UOP_LOAD, INP_LOAD, WGT_LOAD, RESET, GEMM, SHIFT, STORE, WAIT, Finish()]


def check(stream: Sequence[Instruction]) -> None:
    check_stream(stream, UOPS, BLOCK_16, SIZES)


def test_a_stream_that_touches_only_its_own_passes():
    check(STREAM)


def changed(number: int, **values: object) -> list[Instruction]:
    return [*STREAM[:number], replace(STREAM[number], **values), *STREAM[number + 1 :]]


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        ([], r"Instruction 0 is missing: FINISH\."),
        (STREAM[:-1], r"Instruction 8 is missing: FINISH\."),
        ([*STREAM, WAIT], r"Instruction 8 \(FINISH\) ends the stream, but more instructions"),
        ([*STREAM, Finish()], r"Instruction 8 \(FINISH\) ends the stream, but more instructions"),
        (changed(8, pop_next=True), r"Instruction 8 \(FINISH\) must not carry tokens"),
        # Memory.
        (changed(0, x_size=3), r"Instruction 0 \(LOAD\) reaches element 2 of UOP in DRAM, of 2\."),
        (changed(0, y_size=2), r"Instruction 0 \(LOAD\) loads micro-ops in more than one row"),
        (changed(1, dram_base=1), r"Instruction 1 \(LOAD\) reaches element 64 of INP in DRAM"),
        (changed(1, dram_base=2**32 - 1), r"reaches element 4294967358 of INP in DRAM, of 64"),
        (
            changed(1, memory=Memory.OUT),
            r"Instruction 1 \(LOAD\) loads OUT, which can only be stored",
        ),
        (changed(1, sram_base=1985), r"reaches element 2048 of INP, which has 2048"),
        (changed(1, y_pad_1=15, sram_base=2000), r"reaches element 3023 of INP, which has 2048"),
        (changed(1, y_size=0), r"Instruction 1 \(LOAD\) moves no rows"),
        (changed(1, x_size=0, x_pad_0=1), r"Instruction 1 \(LOAD\) pads rows without elements"),
        (changed(2, x_pad_0=1), r"Instruction 2 \(LOAD\) pads WGT, which VTA does not support"),
        (changed(6, x_stride=33), r"Instruction 6 \(STORE\) reaches element 64 of OUT in DRAM"),
        (changed(6, memory=Memory.ACC), r"Instruction 6 \(STORE\) stores ACC, but only OUT"),
        (changed(6, y_pad_0=1), r"Instruction 6 \(STORE\) pads, which stores do not support"),
        # Micro-ops and loops.
        (
            changed(4, uop_end=3),
            r"Instruction 4 \(GEMM\) runs micro-op 2, which was never",
        ),
        (changed(4, uop_end=8193), r"Instruction 4 \(GEMM\) runs micro-op 8192, but UOP has 8192"),
        (changed(4, uop_end=0), r"Instruction 4 \(GEMM\) runs no micro-ops"),
        (changed(4, iter_out=0), r"Instruction 4 \(GEMM\) runs none of its iterations"),
        (changed(4, dst_factor_in=34), r"reaches element 2109 of ACC, which has 2048"),
        (changed(4, iter_out=2, src_factor_out=2000), r"reaches element 2063 of INP, which has"),
        (changed(4, wgt_factor_in=17), r"reaches element 1055 of WGT, which has 1024"),
        (changed(5, imm=16), r"Instruction 5 \(ALU\) shifts by 16, but the amounts are -16 to 15"),
        (changed(5, imm=-17), r"Instruction 5 \(ALU\) shifts by -17"),
        # Tokens.
        (changed(4, pop_next=True), r"Instruction 4 \(GEMM\) takes a token of s2c that no"),
        (changed(1, pop_prev=True), r"Instruction 1 \(LOAD\) sets pop_prev, but the stage load"),
        (
            changed(6, push_next=True),
            r"Instruction 6 \(STORE\) sets push_next, but the stage",
        ),
        (changed(3, push_next=True), r"The stream leaves 1 tokens in c2s\."),
        (
            [*STREAM[:5], *STREAM[6:]],
            r"Instruction 5 \(STORE\) takes a token of c2s that no earlier step sends",
        ),
        (
            [*STREAM[:7], Finish()],
            r"Instruction 7 \(FINISH\) does not wait for the last step of the stage store",
        ),
        (changed(1, x_size=1 << 16), r"The field x_size of instruction 1 \(LOAD\) is 65536"),
    ],
)
def test_malformed_streams_are_refused(stream: Sequence[Instruction], sentence: str):
    with pytest.raises(VTAStreamError, match=sentence):
        check(stream)


def test_stages_that_wait_for_one_another_are_refused():
    load = replace(INP_LOAD, pop_next=True, push_next=True)
    reset = replace(RESET, pop_prev=True, push_prev=True)
    with pytest.raises(VTAStreamError, match=r"Instruction 1 \(LOAD\) takes a token of c2l"):
        check([UOP_LOAD, load, reset, Finish()])


def test_a_stream_may_repeat_itself():
    check([*STREAM[:-1] * 500, Finish()])
