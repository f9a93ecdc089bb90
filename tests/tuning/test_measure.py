"""Plans are checked and timed on real devices as they run in their model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from clopt import options
from clopt.backends.pyopencl_runtime import choose_place
from clopt.passes.tir.rules.plans import plan_of
from clopt.targets import load_target
from clopt.tensor_info import TensorInfo
from clopt.tuning.measure import FaultyPlanError, OpenCLInstrument, check
from clopt.tuning.programs import Programs, TrialProgram
from clopt.tuning.times import Times
from clopt.tuning.timing import Array, BuiltProgram
from clopt.tuning.trial import Fault, Result, Rival, Task, Trial
from clopt.tuning.turns import Turns
from support.tir.plans import every_space
from support.tuning.networks import default_trial, embedding_tasks, noise, residual_tasks

POCL = load_target("pocl")


def measured(instrument: OpenCLInstrument, trial: Trial) -> Result:
    turns = Turns()
    with turns.beside_others():
        return instrument.measure(trial, turns)


def first_plans(task: Task) -> list[Trial]:
    """The first point of each rule."""
    kernel = Programs(task).kernel
    return [
        Trial(task, plan_of(rule, next(space.points())).data, most_runs=6)
        for rule, space in every_space(kernel, task.target)
    ]


@pytest.mark.parametrize("name", ["pocl", "intel-cpu"])
@pytest.mark.by_default(cases=1)
def test_plans_of_each_rule_compute_what_the_naive_kernel_does(name: str):
    instrument = OpenCLInstrument(name.removesuffix("-cpu"))
    task = next(task for task in residual_tasks(load_target(name)) if "conv" in task.nodes)
    rules: set[str] = set()
    for trial in first_plans(task):
        result = measured(instrument, trial)
        assert (result.fault, result.reason) == (None, "")
        assert result.kernel == task.kernel
        assert result.plan == trial.plan
        assert result.microseconds is not None
        assert 0 < result.microseconds < 1e6 * result.seconds
        assert result.runs == 6
        rules.add(trial.plan.rule)
    assert {"register-tile", "split-reduction", "fallback"} <= rules


def test_kernels_of_images_are_compared_with_buffers():
    """Intel's runtime has images; a texel rule reads and writes them."""
    target = load_target("adreno-740").with_facts({"texture": "prefer"})
    tasks = [task for task in residual_tasks(target, channels=4) if "texture" in task.program]
    result = measured(OpenCLInstrument("intel"), replace(default_trial(tasks[0]), most_runs=6))
    assert (result.fault, result.reason) == (None, "")


def test_a_plan_that_is_no_point_of_its_rule_reaches_no_device():
    task = residual_tasks(POCL)[0]
    trial = default_trial(task)
    plan = replace(trial.plan, parameters={**trial.plan.parameters, "unknown": 1})
    result = measured(OpenCLInstrument("pocl"), replace(trial, plan=plan))
    assert result.fault is Fault.REFUSED
    assert "it has no parameter 'unknown'" in result.reason
    assert result.microseconds is None


def test_trials_share_a_context_up_to_the_next_fault(monkeypatch: pytest.MonkeyPatch):
    made: list[object] = []

    def counted(words: str, context: Any, queue: Any) -> object:
        made.extend([words] if context is None else [])
        return choose_place(words, context, queue)

    monkeypatch.setattr(options, "choose_place", counted)
    instrument, trial = OpenCLInstrument("pocl"), default_trial(residual_tasks(POCL)[0])
    wrong = replace(trial.plan, parameters={**trial.plan.parameters, "unknown": 1})
    for each in (trial, trial, replace(trial, plan=wrong), trial):
        measured(instrument, replace(each, most_runs=6))
    assert made == ["pocl"] * 2


def test_turns_are_with_a_program_that_is_built_once(monkeypatch: pytest.MonkeyPatch):
    task = next(each for each in residual_tasks(POCL, channels=32) if "conv" in each.nodes)
    fast = default_trial(task).plan
    (slow,) = (each.plan for each in first_plans(task) if each.plan.rule == "fallback")
    instrument, built = OpenCLInstrument("pocl"), OpenCLInstrument.built
    programs: list[TrialProgram] = []

    def counted(self: OpenCLInstrument, program: TrialProgram, task: Task) -> BuiltProgram:
        programs.append(program)
        return built(self, program, task)

    monkeypatch.setattr(OpenCLInstrument, "built", counted)
    for plan, rival, least, most in ((slow, fast, 150, 1e5), (fast, slow, 0.1, 67)):
        trial = Trial(task, plan, 30, Rival(100.0, rival, 100.0))
        for _ in range(2):
            result = measured(instrument, trial)
            assert result.microseconds is not None
            assert least < result.microseconds < most
    assert len(programs) == 1 + 2 * (1 + 2)  # the naive kernel, and each time one of the rivals
    wrong = replace(fast, parameters={**fast.parameters, "unknown": 1})
    assert measured(instrument, Trial(task, wrong)).fault
    assert measured(instrument, trial).microseconds
    assert len(programs) == 7 + 2  # after a fault anew


