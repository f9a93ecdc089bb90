"""The course of a search, from records of plans that nobody measured."""

from __future__ import annotations

from typing import Any

import pytest

from clopt.decisions.database import DeviceDriver
from clopt.decisions.record import Record
from clopt.passes.tir.rules import RULES
from clopt.tuning.history import histories
from support.tuning.records import numbered, of_form, of_fusion, of_layout, record

VERSION = next(rule.version for rule in RULES if rule.name == "rows")


def trial(second: int, number: int, microseconds: float | None, **fields: Any) -> Record:
    when = f"2026-01-31T12:00:{second:02}Z"
    return record(numbered(number, version=VERSION), microseconds, when=when, **fields)


FIRST = [
    trial(1, 1, 10.0, site="a", default=True, launches=2),
    trial(3, 2, 9.95, site="a", launches=2),
    trial(5, 3, 6.0, site="a", launches=2),
    trial(7, 4, None, site="a", launches=2),
    trial(9, 3, 12.0, site="a", launches=2),
]
SECOND = [
    trial(2, 2, 70.0, site="b"),
    trial(4, 1, 100.0, site="b", default=True),
    trial(6, 3, 50.0, site="b"),
]
BOTH = sorted([*FIRST, *SECOND], key=lambda record: record.when)


def test_the_best_after_each_trial_beats_the_default_by_more_than_the_noise() -> None:
    (found,) = histories(BOTH)
    b, a = found.kernels
    # 9.95 is within the noise, and the time of 12 is the newer one of its plan.
    assert [s.best and s.best.microseconds for s in a.steps] == [10, 10, 6, 6, 10]
    assert [s.best and s.best.microseconds for s in b.steps] == [70, 70, 50]
    assert [step.place for step in a.steps] == [1, 3, 5, 7, 8]
    assert (a.untuned, a.tuned, a.cost, a.best_cost) == (10, 10, 20, 20)
    assert (b.untuned, b.tuned, b.cost, b.best_cost) == (100, 50, 100, 50)
    assert (found.untuned, found.tuned) == (120, 70)
    assert dict(a.faults) == dict(found.faults) == {"crashed": 1}


def test_an_inference_begins_with_the_defaults_and_counts_each_launch() -> None:
    (found,) = histories([*BOTH, *BOTH])  # as of a database and a copy of it
    assert found.course() == pytest.approx([120, 120, 120, 90, 82, 62, 62, 70])


def test_choices_for_the_network_cost_an_inference_nothing() -> None:
    both = [of_fusion("d", "joined", 9.0, default=True), of_fusion("d", "apart", 3.0)]
    same = [of_fusion("e", "joined", 9.0, default=True), of_fusion("e", "apart", 9.0)]
    (found,) = histories([*FIRST, *both, *same])
    assert (found.untuned, found.tuned) == (20, 20)
    assert [kernel.last.site for kernel in found.kernels] == ["a"]
    assert (len(found.choices), found.kept) == (2, 1)


def test_a_kernel_without_a_default_counts_with_its_first_time() -> None:
    (found,) = histories([trial(1, 1, None), trial(2, 2, 9.0), trial(3, 3, 5.0)])
    assert found.course() == [9, 9, 5]
    (kernel,) = found.kernels
    assert (kernel.untuned, kernel.cost) == (None, 5)


def test_devices_drivers_layouts_and_forms_are_apart() -> None:
    found = histories(
        [
            *FIRST,
            *(trial(n, 1, 5.0, driver="2.0") for n in (1, 2)),
            trial(1, 1, 5.0, device=DeviceDriver("another", "1.0")),
            of_layout("c", "plain", 3.0),
            of_form("d", "direct", 4.0),
            of_form("d", "winograd 2", 2.0),
        ]
    )
    assert [each.any.driver for each in found] == ["1.0", "2.0", "1.0"]
    assert [len(each.steps) for each in found] == [8, 2, 1]
    sites = [{site.last.site: len(site.steps) for site in each.choices} for each in found]
    assert sites == [{"c": 1, "d": 2}, {}, {}]
    assert found[0].untuned == 20


def test_plans_of_changed_rules_and_records_that_are_there_twice_do_not_count() -> None:
    old = record(numbered(1, version=VERSION + 1), 1.0)
    (found,) = histories([*FIRST, *FIRST, old])
    assert len(found.steps) == len(FIRST)
