"""Plans are checked and timed on real devices as they run in their model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clopt.backends.pyopencl_runtime import choose_place
from clopt.backends.targets import load_target
from clopt.passes.tir.rules.plans import plan_of
from clopt.tuning import measure
from clopt.tuning.measure import FaultyPlanError, OpenCLInstrument, check
from clopt.tuning.programs import Programs, TrialProgram
from clopt.tuning.times import Times
from clopt.tuning.timing import Built
from clopt.tuning.trial import Fault, Result, Rival, Task, Trial
from clopt.tuning.turns import Turns
from support.tir.plans import every_space
from support.tuning.networks import default_trial, noise, residual_tasks

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
    target = replace(load_target("adreno-740"), texture="prefer")
    tasks = [task for task in residual_tasks(target, channels=4) if "texture" in task.program]
    result = measured(OpenCLInstrument("intel"), replace(default_trial(tasks[0]), most_runs=6))
    assert (result.fault, result.reason) == (None, "")


def test_a_plan_that_is_no_point_of_its_rule_reaches_no_device():
    task = residual_tasks(POCL)[0]
    trial = default_trial(task)
    plan = replace(trial.plan, parameters={**trial.plan.parameters, "unknown": 1})
    result = measured(OpenCLInstrument("pocl"), replace(trial, plan=plan))
    assert result.fault is Fault.REFUSED
    assert "its parameters are" in result.reason
    assert result.microseconds is None


def test_trials_share_a_context_up_to_the_next_fault(monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def counted(words: str, *none: None) -> object:
        made.append(words)
        return choose_place(words, *none)

    monkeypatch.setattr(measure, "choose_place", counted)
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

    def counted(self: OpenCLInstrument, program: TrialProgram, task: Task) -> Built:
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
    tasks = residual_tasks(replace(POCL, fp16=True), precision="f16")
    task = next(task for task in tasks if "conv" in task.nodes)
    result = measured(OpenCLInstrument("pocl"), default_trial(task))
    assert result.fault is Fault.BUILD, result
    assert "half precision" in result.reason


def test_wrong_results_are_told():
    good = noise((4, 5))
    check(good * (1 + 1e-6), good)
    wrong = good.copy()
    wrong[1, 2] += 1
    with pytest.raises(FaultyPlanError, match="1 of 20 results are up to 1 from") as error:
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
