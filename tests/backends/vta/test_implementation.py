"""The table of a TOML file that describes a VTA."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from clopt.backends.vta.core import CoreForm, build_options
from clopt.backends.vta.implementation import Implementation, read_implementation
from clopt.dialects.vta.config import BATCH_2, Config
from clopt.errors import CloptError

BOARD = """
config = "2x16_i8w8a32_15_15_18_17"
program = "board.aocx"
kernel = "vta"
arguments = ["instruction_count", "instructions", "uop", "acc", "inp", "wgt", "out"]
"""


def read(text: str) -> Implementation:
    return read_implementation(tomllib.loads(text), Path("/boards"))


def test_a_board():
    board = read(BOARD)
    assert board.config == BATCH_2
    assert board.program == Path("/boards/board.aocx")
    assert board.arguments[:2] == ("instruction_count", "instructions")
    assert not board.moves_memories


def test_our_core():
    core = read("lanes = 256\nvector = 1\nlocal_scratchpads = true\ncores = 4")
    assert core.form == CoreForm(256, 1, True)
    assert (core.config, core.program, core.cores) == (Config(), None, 4)
    assert core.moves_memories
    assert read("") == Implementation()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lane = 3", 'vta has no key "lane"'),
        ("lanes = true", "vta.lanes is of type int, and not True"),
        ("lanes = 3", "a power of two, not 3"),
        ("vector = 4", "1 or 16 channels, not 4"),
        ("cores = 0", "vta.cores is 1 or more"),
        ('config = "big"', '"big" is no configuration'),
        ('arguments = ["weights"]', "'weights' is no argument of a VTA kernel"),
        ('arguments = ["wgt"]', "vta.arguments lacks instructions and out"),
        (BOARD + "cores = 2", "need a kernel with the arguments ranges"),
    ],
)
def test_mistakes_have_a_sentence(text: str, sentence: str):
    with pytest.raises(CloptError, match=sentence):
        read(text)


SMALL = Config(block_in=8, block_out=8, log_inp_buffer=14, log_wgt_buffer=16, log_acc_buffer=16)


def test_small_blocks_are_refused():
    with pytest.raises(CloptError, match="blocks of 16 channels or more"):
        build_options(SMALL, CoreForm())
