"""Kernels measured in layouts, the choice that follows, and what the network says of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import clopt
from clopt.context import CloptContext
from clopt.decisions.database import TuningDatabase
from clopt.decisions.record import Record
from clopt.dialects import nn, tir
from clopt.passes.nn.choose import layout_problem
from clopt.passes.nn.forms import rewrite
from clopt.passes.nn.layout.tuned_layouts import LayoutChoice, TunedLayouts, chosen_variants
from clopt.targets import load_target
from clopt.tuning import confirm_choices
from clopt.tuning.choices import ChoiceSession, Measured
from clopt.tuning.confirm_choices import compiled_by_choices, confirm_layouts
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.layouts import InLayouts, Networks
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.records import append, record_of, record_of_choice
from clopt.tuning.session import Budget
from clopt.tuning.trial import Fault, Result, Task, Trial
from support.nn.layout_graphs import Graph
from support.tuning.by_task import DEVICE, PlantedMachines
from support.tuning.comparisons import RATIOS, PlantedComparison
from support.tuning.networks import noise

TARGET = load_target("pocl").with_facts({"vector_width": 4, "blocks": "auto"})
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
PLAN = tir.Plan("rows", 1, {})
MODEL = TunedModel(DIGITS, "pocl", None, {"batch": 1})


def has_blocks(task: Task) -> bool:
    """Whether a kernel reads or writes images in blocks of four channels."""
    ports = re.findall(r"memref<[0-9x]*f32>", task.program.partition("cl.program")[2])
    return any(port.count("x") == 5 for port in ports)


def slow_blocks(task: Task) -> float:
    return 500.0 if has_blocks(task) else 10.0


def slow_plain(task: Task) -> float:
    return 10.0 if has_blocks(task) else 500.0


def names(device: InstrumentDevice) -> tuple[str, str]:
    return device.name, device.driver


def networks() -> Networks:
    """Three convolutions, the second twice."""
    graph = Graph((1, 8, 6, 6))
    x = graph.relu(graph.conv(graph.x, 8))
    weight = graph.constant(8, 8, 1, 1)
    for _ in range(2):
        x = graph.add(nn.ConvOp(x, weight))
    module = graph.module(x, target=TARGET)
    (function,) = nn.networks_of(module)
    ctx = CloptContext()
    rewrite(function, TARGET, ctx)
    return Networks([layout_problem(function, TARGET, ctx)], ctx.weights, TARGET)


def measured(
    path: Path, times: Callable[[Task], float | Fault], budget: Budget | None = None
) -> tuple[list[Trial], list[Record]]:
    """What a session tried, and the records of layouts in the database."""
    machines, journal = PlantedMachines(times), DatabaseJournal(path, DEVICE)
    kernels = networks().kernels()
    ChoiceSession(kernels, TARGET, machines, journal, budget or Budget()).run()
    records = TuningDatabase.read(path).records if path.exists() else ()
    return machines.tried, [record for record in records if record.kind == "layouts"]


def chosen(path: Path) -> LayoutChoice:
    (problem,) = networks().problems
    place = DatabaseJournal(path, DEVICE).place
    return TunedLayouts(TuningDatabase.read(path), place, TARGET).choose(problem)


@pytest.mark.parametrize("times", [slow_blocks, slow_plain])
def test_the_layouts_are_those_that_a_device_is_fast_in(
    tmp_path: Path, times: Callable[[Task], float]
):
    _, records = measured(tmp_path / "db", times)
    assert {(each.device, each.driver, each.fault) for each in records} == {
        (DEVICE.name, DEVICE.driver, "")
    }
    choice = chosen(tmp_path / "db")
    layouts = {key[1] for key in chosen_variants(choice.problem, choice.solution)}
    assert ("plain -> plain" in layouts) == (times is slow_blocks)
    assert ("[1 by 4] -> [1 by 4]" in layouts) == (times is slow_plain)
    assert (choice.problem.measured is not None) == (times is slow_blocks)


def test_what_is_known_is_not_tried_again(tmp_path: Path):
    first, records = measured(tmp_path / "db", slow_blocks)
    assert len({trial.task.kernel for trial in first}) == len(first) > 4
    again, same = measured(tmp_path / "db", slow_plain)
    assert not again
    assert same == records
    # What is known of plans is not tried, either.
    for number, trial in enumerate(first[:3], 1):
        result = Result(
            *names(DEVICE), 0.1, 7.0 * number, 0.01, 9, kernel=trial.task.kernel, plan=trial.plan
        )
        append(tmp_path / "plans", [record_of(trial.task, result, is_default=True)])
    again, _ = measured(tmp_path / "plans", slow_plain)
    assert [trial.task.kernel for trial in again] == [trial.task.kernel for trial in first[3:]]


def test_the_biggest_share_comes_first_until_the_budget_is_spent(tmp_path: Path):
    kernels = networks().kernels()
    assert [len({each.variant.work.digest for each in several}) for several in kernels] == [1, 1]
    _, records = measured(tmp_path / "db", slow_blocks, Budget(trials=1))
    assert {each.site for each in records} == {kernels[0][0].variant.work.digest}
    assert {each.choice for each in records} == {each.variant.layouts for each in kernels[0]}
    assert sum(each.default for each in records) >= 1
    assert not measured(tmp_path / "late", slow_blocks, Budget(seconds=0.0))[0]


def test_layouts_far_from_the_cheapest_are_not_tried():
    for several in networks().kernels():
        least = min(each.cost for each in several)
        assert all(each.cost <= 2 * least or each.is_default for each in several)


def test_a_kernel_of_two_launches_costs_both_and_one_more_launch():
    kernel = networks().kernels()[0][0]
    results = [
        Result("D", "1", 1.0, time, share, runs, kernel="k", plan=PLAN)
        for time, share, runs in ((10.0, 0.01, 9), (30.0, 0.05, 6))
    ]
    record = record_of_choice(Measured(kernel, results, [1, 2]), TARGET)
    assert record.microseconds == pytest.approx(
        10 + 2 * 30 + 2 * TARGET.machine.launch_microseconds
    )
    assert record.noise == pytest.approx((0.01 * 10 + 0.05 * 60) / 70)
    assert (record.runs, record.seconds) == (6, 2.0)
    wrong = replace(results[1], microseconds=None, fault=Fault.WRONG, reason="wrong by 1")
    record = record_of_choice(Measured(kernel, [results[0], wrong], [1, 1]), TARGET)
    assert (record.microseconds, record.fault, record.reason) == (None, "wrong", "wrong by 1")


def test_layouts_that_do_not_run_are_not_chosen(tmp_path: Path):
    _, records = measured(tmp_path / "db", lambda t: Fault.CRASHED if has_blocks(t) else 10.0)
    assert {each.fault for each in records if "by" in each.choice} == {"crashed"}
    choice = chosen(tmp_path / "db")
    layouts = {key[1] for key in chosen_variants(choice.problem, choice.solution)}
    assert layouts == {"plain -> plain"}


def planted(path: Path, microseconds: Callable[[InLayouts], float]) -> DatabaseJournal:
    """A database with times of the kernels of the digits on this machine's device."""
    journal = DatabaseJournal(path, OpenCLInstrument("pocl").device())
    found = MODEL.networks()
    for kernel in (each for several in found.kernels() for each in several):
        task = kernel.tasks()[0]
        result = Result(
            *(*names(journal.device), 0.1, microseconds(kernel), 0.01, 9),
            kernel=task.kernel,
            plan=PLAN,
        )
        journal.note_choice(Measured(kernel, [result], [1]), found.target)
    return journal


