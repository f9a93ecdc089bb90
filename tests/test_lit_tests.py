"""Each pass has the file and the lit tests of its name, and each lit test a pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clopt.universe import PASSES

FOLDER = Path(__file__).parents[1] / "lit_tests" / "passes"
FILES = {name: Path(*place.partition(":")[0].split(".")[1:]) for name, place in PASSES.items()}


@pytest.mark.parametrize("name", PASSES)
def test_pass_has_the_file_of_its_name(name: str):
    assert "-".join(FILES[name].parts).replace("_", "-") == name


@pytest.mark.parametrize("name", PASSES)
def test_pass_has_the_lit_test_of_its_name(name: str):
    text = (FOLDER / FILES[name]).with_suffix(".mlir").read_text()
    assert re.search(rf"RUN: clopt .*\b{name}\b", text)


def test_lit_tests_beside_it_add_to_its_name():
    for room in {file.parent for file in FILES.values()} - {Path()}:
        passes = "|".join(file.name for file in FILES.values() if file.parent == room)
        for test in (FOLDER / room).glob("*.mlir"):
            assert re.fullmatch(rf"({passes})(_\w+)?", test.stem), f"{test} is a test of no pass"