def test_a_kernel_that_the_device_cannot_run_is_a_fault_of_its_build():
    """PoCL has no arithmetic in half."""
    tasks = residual_tasks(POCL.with_facts({"fp16": True}), precision="f16")
    task = next(task for task in tasks if "conv" in task.nodes)
    result = measured(OpenCLInstrument("pocl"), default_trial(task))
    assert result.fault is Fault.BUILD, result
    assert "half precision" in result.reason


@dataclass(frozen=True)
class Altered:
    """A program with other operands or results."""

    built: BuiltProgram
    operands: Callable[[Array], Array] = lambda array: array
    results: Callable[[Array], Array] = lambda array: array

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        return self.built.inputs

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        return [self.results(each) for each in self.built.run(list(map(self.operands, inputs)))]

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        return self.built.nanoseconds(inputs, runs)


def altered(monkeypatch: pytest.MonkeyPatch, trial: Trial, **changes: Any) -> Result:
    """The result of a trial whose plan, but not the naive kernel, gets `changes`."""
    made: list[BuiltProgram] = []
    built = OpenCLInstrument.built

    def second(self: OpenCLInstrument, program: TrialProgram, task: Task) -> BuiltProgram:
        made.append(built(self, program, task))
        return Altered(made[-1], **changes) if len(made) == 2 else made[-1]

    monkeypatch.setattr(OpenCLInstrument, "built", second)
    return measured(OpenCLInstrument("pocl"), replace(trial, most_runs=6))


@pytest.mark.parametrize(("factor", "fault"), [(1 + 1e-5, None), (1 + 1e-3, Fault.WRONG)])
def test_a_plan_that_is_slightly_wrong_is_refused(
    monkeypatch: pytest.MonkeyPatch, factor: float, fault: Fault | None
):
    trial = default_trial(residual_tasks(POCL)[0])
    result = altered(monkeypatch, trial, results=lambda array: array * np.float32(factor))
    assert result.fault is fault, result.reason
    assert (result.microseconds is None) == (fault is not None)


def test_a_plan_that_reads_wrong_positions_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Integers are noise: if all were zero, these rows would be the right ones."""

    def reversed_integers(array: Array) -> Array:
        return array[..., ::-1] if array.dtype.kind == "i" else array

    (task,) = embedding_tasks(POCL, depth=8)
    result = altered(monkeypatch, default_trial(task), operands=reversed_integers)
    assert result.fault is Fault.WRONG, result.reason


@pytest.mark.parametrize(
    ("dtype", "right", "wrong"),
    [("float16", 4e-3, 3e-2), ("float32", 5e-5, 2e-4), ("float64", 5e-10, 2e-9)],
)
def test_results_may_differ_by_the_order_of_sums_alone(dtype: str, right: float, wrong: float):
    """Relative to the largest result, wherever it is."""
    good = noise((4, 5)).astype(dtype)
    change = np.zeros_like(good)
    change[1, 2] = np.abs(good).max()
    check(good + change * right, good)
    with pytest.raises(FaultyPlanError, match="1 of 20 results"):
        check(good + change * wrong, good)


def test_wrong_results_are_told():
    good = noise((4, 5))
    check(good * (1 + 1e-6), good)
    wrong = good.copy()
    wrong[1, 2] += 1
    with pytest.raises(FaultyPlanError, match="1 of 20 results differ by up to 1 from") as error:
        check(wrong, good)
    assert error.value.fault is Fault.WRONG
    wrong[1, 2] = float("nan")
    with pytest.raises(FaultyPlanError, match="1 of 20 results"):
        check(wrong, good)
    with pytest.raises(FaultyPlanError):
        check((good * 100).astype("i4") + 1, (good * 100).astype("i4"))


def test_the_noise_is_that_of_the_median():
    assert Times([5.0] * 9).noise == 0
    assert Times([5.0] * 9).median == 5
    steady, jumpy = Times([10.0, 10.1, 9.9] * 20), Times([float(i) for i in range(5, 65)])
    assert steady.noise < 0.02 < jumpy.noise
    # One outlier moves neither.
    assert Times([*[10.0] * 30, 1e6]).noise == 0


def test_a_plan_that_is_clearly_slower_gets_few_runs():
    task = residual_tasks(POCL)[0]
    trial = replace(default_trial(task), most_runs=5000, rival=Rival(1e-4))
    assert measured(OpenCLInstrument("pocl"), trial).runs < 500
