"""Malformed streams are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clopt.backends.vta.checks import check_stream
from clopt.dialects.vta.config import BATCH_2, BLOCK_16, BLOCK_32, Config
from clopt.dialects.vta.encoding import VTAStreamError, encode_uops
from clopt.dialects.vta.isa import (
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Store,
    Uop,
)
from support.vta import products  # noqa: F401  (its cases join the table)
from support.vta.cases import CASES
from support.vta.streams import each, load, serial, store

UOPS = (Uop(), Uop(2047, 2047, 1023))


def check(*instructions: Instruction) -> None:
    stream = serial((load(Memory.UOP, 2), *instructions))
    check_stream(stream, encode_uops(UOPS, BLOCK_16), BLOCK_16)


@pytest.mark.parametrize("config", [BLOCK_16, BLOCK_32, BATCH_2], ids=lambda config: config.name)
def test_right_streams_pass(config: Config):
    for build in CASES.values():
        case = build(config, np.random.default_rng(0))
        check_stream(case.instructions, encode_uops(case.uops, config), config)


WRONG: dict[str, tuple[Instruction, str]] = {
    "load beyond INP": (load(Memory.INP, 49, sram_base=2000), "element 2048 of the scratchpad INP"),
    "padding beyond ACC": (
        Load(memory=Memory.ACC_8BIT, sram_base=2040, x_size=5, x_pad_1=4),
        "element 2048 of the scratchpad ACC, which has 2048",
    ),
    "store beyond OUT": (store(2, sram_base=2047), "element 2048 of the scratchpad OUT"),
    "dst": (Gemm(uop_bgn=1, uop_end=2, iter_in=2, dst_factor_in=1), "element 2048 .* ACC"),
    "src": (Gemm(uop_bgn=1, uop_end=2, iter_in=2, src_factor_in=1), "element 2048 .* INP"),
    "wgt": (Gemm(uop_bgn=1, uop_end=2, iter_out=2, wgt_factor_out=1), "element 1024 .* WGT"),
    "src of the ALU": (
        each(AluOpcode.ADD, 2, uop_bgn=1, uop_end=2, dst_factor_out=0),
        "element 2048 .* ACC",
    ),
    "micro-op": (Gemm(uop_bgn=0, uop_end=8193), "element 8192 of the scratchpad UOP"),
    "shift": (each(AluOpcode.SHR, 1, 16), "shifts by 16; amounts are -16 to 15"),
    "padded weights": (Load(memory=Memory.WGT, x_size=1, x_pad_0=1), "has padding"),
    "padding alone": (Load(memory=Memory.ACC, x_size=0, x_pad_0=1), "has padding"),
    "padded store": (Store(x_size=1, y_pad_0=1), "has padding"),
    "load of OUT": (Load(memory=Memory.OUT, x_size=1), "loads move all but OUT"),
    "rows of micro-ops": (Load(memory=Memory.UOP, x_size=1, y_size=2), "2 rows of micro-ops"),
    "micro-ops that are not there": (load(Memory.UOP, 3), "up to 3, and there are 2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_instructions_are_refused(name: str):
    instruction, sentence = WRONG[name]
    with pytest.raises(VTAStreamError, match=f"Instruction 1 .*{sentence}"):
        check(instruction)


def test_what_does_not_matter_is_no_mistake():
    """A reset reads neither inputs nor weights, an immediate replaces src."""
    check(Gemm(reset=True, uop_bgn=1, uop_end=2, iter_in=2, src_factor_in=1))
    check(each(AluOpcode.ADD, 2, 1, uop_bgn=1, uop_end=2, dst_factor_out=0))


def test_ends_and_tokens():
    stream = serial((load(Memory.INP, 1), Gemm(uop_end=1), store(1)))
    uops = encode_uops(UOPS, BLOCK_16)
    check_stream(stream, uops, BLOCK_16)
    for wrong, sentence in (
        (stream[:-1], "one FINISH, as its last"),
        ([Finish(), *stream], "one FINISH, as its last"),
        ([replace(stream[0], push_next=False), *stream[1:]], "waits for ever, .* 1, 2"),
        ([stream[0], replace(stream[1], pop_prev=False), *stream[2:]], "left in l2c"),
        ([replace(stream[0], pop_prev=True), *stream[1:]], "sets pop_prev, and its stage has no"),
    ):
        with pytest.raises(VTAStreamError, match=sentence):
            check_stream(wrong, uops, BLOCK_16)
