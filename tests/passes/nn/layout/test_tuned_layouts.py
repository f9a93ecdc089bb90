"""Layouts by the times of a tuning database: those of the nearest device, beyond the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from clopt.decisions import Choices
from clopt.decisions.database import DeviceDriver, TuningDatabase
from clopt.decisions.record import Record, facts_that_count
from clopt.dialects import nn
from clopt.messages.explanations import Explained, Explanation, Why
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.demanded import demanded_layouts
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.measured import Variant
from clopt.passes.nn.layout.problem import LayoutProblem
from clopt.passes.nn.layout.tuned_layouts import (
    LayoutChoice,
    TunedLayouts,
    choice_key,
    chosen_variants,
    kernels_in_layouts,
    network_key,
)
from clopt.targets import load_target
from support.nn.layout_graphs import Graph
from support.tuning.records import HERE, of_layouts

TARGET = load_target("pocl").with_facts({"vector_width": 4, "blocks": "auto"})
FACTS = facts_that_count(TARGET)
NEWER, OTHER = replace(HERE, driver="2.0"), replace(HERE, name="Another processor (tests)")
NEW = "2026-02-28T12:00:00Z"


def problem() -> LayoutProblem:
    """Two convolutions that differ, and a third like the second."""
    graph = Graph((1, 8, 6, 6))
    x = graph.relu(graph.conv(graph.x, 8))
    x = graph.relu(graph.conv(x, 8, kernel=1))
    result = graph.relu(graph.conv(x, 8, kernel=1))
    module = graph.module(result, target=TARGET)
    (function,) = nn.networks_of(module)
    groups = form_groups(function.body.block.ops, TEXELS)
    return LayoutProblem(function, groups, TARGET)


def variants(of: LayoutProblem) -> list[tuple[Variant, float]]:
    return [each for found in kernels_in_layouts(of) for each in found]


def measured(times: Callable[[Variant, float], float | None], **fields: Any) -> list[Record]:
    """Records of all variants, by a function of variant and cost."""
    found = {variant.key: (variant, cost) for variant, cost in variants(problem())}
    return [
        of_layouts(*key, times(variant, cost), **({"facts": FACTS} | fields))
        for key, (variant, cost) in found.items()
    ]


def choose(records: Iterable[Record], device: DeviceDriver = HERE) -> LayoutChoice:
    database = TuningDatabase(tuple(records))
    return TunedLayouts(database, device, TARGET).choose(problem())


def layouts(choice: LayoutChoice) -> set[tuple[str, str]]:
    return chosen_variants(choice.problem, choice.solution)


def plain_is_fast(variant: Variant, cost: float) -> float:
    return 10.0 if variant.layouts == "plain -> plain" else 1000.0


def blocks_are_fast(variant: Variant, cost: float) -> float:
    return 10.0 if variant.layouts == "[1 by 4] -> [1 by 4]" else 1000.0


@pytest.mark.parametrize("times", [plain_is_fast, blocks_are_fast])
def test_the_layouts_are_those_that_the_times_say(times: Callable[[Variant, float], float]):
    choice = choose(measured(times))
    fast = {v.key for v, cost in variants(problem()) if times(v, cost) == 10.0}
    assert layouts(choice) == fast
    assert not choice.remarks


@pytest.mark.parametrize("is_measured", [True, False])
def test_layouts_are_explained_by_what_decides(is_measured: bool):
    choices = Choices((), explained := list[Explained]())
    demanded_layouts(choose(measured(plain_is_fast) if is_measured else []), choices)
    rows = [each for each in explained if isinstance(each, Explanation) and each.site]
    why = Why.MEASURED if is_measured else Why.ESTIMATED
    assert [each.reason.why for each in rows] == [why] * 3
    for each in rows:
        assert each.microseconds is not None
        assert all(us is not None and us >= each.microseconds for _, us in each.alternatives)


def test_without_times_the_model_decides():
    default = problem()
    usual = chosen_variants(default, default.solve())
    for records in ([], measured(plain_is_fast, target="another"), measured(lambda v, c: 7 * c)):
        assert layouts(choose(records)) == usual


def test_gains_within_the_noise_change_nothing():
    default = problem()
    usual = chosen_variants(default, default.solve())

    def other_is_faster(variant: Variant, cost: float) -> float:
        return 100.0 if variant.key in usual else 95.0

    assert layouts(choose(measured(other_is_faster, noise=0.05))) == usual
    assert layouts(choose(measured(other_is_faster, noise=0.01))) != usual


def test_kernels_that_do_not_run_are_not_chosen():
    usual = layouts(choose([]))
    assert "[1 by 4] -> [1 by 4]" in {key[1] for key in usual}
    records = measured(lambda v, c: None if v.layouts == "[1 by 4] -> [1 by 4]" else c)
    assert "[1 by 4] -> [1 by 4]" not in {key[1] for key in layouts(choose(records))}


def test_what_nobody_measured_costs_more_where_the_rest_took_longer():
    default = problem()
    first, *rest = kernels_in_layouts(default)
    times = {variant.key: 50 * cost for variant, cost in first}
    records = [of_layouts(*key, time, facts=FACTS, noise=0.0) for key, time in times.items()]
    # So that there is a choice to make.
    slow = next(iter(chosen_variants(default, default.solve()) & set(times)))
    records = [
        structs.replace(each, microseconds=1e5) if (each.site, each.choice) == slow else each
        for each in records
    ]
    tuned = choose(records).problem
    assert tuned.ratio == pytest.approx(50)
    costs = dict(
        zip(
            (variant.key for found in rest for variant, _ in found),
            (cost for found in rest for _, cost in found),
            strict=True,
        )
    )
    for variant, cost in variants(tuned):
        if variant.key in costs:
            assert cost == pytest.approx(50 * costs[variant.key])
    value = next(iter(tuned.variables.values()))
    type_ = nn.tensor_type(value.value)
    both = [
        each.tables.transform(type_, value.candidates, value.readable) for each in (default, tuned)
    ]
    launch = TARGET.machine.launch_microseconds
    moved = [np.where(table > 0, table - launch, 0) for table in both]
    np.testing.assert_allclose(moved[1], 50 * moved[0])
    assert moved[1].max() > 0


def test_records_of_the_nearest_device_count_alone():
    here, elsewhere = (
        measured(blocks_are_fast),
        measured(plain_is_fast, device=OTHER, when=NEW),
    )
    fast = {v.key for v, cost in variants(problem()) if plain_is_fast(v, cost) == 10.0}
    assert not layouts(choose([*here, *elsewhere])) & fast
    found = choose(elsewhere)
    assert layouts(found) == fast
    (remark,) = found.remarks
    assert "on Another processor (tests), driver 1.0; run clopt-tune" in remark
    assert len(choose(here, NEWER).remarks) == 1
    facts = FACTS | {"compute_units": 64}
    assert "other facts" in choose(measured(plain_is_fast, facts=facts)).remarks[0]


@pytest.mark.parametrize(
    ("usual", "other", "is_taken"),
    [
        (10.0, 9.0, True),
        (10.0, 9.9, False),  # within the noise of 1 %
        (10.0, 11.0, False),
        (10.0, None, False),
        (None, 9.0, True),
    ],
)
def test_layouts_that_are_no_faster_in_the_network_do_not_count(
    usual: float | None, other: float | None, is_taken: bool
):
    default, records = problem(), measured(plain_is_fast)
    tuned, network = choose(records), network_key(problem())
    keys = [
        choice_key(p, s) for p, s in ((default, default.solve()), (tuned.problem, tuned.solution))
    ]
    whole = [
        of_layouts(network, key, time, facts=FACTS)
        for key, time in zip(keys, (usual, other), strict=True)
    ]
    assert (layouts(choose([*records, *whole])) == layouts(tuned)) == is_taken
