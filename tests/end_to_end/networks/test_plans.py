"""Any plan of any kernel of a network gives what the default gives, launch by launch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import islice

import numpy as np
import pytest
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.passes.tir.rules.plans import planned
from clopt.passes.tir.schedule import ScheduleError
from clopt.targets import TargetChoice
from support import effort
from support.onnx import builders
from support.onnx.on_devices import TOLERANCES, expected_outputs
from support.tir.plan_trials import PlanTrials

NETWORKS = ("mobilenet_v2", "resnet18", "vit_tiny")
# Launches that cost nothing keep kernels apart, so that each has its plan and its results.
TARGETS = (
    "pocl launch_microseconds=0",
    "nvidia fp16=false",
    "adreno-740 texture=prefer fp16=false",
)
POINTS = effort.examples(2, long=300)
ROUNDS = effort.examples(1, long=3000)


CASES = [
    pytest.param(network, target, marks=() if i == j else pytest.mark.long)
    for i, network in enumerate(NETWORKS)
    for j, target in enumerate(TARGETS)
]
"""A target for each network by default, all of them in the long form."""


@cache
def trials_of(network: str, target: str) -> PlanTrials:
    described = TargetChoice.parse(target).load()
    assert described is not None
    return PlanTrials(builders.NETWORKS[network](), described)


@cache
def reference(network: str, target: str) -> tuple[Mapping[str, np.ndarray], ...]:
    """Inputs, and what each launch writes with the plans that clopt chooses."""
    model = builders.NETWORKS[network]()
    inputs = builders.inputs_for(model)
    trials = trials_of(network, target)
    results = trials.run(trials.defaults, inputs)
    *_, last = results.values()
    (want,) = expected_outputs(model, inputs)
    assert np.abs(last - want).max() <= TOLERANCES["f32"] * np.abs(want).max()
    return inputs, results


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("network", "target"), CASES)
def test_every_plan_computes_the_same(network: str, target: str, device: str) -> None:
    trials, (inputs, expected) = trials_of(network, target), reference(network, target)
    rng = np.random.default_rng(effort.seed())
    rounds = islice(trials.rounds(POINTS, rng), ROUNDS)
    faults = [fault for plans in rounds for fault in trials.faults(plans, inputs, expected, device)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_text_of_a_plan_is_the_plan(network: str, target: str) -> None:
    trials, rng = trials_of(network, target), np.random.default_rng(effort.seed())
    for name in trials.kernels:
        for plan in trials.plans_of(name, 3, rng):
            assert Parser(CloptContext(), str(plan)).parse_attribute() == plan


@pytest.mark.parametrize("target", TARGETS)
def test_plans_of_other_kernels_fit_or_are_refused(target: str) -> None:
    """Either way the kernel stays as it was, until the schedule is committed."""
    trials, rng = trials_of("vit_tiny", target), np.random.default_rng(effort.seed())
    plans = [plan for name in trials.kernels for plan in trials.plans_of(name, 1, rng)]
    refused = 0
    for func in trials.kernels.values():
        before = str(func)
        for plan in rng.permutation(len(plans))[:10]:
            refused += _is_refused(func, plans[plan], trials)
        assert str(func) == before
    assert 0 < refused < 10 * len(trials.kernels)


def _is_refused(func: tir.FuncOp, plan: tir.PlanAttr, trials: PlanTrials) -> bool:
    func.plan = plan
    refusal = ""
    try:
        planned(func, trials.target).func.verify()
    except ScheduleError as error:
        refusal = str(error)
    func.plan = None
    assert not refusal or refusal.startswith(f"@{func.sym_name.data}: its plan is ")
    return bool(refusal)
