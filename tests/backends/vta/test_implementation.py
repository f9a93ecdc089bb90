"""The table of a target's file that describes a VTA."""

from __future__ import annotations

from pathlib import Path

import pytest

from clopt.backends.vta.core import CoreForm, build_options
from clopt.backends.vta.implementation import Implementation, implementation_of
from clopt.dialects.vta import BATCH_2, Config, Memory
from clopt.dialects.vta.arguments import ARENA
from clopt.dialects.vta.memory_layout import layout_of
from clopt.errors import CloptError
from clopt.targets import TargetChoice
from clopt.weights import Weights
from support.vta.queue_programs import residual

BOARD = """
[vta]
mode = "auto"
config = "2x16_i8w8a32_15_15_18_17"
program = "board.aocx"
kernel = "vta"
arguments = ["instruction_count", "instructions", "uop", "acc", "inp", "wgt", "out"]
memory = "arena"
"""


def read(folder: Path, text: str, facts: str = "") -> Implementation:
    """The implementation of a target with this file, and other facts."""
    path = folder / "mine.toml"
    path.write_text(text)
    target = TargetChoice.parse(f"{path} {facts}").load()
    assert target is not None
    return implementation_of(target)


def test_a_board(tmp_path: Path):
    board = read(tmp_path, BOARD, "vta=prefer")
    assert board.config == BATCH_2
    assert board.program == tmp_path / "board.aocx"
    assert board.arguments[:2] == ("instruction_count", "instructions")
    assert (board.memory, board.form) == (ARENA, CoreForm(1, 16))
    assert not board.moves_memories


def test_our_core(tmp_path: Path):
    text = '[device]\ndevice_type = "gpu"\n[vta]\ncore_lanes = {}'
    assert read(tmp_path, text.format(32)).form == CoreForm(32, 1)
    core = read(tmp_path, text.format(0))
    assert (core.form, core.program, core.cores) == (CoreForm(256, 1), None, 1)
    assert core.moves_memories
    assert read(tmp_path, "") == Implementation()


@pytest.mark.parametrize(
    ("text", "facts", "sentence"),
    [
        ("[vta]\nlanes = 3", "", r'mine.toml: \[vta\] has no key "lanes"; it has mode, config,'),
        ("[vtb]\nlanes = 3", "", 'mine.toml: A target has no table "vtb"; its tables are'),
        ('[vta]\nconfig = "big"', "", 'mine.toml: vta_config is invalid: "big" is not'),
        ("[vta]\nprogram = 3", "", "mine.toml: vta_program must be a word, not 3"),
        ('[vta]\nkernel = "vta"', "", "vta_kernel requires a program binary; set vta_program"),
        ('[vta]\nprogram = "a.bin"', "", "vta_kernel is missing for the program .*a.bin"),
        (BOARD.replace('"wgt"', '"weights"'), "", '"weights" is not an argument of a VTA kernel'),
        (BOARD.replace('"instructions", ', ""), "", "of a VTA kernel lack instructions"),
        (BOARD.replace("arguments =", "arguments = 1 #"), "", "must be a list of names, not 1"),
        (
            BOARD.replace('"arena"', '"heap"'),
            "",
            'must be "separate" or "arena", not',
        ),
        (BOARD, "vta_config=1x16_i8w8a32_15_15_18_17", "is for a core 2x16_.* but vta_config is"),
    ],
)
def test_mistakes_have_a_sentence(text: str, facts: str, sentence: str, tmp_path: Path):
    with pytest.raises(CloptError, match=sentence):
        read(tmp_path, text, facts)


SMALL = Config(block_in=8, block_out=8, log_inp_buffer=14, log_wgt_buffer=16, log_acc_buffer=16)


def test_small_blocks_are_refused():
    with pytest.raises(CloptError, match="blocks of at least 16 channels"):
        build_options(SMALL, CoreForm())


def test_places_in_an_arena():
    """Each tensor starts at a whole element of every memory: 256 bytes here."""
    graph = residual(BATCH_2, Weights())
    layout = layout_of(graph, ARENA)
    size = BATCH_2.element_bytes(Memory.OUT)
    assert layout.offsets == {
        "input0": 0,
        "input1": 256,
        "output0": 512,
        "scratch0": 768,
        "uops": 1024,
    }
    assert layout.bytes == 1280
    assert layout.places["output0"] * size == 512
    assert layout.places["uops"] * 4 == 1024
