"""Kernels tried joined and apart, the choice that follows, and what the network says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from clopt.compiled_model import CompiledModel
from clopt.decisions.record import Record, facts_that_count
from clopt.dialects import tir
from clopt.passes.tir.kernel_key import kernel_key
from clopt.passes.tir.rules.plans import default_plan
from clopt.passes.tir.tuned_joins import Pair, TunedJoins
from clopt.tuning import confirm_fusion as comparison
from clopt.tuning import fusion
from clopt.tuning.confirm_choices import compiled_by_choices
from clopt.tuning.confirm_fusion import confirm_fusion
from clopt.tuning.history import histories
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.records import append, read
from clopt.tuning.session import Budget, Progress, Session
from support.tuning.comparisons import RATIOS, PlantedTurns
from support.tuning.fake import FakeMachines
from support.tuning.networks import noise, separable_network
from support.tuning.records import record

FAKE = InstrumentDevice("Fake (tests)", "1.0")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TunedModel:
    """Two pairs, of which the model joins the first."""
    path = tmp_path_factory.mktemp("model") / "separable.onnx"
    onnx.save(separable_network(), path)
    return TunedModel(path, "pocl", "pocl blocks=prefer")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> TunedModel:
    """A kernel and a pair behind it, which the model joins."""
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(separable_network([16]), path)
    return TunedModel(path, "pocl", "pocl blocks=prefer")


def the_other_way(pair: Pair) -> tuple[float, float, float]:
    """Times of the joined kernel and its parts, in microseconds."""
    return (1000.0, 10.0, 10.0) if pair.pays else (10.0, 1000.0, 1000.0)


def planted(
    path: Path,
    model: TunedModel,
    times: Callable[[Pair], tuple[float, float, float]] = the_other_way,
    device: InstrumentDevice = FAKE,
) -> DatabaseJournal:
    """A database with times of all pairs' kernels."""
    for pair in model.pairs():
        found = zip(pair.kernels, times(pair), strict=True)
        append(path, [planted_record(pair, kernel, time, device) for kernel, time in found])
    return DatabaseJournal(path, device)


def planted_record(
    pair: Pair, kernel: tir.FuncOp, time: float | None, device: InstrumentDevice
) -> Record:
    target = pair.model.target
    plan = default_plan(kernel, target).data
    return record(
        plan,
        time,
        site=kernel_key(kernel),
        facts=facts_that_count(target),
        device=DatabaseJournal(Path(), device).place,
    )


def joined(journal: DatabaseJournal, model: TunedModel) -> list[bool]:
    """Of each pair whether the compiler joins it."""
    pairs = model.pairs()
    tuned = TunedJoins((str(journal.path),), (), journal.place, pairs[0].model.target)
    return [tuned.is_joined(pair) for pair in pairs]


def test_kernels_of_other_fusions_are_tasks_without_launches(tmp_path: Path, model: TunedModel):
    usual = {task.kernel: task for task in model.tasks()}
    assert [(task.launches, task.other_launches) for task in usual.values()] == [
        *[(1, 0)] * 5,  # in front of either pair a kernel, one joined kernel, two others
        *[(0, 1)] * 3,
    ]
    (first, second) = model.pairs()
    others = {task.kernel for task in usual.values() if not task.launches}
    assert others == {kernel_key(each) for each in (first.first, first.second, second.joined)}
    # By planted times the model has those, and the task is the same either way.
    changed = model.tasks(planted(tmp_path / "db", model).tuning)
    assert {task.kernel: task.program for task in changed} == {
        key: task.program for key, task in usual.items()
    }
    assert others < {task.kernel for task in changed if task.launches}


def test_joins_far_from_paying_are_not_tried(model: TunedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fusion, "_NEAR", 1.2)
    joins = [task for task in model.tasks() if not task.launches and "; " in task.nodes]
    assert not joins


