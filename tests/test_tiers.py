"""Each test has one tier, and the record that decides has no tests that are gone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support import tiers
from support.tiers import Tier

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, eq=False)
class Case:
    """Stands for a test with one case for each colour and size."""

    name: str
    callspec: Any = None
    marks: dict[str, pytest.Mark] = field(default_factory=dict)

    @property
    def nodeid(self) -> str:
        return f"test_file.py::{self.name}"

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


def cases(function: str, *marks: pytest.MarkDecorator) -> list[Any]:
    return [
        Case(
            f"{function}[{colour}-{size}]",
            SimpleNamespace(params={"colour": colour, "size": size}),
            {mark.name: mark.mark for mark in marks},
        )
        for colour in ("red", "green")
        for size in ("small", "large", "huge")
    ]


@pytest.mark.parametrize(
    ("function", "marks", "kept", "thorough"),
    [
        ("test_unknown", (), 6, 0),
        ("test_cheap", (), 3, 3),
        ("test_costly", (), 1, 5),
        ("test_most_costly", (), 0, 2),
        ("test_most_costly", (pytest.mark.by_default(cases=2),), 2, 2),
        ("test_endless", (), 0, 0),
        ("test_cheap", (pytest.mark.by_default,), 6, 0),
    ],
)
def test_what_fits_runs_in_each_form(
    function: str,
    marks: tuple[pytest.MarkDecorator, ...],
    kept: int,
    thorough: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(tiers, "COSTS", tmp_path / "costs.json")
    costs = {
        "test_cheap": tiers.SHARE / 3.5,
        "test_costly": tiers.MOST,
        "test_most_costly": tiers.THOROUGH_SHARE / 2.5,
        "test_endless": tiers.THOROUGH_MOST + 1,
    }
    record = {f"test_file.py::{name}": seconds for name, seconds in costs.items()}
    tiers.COSTS.write_text(json.dumps(record))
    items = cases(function, *marks)
    found = tiers.tiers(items, {})
    assert found.count(Tier.DEFAULT) == kept
    assert found.count(Tier.THOROUGH) == thorough
    default = [item for item, tier in zip(items, found, strict=True) if tier is Tier.DEFAULT]
    if kept >= 3:  # each size, and both colours
        assert {value for item in default for value in item.callspec.params.values()} == {
            *("red", "green", "small", "large", "huge")
        }


def test_what_takes_long_is_long_whatever_it_costs():
    long = pytest.mark.long
    assert set(tiers.tiers(cases("test_unknown", long, pytest.mark.by_default), {})) == {Tier.LONG}


def test_the_record_lists_tests_that_are_there():
    gone = []
    for function in json.loads(tiers.COSTS.read_text()):
        file, _, name = function.partition("::")
        if not (ROOT / file).exists() or f"def {name}(" not in (ROOT / file).read_text():
            gone.append(function)
    assert gone == [], "remove them from tests/costs.json"
