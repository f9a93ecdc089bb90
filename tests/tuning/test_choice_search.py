"""The search for choices in a network whose times are planted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from clopt import CloptError
from clopt.decisions import Site, SiteKind, demand
from clopt.decisions.choices import choice_of, choices_of, site_of
from clopt.decisions.database import TuningDatabase
from clopt.decisions.record import Record
from clopt.decisions.recorded import recorded_choices
from clopt.dialects import cl
from clopt.dialects.properties import text
from clopt.tuning import choice_search as search_file
from clopt.tuning.choice_search import ChoiceOutcome, ChoiceSearch
from clopt.tuning.confirm import Build
from clopt.tuning.deadline import NEVER, Deadline
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.networks import TunedModel
from clopt.tuning.times import Times
from support.tuning.comparisons import PlantedRuns
from support.tuning.records import POCL

FAKE = InstrumentDevice("Fake (tests)", "1.0")
SITES = {"form": ("direct", "winograd 2", "winograd 4"), "border": ("memory", "loops")}
OTHER = ("winograd 2", "loops")
Chosen = Mapping[str, str]
"""The choice of each site."""


@dataclass
class Model:
    """A stand-in for a compiled network."""

    module: ModuleOp
    chosen: Chosen
    results: float = 1.0

    @property
    def source(self) -> str:
        return str(self.chosen)

    def run(self, inputs: object) -> list[np.ndarray]:
        return [np.array([self.results, 1.0])]


@dataclass
class Network:
    """A stand-in for a model with four form sites, a to d, and a border site, e."""

    time: Callable[[Chosen], float]
    """Microseconds of an inference by the choices of its sites."""
    share: Callable[[str], float] = lambda site: 10.0
    """Microseconds of the kernel at a site."""
    refused: frozenset[str] = frozenset()
    """Sites that cannot have another choice."""
    wrong: frozenset[str] = frozenset()
    """Sites that compute something else with another choice."""
    timed: list[Chosen] = field(default_factory=list[Chosen])

    def compiled(self, tuning: Path, choices: Iterable[cl.ChoiceAttr] = ()) -> Model:
        recorded = recorded_choices(TuningDatabase.read(tuning), POCL, JOURNAL.place).choices
        given = {site_of(each): text(each.choice) for each in (*recorded, *choices)}
        module, chosen, notes = ModuleOp([]), dict[str, str](), list[cl.ChoiceAttr]()
        for name in ("a", "b", "c", "d", "e"):
            site = Site(SiteKind.BORDER if name == "e" else SiteKind.FORM, name)
            usual, *_ = words = SITES[site.kind.value]
            chosen[name] = given.get(site) or usual
            if chosen[name] in OTHER and name in self.refused:
                raise CloptError(f"{name} does not fit")
            others = [StringAttr(each) for each in words if each != chosen[name]]
            notes.append(choice_of(site, StringAttr(chosen[name]), name, others))
        demand(module, notes)
        cl.set_target(module, POCL)
        is_wrong = any(chosen[name] in OTHER for name in self.wrong)
        return Model(module, chosen, np.nan if is_wrong else 1.0)

    planned = compiled

    def runs(self, models: Sequence[Model]) -> list[PlantedRuns]:
        self.timed += [model.chosen for model in models[1:]]
        return [
            PlantedRuns(
                Times([self.time(model.chosen)] * 27),
                {name: Times([self.share(name)] * 27) for name in model.chosen},
            )
            for model in models
        ]


JOURNAL = DatabaseJournal(Path(), FAKE)


@pytest.fixture(autouse=True)
def _without_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_file, "kernels_of", lambda model: [])
    monkeypatch.setattr(search_file, "sample_inputs", lambda model: [])


def searched(
    network: Network,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    deadline: Deadline = NEVER,
    estimate: Callable[[Chosen], float] = lambda chosen: 1.0,
    most: int | None = None,
) -> ChoiceOutcome | None:
    monkeypatch.setattr(search_file, "take_turns", lambda models, *args: network.runs(models))
    monkeypatch.setattr(
        ChoiceSearch,
        "_estimate",
        lambda self, moves: estimate(
            network.compiled(self._database, self._demanded(moves)).chosen
        ),
    )
    journal = DatabaseJournal(folder / "db.jsonl", FAKE)
    build = cast("Build", lambda model: model)
    return ChoiceSearch(cast("TunedModel", network), journal, deadline, build, most).run()


def records_in(folder: Path) -> Sequence[Record]:
    return TuningDatabase.read(folder / "db.jsonl").records


def recorded(folder: Path) -> dict[str, str | None]:
    """What the compiler takes from the database."""
    database = TuningDatabase.read(folder / "db.jsonl")
    found = recorded_choices(database, POCL, JOURNAL.place).choices
    return {site_of(each).text: text(each.choice) for each in found}


def by_gains(**gains: float) -> Callable[[Chosen], float]:
    """Times of a network whose sites gain these microseconds by their second choice."""

    def time(chosen: Chosen) -> float:
        gained = sum(gain for site, gain in gains.items() if chosen[site] in OTHER)
        return 50.0 + 30 * [*chosen.values()].count("winograd 4") - gained

    return time


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ({"a": 5, "c": 5, "b": -1, "d": -1}, {"a", "c"}),  # together they gain, too
        ({"a": 5, "b": -20, "c": -20, "d": -20, "e": 3}, {"a", "e"}),
        ({"a": -5, "b": -5, "c": -5, "d": -5, "e": -5}, set[str]()),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, {"a", "b", "c", "d"}),
    ],
)
def test_what_the_network_gains_from_is_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gains: dict[str, float],
    expected: set[str],
):
    network = Network(by_gains(**gains))
    found = searched(network, tmp_path, monkeypatch)
    assert found is not None
    assert {move.site.text for move in found.kept} == expected
    assert (found.before, found.after) == (50.0, 50.0 - sum(gains[site] for site in expected))
    assert {*recorded(tmp_path)} == expected
    taken = network.compiled(tmp_path / "db.jsonl").chosen
    assert {site for site, word in taken.items() if word in OTHER} == expected


def test_a_site_may_move_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gains = {"winograd 2": (5, 5, 5, 5), "winograd 4": (8, 8, -9, -9)}

    def time(chosen: Chosen) -> float:
        words = [(i, chosen[site]) for i, site in enumerate("abcd")]
        return 50.0 - sum(gains[word][i] for i, word in words if word in gains)

    found = searched(Network(time), tmp_path, monkeypatch)
    assert found is not None
    expected = {site: f"winograd {4 if site in 'ab' else 2}" for site in "abcd"}
    moved = {move.site.text: (text(move.old), text(move.new)) for move in found.kept}
    assert moved == {site: ("direct", word) for site, word in expected.items()}
    assert (found.after, recorded(tmp_path)) == (24.0, expected)


def test_records_have_the_usual_choice_beside_the_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    searched(Network(by_gains(a=-5, b=-5, c=-5, d=-5, e=10)), tmp_path, monkeypatch)
    found = {(r.site, r.choice): (r.microseconds, r.default) for r in records_in(tmp_path)}
    assert found["e", "memory"] == (50.0, True)
    assert found["e", "loops"] == (40.0, False)
    # By then the network had the other border.
    assert found["a", "direct"] == (40.0, True)
    assert found["a", "winograd 2"] == (45.0, False)
    assert {r.nodes for r in records_in(tmp_path)} == {"a", "b", "c", "d", "e"}


def test_a_search_continues_with_what_is_untried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    network = Network(by_gains(a=5, b=-20, c=-20, d=-20, e=-5))
    first = searched(network, tmp_path, monkeypatch, most=2)
    assert first is not None
    assert first.tried == 2
    second = searched(network, tmp_path, monkeypatch)
    assert second is not None
    assert recorded(tmp_path) == {"a": "winograd 2"}
    count = len(network.timed)
    assert searched(network, tmp_path, monkeypatch) is None
    assert len(network.timed) == count


def test_the_largest_share_comes_first_unless_its_estimate_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def share(site: str) -> float:
        return 20.0 if site == "e" else 1.0

    searched(network := Network(by_gains(), share), tmp_path, monkeypatch, most=1)
    assert [each["e"] for each in network.timed] == ["loops"]

    def estimate(chosen: Chosen) -> float:
        return 2.0 if chosen["e"] == "loops" else 1.0

    network = Network(by_gains(), share)
    searched(network, tmp_path / "other", monkeypatch, estimate=estimate, most=1)
    assert [each["a"] for each in network.timed] == ["winograd 2"]


@pytest.mark.parametrize("trouble", ["refused", "wrong"])
def test_a_choice_without_a_time_is_a_fault_and_the_others_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
):
    settings: dict[str, Any] = {trouble: frozenset("b")}
    network = Network(by_gains(a=5, b=5, c=5, d=5), **settings)
    assert searched(network, tmp_path, monkeypatch) is not None
    assert {*recorded(tmp_path)} == {"a", "c", "d"}
    (fault,) = (each for each in records_in(tmp_path) if each.fault)
    assert (fault.site, fault.choice) == ("b", "winograd 2")
    assert (
        "does not fit" if trouble == "refused" else "its results are further than 2%"
    ) in fault.reason


def test_choices_that_gain_by_chance_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """At the end the first and the last network are compared once more."""
    # The first network; both in turns, where another program ran; both in turns again.
    times = iter([50.0, 50.0, 40.0, 50.0, 50.0])
    network = Network(lambda chosen: next(times))
    found = searched(network, tmp_path, monkeypatch, most=1)
    assert found is not None
    assert (found.kept, found.before, found.after) == ([], 50.0, 50.0)
    assert recorded(tmp_path) == {}


def test_nothing_is_tried_when_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    network = Network(by_gains(a=5))
    found = searched(network, tmp_path, monkeypatch, Deadline(0.0))
    assert found is not None
    assert (found.tried, network.timed) == (0, [])
    assert choices_of(network.compiled(_empty(tmp_path)).module)


def _empty(folder: Path) -> Path:
    (folder / "empty.jsonl").touch()
    return folder / "empty.jsonl"
