"""The sizes that follow from a configuration, its name, and what an instruction can express."""

from __future__ import annotations

import pytest

from clopt.dialects.vta import BATCH_2, BLOCK_16, BLOCK_32, Config, Memory, VTAConfigError

# Depth and bytes of an element: the table of the published header.
SIZES = {
    "1x16_i8w8a32_15_15_18_17": {
        Memory.UOP: (8192, 4),
        Memory.INP: (2048, 16),
        Memory.WGT: (1024, 256),
        Memory.ACC: (2048, 64),
        Memory.OUT: (2048, 16),
        Memory.ACC_8BIT: (2048, 16),
    },
    "1x32_i8w8a32_15_15_18_17": {
        Memory.UOP: (8192, 4),
        Memory.INP: (1024, 32),
        Memory.WGT: (256, 1024),
        Memory.ACC: (1024, 128),
        Memory.OUT: (1024, 32),
        Memory.ACC_8BIT: (1024, 32),
    },
    "2x16_i8w8a32_15_15_18_17": {
        Memory.UOP: (8192, 4),
        Memory.INP: (1024, 32),
        Memory.WGT: (1024, 256),
        Memory.ACC: (1024, 128),
        Memory.OUT: (1024, 32),
        Memory.ACC_8BIT: (1024, 32),
    },
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_follow_from_the_name(name: str):
    config = Config.parse(name)
    assert config.name == name
    found = {memory: (config.depth(memory), config.element_bytes(memory)) for memory in Memory}
    assert found == SIZES[name]


def test_the_named_configurations_are_those_of_the_table():
    assert [config.name for config in (BLOCK_16, BLOCK_32, BATCH_2)] == list(SIZES)


def test_elements_are_tiles():
    config = Config(batch=2, block_in=16, block_out=16)
    assert config.element_shape(Memory.INP) == (2, 16)
    assert config.element_shape(Memory.WGT) == (16, 16)
    assert config.element_shape(Memory.ACC) == config.element_shape(Memory.OUT) == (2, 16)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"log_uop_buffer": 16}, "micro-ops in GEMM and ALU would take 65 bits"),
        ({"log_wgt_buffer": 19}, "The factors of GEMM would take 66 bits"),
        ({"log_acc_buffer": 18, "log_wgt_buffer": 16}, "of ALU would take 68 bits"),
        (
            {"log_inp_buffer": 14, "log_wgt_buffer": 19},
            "A micro-op would take 33 bits",
        ),
        ({"log_inp_buffer": 3}, r"INP must have 1 to 65536 elements, .* not 2\^-1"),
        ({"block_in": 12, "block_out": 12}, "The block_in of VTA must be a power of two, not 12"),
        ({"block_out": 32}, "The blocks of VTA must be equal, .* not 16 and 32"),
        ({"log_wgt_width": 2}, "not widths of 8, 4, 32 bits"),
    ],
)
def test_sizes_that_instructions_cannot_express_are_refused(sizes: dict[str, int], sentence: str):
    with pytest.raises(VTAConfigError, match=sentence):
        Config(**sizes)


@pytest.mark.parametrize("name", ["", "1x16", "1x16_i8w8a32_15_15_18", "1x16_i7w8a32_15_15_18_17"])
def test_other_names_are_refused(name: str):
    with pytest.raises(VTAConfigError, match=f'"{name}"'):
        Config.parse(name)
