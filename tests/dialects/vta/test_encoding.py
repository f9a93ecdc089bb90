"""Words of instructions: golden ones, free bits, inversion, and what has no room."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clopt.dialects.vta import (
    BATCH_2,
    BLOCK_16,
    BLOCK_32,
    Alu,
    AluOpcode,
    Config,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Store,
    Uop,
    VTAStreamError,
    decode,
    decode_uops,
    encode,
    encode_uops,
)
from clopt.dialects.vta.encoding import OPCODES, layout, uop_layout
from support import effort

CONFIGS = {config.name: config for config in (BLOCK_16, BLOCK_32, BATCH_2)}
SETTINGS = settings(max_examples=effort.examples(60))

# The words that the published header gives, for blocks of 16 and of 32.
GOLDEN: list[tuple[Instruction, tuple[int, int], tuple[int, int]]] = [
    (
        Load(
            memory=Memory.INP,
            push_next=True,
            sram_base=0x123,
            dram_base=0x89ABCDEF,
            y_size=4,
            x_size=5,
            x_stride=16,
            y_pad_0=1,
            y_pad_1=2,
            x_pad_0=3,
            x_pad_1=4,
        ),
        (0x0226AF37BC048D40, 0x4321001000050004),
        (0x0226AF37BC048D40, 0x4321001000050004),
    ),
    (
        Store(
            pop_prev=True,
            push_prev=True,
            sram_base=7,
            dram_base=0x100,
            y_size=2,
            x_size=8,
            x_stride=32,
        ),
        (0x0000000400001E29, 0x0000002000080002),
        (0x0000000400001E29, 0x0000002000080002),
    ),
    (
        Load(memory=Memory.ACC_8BIT, sram_base=1, dram_base=2, y_size=1, x_size=4, x_stride=4),
        (0x0000000008000680, 0x0000000400040001),
        (0x0000000008000680, 0x0000000400040001),
    ),
    (
        Gemm(
            pop_prev=True,
            push_prev=True,
            uop_bgn=3,
            uop_end=12,
            iter_out=14,
            iter_in=7,
            dst_factor_out=14,
            dst_factor_in=1,
            src_factor_out=16,
            src_factor_in=1,
            wgt_factor_out=0,
            wgt_factor_in=9,
        ),
        (0x000E00700180032A, 0x024000020400080E),
        (0x000E00700180032A, 0x000900004100040E),
    ),
    (
        Gemm(reset=True, uop_end=1, iter_out=4, iter_in=16, dst_factor_out=16, dst_factor_in=1),
        (0x0020002000200082, 0x0000000000000810),
        (0x0020002000200082, 0x0000000000000410),
    ),
    (
        Alu(
            opcode=AluOpcode.SHR,
            use_imm=True,
            imm=8,
            push_next=True,
            uop_bgn=1,
            uop_end=2,
            iter_out=4,
            iter_in=196,
            dst_factor_out=196,
            dst_factor_in=1,
            src_factor_out=196,
            src_factor_in=1,
        ),
        (0x0188002000400144, 0x0008B002310008C4),
        (0x0188002000400144, 0x00008B004C4004C4),
    ),
    (
        Alu(opcode=AluOpcode.MAX, use_imm=True, imm=-128, uop_end=1),
        (0x0002000800200004, 0xFF80900000000000),
        (0x0002000800200004, 0x0FF8090000000000),
    ),
    (Finish(), (3, 0), (3, 0)),
]


def test_golden_instructions():
    stream = [instruction for instruction, _, _ in GOLDEN]
    block_16 = np.array([words for _, words, _ in GOLDEN], np.uint64)
    block_32 = np.array([words for _, _, words in GOLDEN], np.uint64)
    np.testing.assert_array_equal(encode(stream, BLOCK_16), block_16)
    np.testing.assert_array_equal(encode(stream, BLOCK_32), block_32)
    assert decode(block_16, BLOCK_16) == decode(block_32, BLOCK_32) == tuple(stream)


def test_golden_micro_ops():
    uop = Uop(dst=5, src=6, wgt=7)
    assert encode_uops([uop], BLOCK_16).tolist() == [0x01C03005]
    assert encode_uops([uop], BLOCK_32).tolist() == [0x00701805]
    assert decode_uops(np.array([0x00701805], np.uint32), BLOCK_32) == (uop,)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_layout_has_the_fields_of_the_instructions(config: Config):
    for kind, placed in layout(config).items():
        assert {field.name for field in placed} == {field.name for field in fields(kind)}
    assert tuple(field.name for field in uop_layout(config)) == Uop._fields


def test_wide_input_scratchpad_widens_the_source_of_a_micro_op():
    config = Config(log_inp_buffer=16, log_acc_buffer=16, log_wgt_buffer=17)
    uop = Uop(dst=1, src=2**12 - 1, wgt=3)
    assert encode_uops([uop], config).tolist() == [1 | (2**12 - 1) << 10 | 3 << 22]


@st.composite
def _streams(draw: st.DrawFn) -> tuple[Config, list[Instruction]]:
    config = draw(st.sampled_from([*CONFIGS.values()]))
    enums = {"memory": st.sampled_from(Memory), "opcode": st.sampled_from(AluOpcode)}
    stream: list[Instruction] = []
    for kind in draw(st.lists(st.sampled_from([*OPCODES]), max_size=12)):
        values: dict[str, Any] = {}
        for field in layout(config)[kind]:
            values[field.name] = draw(
                st.booleans()
                if field.width == 1
                else enums.get(field.name, st.integers(*field.range))
            )
        stream.append(kind(**values))
    return config, stream


@given(_streams())
@SETTINGS
def test_decoding_inverts_encoding(drawn: tuple[Config, list[Instruction]]):
    config, stream = drawn
    words = encode(stream, config)
    assert decode(words, config) == tuple(stream)
    np.testing.assert_array_equal(encode(decode(words, config), config), words)


@given(st.sampled_from([*CONFIGS.values()]), st.data())
@SETTINGS
def test_decoding_inverts_encoding_of_micro_ops(config: Config, data: st.DataObject):
    ranges = [st.integers(*field.range) for field in uop_layout(config)]
    uops = data.draw(st.lists(st.builds(Uop, *ranges)))
    assert decode_uops(encode_uops(uops, config), config) == tuple(uops)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("kind", OPCODES)
def test_every_bit_of_an_instruction_is_a_fields_or_refused(
    config: Config, kind: type[Instruction]
):
    accepted = 0
    for bit in range(3, 128):
        words = np.array([[OPCODES[kind], 0]], np.uint64)
        words[0, bit // 64] |= np.uint64(1 << bit % 64)
        try:
            (instruction,) = decode(words, config)
        except VTAStreamError:
            continue
        accepted += 1
        np.testing.assert_array_equal(encode([instruction], config), words)
    assert accepted == sum(field.width for field in layout(config)[kind])


@pytest.mark.parametrize(
    ("instruction", "sentence"),
    [
        (Load(memory=Memory.INP, x_size=1 << 16), "x_size of instruction 1 .LOAD. is 65536"),
        (Load(memory=Memory.INP, dram_base=-1), "dram_base of instruction 1 .LOAD. is -1"),
        (Load(memory=Memory.INP, dram_base=1 << 70), "beyond 64 bits"),
        (Store(y_pad_0=16), "y_pad_0 of instruction 1 .STORE. is 16, but VTA encodes 0 to 15"),
        (Gemm(uop_end=1 << 14), "uop_end of instruction 1 .GEMM. is 16384"),
        (Gemm(wgt_factor_in=1024), "wgt_factor_in of instruction 1 .GEMM. is 1024"),
        (
            Alu(opcode=AluOpcode.ADD, imm=1 << 15),
            "imm of instruction 1 .ALU. is 32768, but VTA encodes -32768 to 32767",
        ),
    ],
)
def test_values_without_room_are_refused(instruction: Instruction, sentence: str):
    with pytest.raises(VTAStreamError, match=sentence):
        encode([Finish(), instruction], BLOCK_16)


def test_indices_without_room_are_refused():
    with pytest.raises(VTAStreamError, match=r"The field wgt of micro-op 1 is 1024"):
        encode_uops([Uop(), Uop(wgt=1024)], BLOCK_16)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([[3, 0], [5, 0]], "Instruction 1 has the unknown opcode 5"),
        ([[3, 0], [7 << 7, 0]], "Instruction 1 has the memory id 7: VTA has none"),
        ([[3, 0], [4, 6 << 44]], "Instruction 1 has the ALU opcode 6: VTA has none"),
        ([[3, 0], [1 << 63, 0]], "Instruction 1 sets bits outside its fields"),
        ([[3, 1]], "Instruction 0 sets bits outside its fields"),
        ([[3], [3]], "two words per instruction"),
    ],
)
def test_words_of_no_instruction_are_refused(words: list[list[int]], sentence: str):
    with pytest.raises(VTAStreamError, match=sentence):
        decode(np.array(words, np.uint64), BLOCK_16)


def test_words_of_no_micro_op_are_refused():
    with pytest.raises(VTAStreamError, match="Micro-op 0 sets bits"):
        decode_uops(np.array([1 << 31], np.uint32), BLOCK_32)


def test_a_long_stream_survives_both_ways():
    stream = [replace(GOLDEN[i % 8][0], push_next=bool(i % 3)) for i in range(100_000)]
    assert decode(encode(stream, BLOCK_16), BLOCK_16) == tuple(stream)