@pytest.mark.parametrize(("ratio", "is_faster"), RATIOS.items())
def test_the_network_has_the_last_word_and_results_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ratio: float, *, is_faster: bool
):
    monkeypatch.setattr(confirm_choices, "confirm", PlantedComparison(ratio))
    plain = planted(
        tmp_path / "db",
        lambda kernel: 10.0 if "by" not in kernel.variant.layouts else 1000.0,
    )
    (problem,) = MODEL.networks().problems
    usual = MODEL.compiled("off")
    tuned = compiled_by_choices(MODEL, plain)
    assert str(tuned.module) != str(usual.module)
    x = noise((1, *usual.inputs[0].shape[1:]))
    session = onnxruntime.InferenceSession(DIGITS)
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    for model in (usual, tuned):
        (found,) = model.run([x])
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert confirm_layouts(MODEL, MODEL.networks(), plain) is not None
    assert confirm_layouts(MODEL, MODEL.networks(), plain) is None
    target = problem.target
    choice = TunedLayouts(TuningDatabase.read(plain.path), plain.place, target).choose(problem)
    assert (choice.problem is not problem) == is_faster
    compiled = clopt.compile(DIGITS, dims={"batch": 1}, device="pocl", tuning=plain.path)
    assert str(compiled.module) == str((tuned if is_faster else usual).module)
