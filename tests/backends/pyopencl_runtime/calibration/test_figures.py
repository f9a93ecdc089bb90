"""Facts from readings of the clock: made-up ones, of quiet and of busy machines."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.backends.pyopencl_runtime.calibration.figures import figures_of
from clopt.backends.pyopencl_runtime.calibration.readings import Readings
from clopt.dialects.cl import Target
from clopt.machine.facts import Fact

NAMED = Target.from_facts("generic", {"vector_registers": 16, "winograd_transform_cost": 8.0})
WIDE = NAMED.with_facts({"vector_registers": 32})
PS = 1e-12  # of a multiply-add
QUIET = Readings([[20 * PS, 10 * PS]] * 25, [0.02e-9] * 9, [3e-6] * 25)


def values(readings: Readings) -> dict[str, Fact]:
    return {fact: figure.value for fact, figure in figures_of(readings, NAMED).items()}


def test_wide_vectors_have_their_registers() -> None:
    assert values(QUIET) == {
        "vector_width": 16,
        "vector_registers": 32,
        "mads_per_nanosecond": 100.0,
        "bandwidth": 50.0,
        "launch_microseconds": 3.0,
        "winograd_transform_cost": 16.0,  # in units of products that take half as long
    }


def test_every_figure_is_a_fact_with_a_comment_of_one_line() -> None:
    figures = figures_of(QUIET, NAMED)
    Target().with_facts({fact: figure.value for fact, figure in figures.items()})
    assert all(figure.comment and "\n" not in figure.comment for figure in figures.values())


@pytest.mark.parametrize(("gain", "width"), [(0.5, 8), (0.9, 8), (0.98, 16), (2.0, 16)])
def test_vectors_of_the_processor_need_not_be_faster(gain: float, width: int) -> None:
    readings = Readings([[gain * 10 * PS, 10 * PS]], QUIET.copies, QUIET.launches)
    assert figures_of(readings, WIDE)["vector_width"].value == width


@pytest.mark.parametrize(("gain", "passes"), [(0.9, None), (1.0, 2), (1.25, 2), (1.5, None)])
def test_wide_vectors_that_are_not_faster_take_two_passes(gain: float, passes: int | None) -> None:
    readings = Readings([[gain * 10 * PS, 10 * PS]], QUIET.copies, QUIET.launches)
    found = figures_of(readings, WIDE).get("vector_passes")
    assert (found.value if found else None) == passes


@pytest.mark.parametrize(("gain", "width"), [(0.5, 8), (1.0, 8), (1.15, 8), (1.25, 16), (2.0, 16)])
def test_other_vectors_are_wide_only_where_that_is_clearly_faster(gain: float, width: int) -> None:
    found = values(Readings([[gain * 10 * PS, 10 * PS]], QUIET.copies, QUIET.launches))
    assert found["vector_width"] == width
    assert ("vector_registers" in found) == (width == 16)
    assert found.get("winograd_transform_cost") == (8 * gain if width == 16 else None)
    assert found["mads_per_nanosecond"] == (100.0 if width == 16 else float(f"{100 / gain:.2g}"))


@pytest.mark.parametrize(("gain", "width"), [(1.0, 8), (1.5, 16), (2.0, 16)])
def test_a_busy_neighbour_changes_little(gain: float, width: int) -> None:
    rng = np.random.default_rng(0)
    # Slower or faster from round to round, and in every third of them interrupted in one width.
    load = rng.uniform(1.0, 3.0, (25, 1)) * np.where(rng.random((25, 2)) < 0.15, 5.0, 1.0)
    tiles = (load * [gain * 10 * PS, 10 * PS]).tolist()
    copies = 0.02e-9 * np.append(1.0, rng.uniform(1.0, 4.0, 8))
    launches = 3e-6 * np.append(1.0, rng.uniform(1.0, 10.0, 24))
    found = values(Readings(tiles, copies.tolist(), launches.tolist()))
    assert found["vector_width"] == width
    assert (found["bandwidth"], found["launch_microseconds"]) == (50.0, 3.0)
    peak = found["mads_per_nanosecond"]
    assert isinstance(peak, float)
    assert 0.7 < peak / (100.0 if width == 16 else 100.0 / gain) <= 1.0


def test_a_machine_that_lets_one_core_work_says_nothing_of_launches() -> None:
    found = values(Readings(QUIET.tiles, QUIET.copies, []))
    assert found == {k: v for k, v in values(QUIET).items() if k != "launch_microseconds"}


def test_a_turn_takes_some_time_if_it_was_measured() -> None:
    assert "turn_microseconds" not in values(QUIET)
    measured = Readings(QUIET.tiles, QUIET.copies, QUIET.launches, [0.0, 0.52e-6, 9e-6])
    assert values(measured)["turn_microseconds"] == 0.52
    at_once = Readings(QUIET.tiles, QUIET.copies, QUIET.launches, [0.0, 0.0, 9e-6])
    assert values(at_once)["turn_microseconds"] == 0.1


def test_figures_have_two_digits() -> None:
    odd = Readings([[20 * PS, 9.6543 * PS]], [0.0163e-9], [2.3456e-6])
    found = values(odd)
    assert found["mads_per_nanosecond"] == 100.0
    assert (found["bandwidth"], found["launch_microseconds"]) == (61.0, 2.3)


def test_a_clock_that_stands_still_gives_facts_of_a_target() -> None:
    Target().with_facts(values(Readings([[1e-15, 0.0]], [0.0], [0.0])))
