"""Networks on a program binary in the place of our core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.backends.vta.core import core_source
from clopt.errors import CloptError
from support.vta.boards import (
    ARGUMENTS,
    X,
    binary,
    build,
    compiled,
    one_graph,
    two_graphs,
    write_board,
)


@pytest.fixture(scope="module")
def ours() -> np.ndarray:
    """What our core computes of `two_graphs`."""
    return compiled(two_graphs(), "0").run([X])[0]


@pytest.mark.parametrize("memory", ["separate", "arena"])
def test_a_board_computes_what_our_core_does(
    memory: str, device: str, ours: np.ndarray, tmp_path: Path
) -> None:
    model = compiled(two_graphs(), device, write_board(tmp_path, binary(device), memory=memory))
    np.testing.assert_array_equal(model.run([X])[0], ours)
    rows = [row.name for row in model.profile(runs=1).rows]
    assert sum("vta" in name for name in rows) == 2
    assert "vta_" not in model.source


def test_it_is_the_board_that_computes(device: str, tmp_path: Path) -> None:
    (expected,) = compiled(one_graph(), device).run([X])
    target = write_board(tmp_path, binary(device, negates=True))
    (found,) = compiled(one_graph(), device, target).run([X])
    assert expected.any()
    np.testing.assert_array_equal(found, -expected)


@pytest.mark.in_turns
def test_our_core_as_a_binary(device: str, ours: np.ndarray, tmp_path: Path) -> None:
    """Each of its parameters has a name; some are numbers of eight bytes."""
    program = build(device, core_source().replace("void vta_core(", "void board("))
    memories = [
        word
        for name in ("uop", "wgt", "acc", "inp", "acc8", "out")
        for word in (name, f"{name}_at")
    ]
    arguments = ["instructions", "schedule", "ranges", "launch", "scratch", *memories]
    target = write_board(tmp_path, program, arguments=arguments)
    np.testing.assert_array_equal(compiled(two_graphs(), device, target).run([X])[0], ours)


def test_a_saved_model_needs_the_program(device: str, tmp_path: Path, ours: np.ndarray) -> None:
    target = write_board(tmp_path, binary(device))
    compiled(two_graphs(), device, target).save(tmp_path / "model")
    np.testing.assert_array_equal(clopt.load(tmp_path / "model", device).run([X])[0], ours)
    (tmp_path / "board.bin").unlink()
    with pytest.raises(CloptError, match=r"board\.bin: cannot read the VTA program: No such"):
        clopt.load(tmp_path / "model", device).prepare()


def refusal(device: str, target: Path) -> str:
    with pytest.raises(CloptError) as caught:
        compiled(one_graph(), device, target).prepare()
    return str(caught.value)


def test_programs_that_cannot_be_used(device: str, tmp_path: Path) -> None:
    assert "cannot read the VTA program" in refusal(device, write_board(tmp_path, None))
    assert "the VTA program is empty" in refusal(device, write_board(tmp_path, b""))
    found = refusal(device, write_board(tmp_path, b"no program"))
    assert "rejects the program" in found
    assert "board.bin: it was built for another device" in found
    target = write_board(tmp_path, binary(device), kernel="vta")
    assert 'The program binary has no kernel "vta"' in refusal(device, target)
    target = write_board(tmp_path, binary(device), arguments=ARGUMENTS.split()[1:])
    assert "has 10 parameters, but its target names 9" in refusal(device, target)
    arguments = [name for name in ARGUMENTS.split() if name != "wgt"]
    target = write_board(tmp_path, binary(device), arguments=arguments)
    assert "accesses the memory WGT, but the kernel board of the program" in refusal(device, target)