def test_they_count_nothing_and_get_a_share_of_the_trials(tmp_path: Path, small: TunedModel):
    tasks = small.tasks()
    here = {task.kernel for task in tasks if task.launches}
    journal = DatabaseJournal(tmp_path / "db", FAKE)
    said: list[Progress] = []
    machines = FakeMachines(lambda plan: 10.0 + len(str(plan)) % 7)
    session = Session(tasks, machines, journal, Budget(trials=60), told=said.append)
    outcomes = session.run()
    assert len(outcomes) == len(tasks)
    present = [each for each in outcomes if each.task.kernel in here]
    total = sum(each.default.microseconds or 0.0 for each in present)
    assert said[-1].total == total
    assert said[-1].saved == sum(each.saved for each in present)
    counts = {task.kernel: 0 for task in tasks}
    for trial in machines.tried:
        counts[trial.task.kernel] += 1
    shares = [[n for key, n in counts.items() if (key in here) == wanted] for wanted in (1, 0)]
    assert min(shares[1]) >= 1
    assert np.mean(shares[1]) < np.mean(shares[0])
    (history,) = histories(read([journal.path]).records)
    assert history.untuned == total


def test_a_plan_that_crashed_here_joins_nothing(tmp_path: Path, model: TunedModel):
    elsewhere = planted(tmp_path / "db", model, device=InstrumentDevice("Another", "1"))
    journal = DatabaseJournal(elsewhere.path, FAKE)
    assert joined(journal, model) == [False, True]
    pair = model.pairs()[1]
    append(journal.path, [planted_record(pair, pair.joined, None, FAKE)])
    assert joined(journal, model) == [False, False]


def result(model: CompiledModel) -> np.ndarray:
    (found,) = model.run([noise(model.inputs[0].shape)])
    return found


def kernels(model: CompiledModel) -> int:
    return sum(isinstance(op, tir.FuncOp) for op in model.module.ops)


@pytest.mark.parametrize(("ratio", "is_faster"), RATIOS.items())
def test_the_network_has_the_last_word(
    tmp_path: Path,
    small: TunedModel,
    monkeypatch: pytest.MonkeyPatch,
    ratio: float,
    *,
    is_faster: bool,
):
    monkeypatch.setattr(comparison, "take_turns", PlantedTurns(ratio))
    journal = planted(tmp_path / "db", small)
    assert joined(journal, small) == [False]
    confirmation = confirm_fusion(small, journal)
    assert confirmation is not None
    assert (confirmation.pairs, confirmation.changed) == (1, is_faster)
    assert joined(journal, small) == [not is_faster]


@pytest.mark.usefixtures("quick_builds")
def test_networks_both_ways_have_the_same_results(tmp_path: Path, small: TunedModel):
    journal = planted(tmp_path / "db", small, device=OpenCLInstrument("pocl").device())
    assert joined(journal, small) == [False]
    by_times = small.compiled(journal.path)
    session = onnxruntime.InferenceSession(small.path)
    (expected,) = session.run(None, {"x": noise((1, 16, 10, 10))})
    confirmation = confirm_fusion(small, journal)
    assert confirmation is not None
    decided = [record for record in read([journal.path]).records if record.fusion]
    assert {each.fusion for each in decided} == {"joined", "apart"}
    assert all(each.microseconds and each.runs == 27 for each in decided)
    (is_joined,) = joined(journal, small)
    assert (confirmation.pairs, confirmation.changed) == (1, not is_joined)
    compiled = small.compiled(journal.path)
    assert (kernels(by_times), kernels(compiled)) == (3, 3 - is_joined)
    for each in (by_times, compiled):
        np.testing.assert_allclose(result(each), expected, rtol=1e-4, atol=1e-4)
    # Default plans are compared in the fusion that was decided.
    assert kernels(compiled_by_choices(small, journal)) == kernels(compiled)


def test_nothing_is_measured_where_the_times_agree_with_the_model(
    tmp_path: Path, model: TunedModel
):
    def as_usual(pair: Pair) -> tuple[float, float, float]:
        return (10.0, 1000.0, 1000.0) if pair.pays else (1000.0, 10.0, 10.0)

    assert confirm_fusion(model, planted(tmp_path / "db", model, as_usual)) is None
    assert confirm_fusion(model, DatabaseJournal(tmp_path / "none", FAKE)) is None
