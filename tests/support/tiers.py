"""Which tests run when: by default, in the thorough form, or in the long form alone.

By default each test function gets `SHARE` seconds of CPU time: as many of its cases as that allows
and at least one, first those with a parameter's value that no case before has. It gets none where a
single case takes more than `MOST`. A case that takes a device runs on one OpenCL runtime, in turn.
Of the other cases, the thorough form runs as many as `THOROUGH_SHARE` and `THOROUGH_MOST` allow,
and the long form all. See docs/testing.md.

`pytest --record-costs` writes costs.json. A function that it does not list costs nothing, so that a
new test runs by default.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from zlib import crc32

import pytest

COSTS = Path(__file__).parents[1] / "costs.json"
SHARE, MOST = 0.12, 0.3
THOROUGH_SHARE, THOROUGH_MOST = 3.0, 25.0
TURNS = {"pocl": 1}
"""PoCL runs one case for seven of each other runtime: each program takes it a second, because it
links its library with it (PoCL 3.1, AMD EPYC), and kernels that read images five times as long."""


class Tier(Enum):
    """The shortest form that runs a test."""

    DEFAULT = "default"
    THOROUGH = "thorough"
    LONG = "long"


def tiers(items: Sequence[pytest.Item], devices: Mapping[str, str]) -> list[Tier]:
    """Return the tier of each test; `devices` has the parameter of each OpenCL runtime by name."""
    costs: dict[str, float] = json.loads(COSTS.read_text())
    found: dict[pytest.Item, Tier] = {}
    for item in items:
        found[item] = _tier_alone(item, devices)
    for function, alike in _by_function(found, Tier.DEFAULT).items():
        kept = _cases_by_default(alike[0], costs.get(function, 0))
        if kept < len(alike):
            found |= dict.fromkeys(_most_different_first(alike)[kept:], Tier.THOROUGH)
    for function, left in _by_function(found, Tier.THOROUGH).items():
        kept = _cases_within(costs.get(function, 0), THOROUGH_SHARE, THOROUGH_MOST)
        if kept < len(left):
            found |= dict.fromkeys(_most_different_first(left)[kept:], Tier.LONG)
    return [found[item] for item in items]


def _by_function(found: Mapping[pytest.Item, Tier], tier: Tier) -> Mapping[str, list[pytest.Item]]:
    """Return the cases in a tier, by their test functions."""
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item, each in found.items():
        if each is tier:
            cases[function_of(item.nodeid)].append(item)
    return cases


def function_of(nodeid: str) -> str:
    """Return the id of a test without its parameters."""
    return nodeid.partition("[")[0]


def _tier_alone(item: pytest.Item, devices: Mapping[str, str]) -> Tier:
    """Return the tier of a test, whatever it costs."""
    if item.get_closest_marker("long") is not None:
        return Tier.LONG
    if _is_in_turn(item, devices):
        return Tier.DEFAULT
    return Tier.THOROUGH if item.get_closest_marker("in_turns") is None else Tier.LONG


def _is_in_turn(item: pytest.Item, devices: Mapping[str, str]) -> bool:
    """Return whether a test runs on its device: the rest of its name decides, so that a new test
    moves no other one."""
    turns = [name for name in devices for _ in range(TURNS.get(name, 7))]
    if not turns or not isinstance(item, pytest.Function) or "device" not in item.fixturenames:
        return True
    names = {device: name for name, device in devices.items()}
    name = names[item.callspec.params["device"]]
    return turns[crc32(item.name.replace(name, "", 1).encode()) % len(turns)] == name


def _cases_by_default(item: pytest.Item, cost: float) -> float:
    """Return how many cases of a test function run by default, at `cost` seconds each."""
    if (mark := item.get_closest_marker("by_default")) is not None:
        return mark.kwargs.get("cases", float("inf"))
    return _cases_within(cost, SHARE, MOST)


def _cases_within(cost: float, share: float, most: float) -> float:
    """Return how many cases of `cost` seconds fit a share; none if one takes more than `most`."""
    if not cost:
        return float("inf")
    return max(1, int(share / cost)) if cost <= most else 0


def _most_different_first(cases: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Sort cases so that each value of each parameter occurs early."""
    seen: set[tuple[str, int]] = set()
    first: list[pytest.Item] = []
    rest: list[pytest.Item] = []
    for item in sorted(cases, key=lambda item: crc32(item.name.encode())):
        callspec = getattr(item, "callspec", None)  # none without parameters
        params = callspec.params if callspec is not None else {}
        values = {(name, id(value)) for name, value in params.items()}
        (rest if values <= seen else first).append(item)
        seen |= values
    return first + rest
