"""Convolutions measured in their forms, the choice that follows, and the network's last word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import clopt
from clopt.compiled_model import CompiledModel
from clopt.context import CloptContext
from clopt.decisions.database import TuningDatabase
from clopt.decisions.record import Record
from clopt.dialects import cl, nn, tir
from clopt.passes.nn.forms import open_convolutions
from clopt.passes.nn.tuned_forms import TunedForms
from clopt.targets import load_target
from clopt.tuning import confirm_choices
from clopt.tuning.choices import ChoiceSession, Measured
from clopt.tuning.confirm_choices import compiled_by_choices, confirm_forms, confirm_layouts
from clopt.tuning.forms import TunedFormChoice
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.session import Budget
from clopt.tuning.trial import Fault, Result, Task, Trial
from support.nn.layout_graphs import Graph
from support.tuning.by_task import DEVICE, PlantedMachines
from support.tuning.comparisons import RATIOS, PlantedComparison
from support.tuning.networks import default_trial, noise

TARGET = load_target("pocl")
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
MODEL = TunedModel(DIGITS, "pocl", None, {"batch": 1})


def forms(target: cl.Target = TARGET) -> TunedFormChoice:
    """Two equal convolutions, and one with more products than one of them."""
    graph = Graph((1, 16, 12, 12))
    x = graph.conv(graph.relu(graph.conv(graph.x, 16)), 16, kernel=1)
    x = graph.add(nn.ConvOp(graph.conv(x, 16), graph.constant(24, 16, 3, 3)))
    module = graph.module(x, target=target)
    functions, ctx = nn.networks_of(module), CloptContext()
    found = [open_convolutions(function, target, ctx) for function in functions]
    return TunedFormChoice(found, functions, ctx.weights, target)


def is_direct(task: Task) -> bool:
    return "winograd" not in task.name


def slow_transforms(task: Task) -> float:
    return 100.0 if is_direct(task) else 500.0


def measured(
    path: Path, times: Callable[[Task], float | Fault], budget: Budget | None = None
) -> tuple[list[Trial], list[Record]]:
    """What a session tried, and the records of the database."""
    machines, journal = PlantedMachines(times), DatabaseJournal(path, DEVICE)
    kernels = forms().kernels()
    ChoiceSession(kernels, TARGET, machines, journal, budget or Budget()).run()
    return machines.tried, list(TuningDatabase.read(path).records) if path.exists() else []


def test_the_form_is_the_one_that_a_device_is_fast_in(tmp_path: Path):
    tried, known = measured(tmp_path / "db", slow_transforms)
    assert [each.form for each in known if each.default] == ["winograd 4", "winograd 2"]
    place, (found,) = DatabaseJournal(tmp_path / "db", DEVICE).place, forms().networks
    choice = TunedForms(TuningDatabase(tuple(known)), place, TARGET).choose(found)
    assert list(choice.forms.values()) == ["direct"] * 3
    assert len(tried) == len(known) == 6
    assert not measured(tmp_path / "db", slow_transforms)[0]


def test_the_most_products_come_first_until_the_budget_is_spent(tmp_path: Path):
    _, known = measured(tmp_path / "db", slow_transforms, Budget(trials=1))
    first, second = forms().kernels()
    assert [each.form for each in first] == ["direct", "winograd 2", "winograd 4"]
    assert {(each.site, each.choice) for each in known} == {each.key for each in first}
    # Two equal ones count twice.
    equal, _, other = (each.digest for each in forms().networks[0])
    assert [first[0].key[0], second[0].key[0]] == [equal, other]


def test_borders_and_transforms_of_weights_are_no_launches():
    (several, _) = forms().kernels()
    for each in several:
        (task,) = each.tasks()
        assert task.launches == 1
        assert is_direct(task) == (each.form == "direct")
        assert 0 < task.traffic < forms().traffic
    # With matrix products between the transforms these are launches of their own.
    (several, _) = forms(load_target("nvidia")).kernels()
    names = [[task.name.rstrip("_0123456789") for task in each.tasks()] for each in several]
    assert names == [["conv"], *[["winograd_input", "matmul", "winograd_output"]] * 2]


def has_transforms(model: CompiledModel) -> bool:
    funcs = [op for op in model.module.ops if isinstance(op, tir.FuncOp)]
    return any("winograd" in func.sym_name.data for func in funcs)


def planted(path: Path, transforms: float) -> DatabaseJournal:
    """A database with times of the digits' convolutions on this machine's device."""
    device: InstrumentDevice = OpenCLInstrument("pocl").device()
    journal, found = DatabaseJournal(path, device), MODEL.forms()
    for each in (each for several in found.kernels() for each in several):
        (task,) = each.tasks()
        plan, time = default_trial(task).plan, 10.0 if each.form == "direct" else transforms
        result = Result(
            device.name, device.driver, 0.1, time, 0.01, 9, kernel=task.kernel, plan=plan
        )
        journal.note_choice(Measured(each, [result], [1]), found.target)
    return journal


@pytest.mark.parametrize(("ratio", "is_faster"), RATIOS.items())
def test_the_network_has_the_last_word_and_results_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ratio: float, *, is_faster: bool
):
    monkeypatch.setattr(confirm_choices, "confirm", PlantedComparison(ratio))
    journal = planted(tmp_path / "db", transforms=1.0)
    usual, tuned = MODEL.compiled("off"), compiled_by_choices(MODEL, journal)
    assert [has_transforms(model) for model in (usual, tuned)] == [False, True]
    x = noise((1, *usual.inputs[0].shape[1:]))
    session = onnxruntime.InferenceSession(DIGITS)
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(tuned.run([x])[0], expected, rtol=1e-4, atol=1e-4)
    assert confirm_forms(MODEL, MODEL.forms(), journal) is not None
    assert confirm_forms(MODEL, MODEL.forms(), journal) is None
    compiled = clopt.compile(DIGITS, dims={"batch": 1}, device="pocl", tuning=journal.path)
    assert str(compiled.module) == str((tuned if is_faster else usual).module)
    # Layouts are those of the networks in these forms.
    networks = MODEL.networks(journal.tuning)
    ops = [op.name for problem in networks.problems for op in problem.function.body.block.ops]
    assert ("nn.winograd_conv" in ops) == is_faster
    assert confirm_layouts(MODEL, networks, journal) is None


def test_usual_forms_are_not_compared(tmp_path: Path):
    assert confirm_forms(MODEL, MODEL.forms(), planted(tmp_path / "db", transforms=20.0)) is None
