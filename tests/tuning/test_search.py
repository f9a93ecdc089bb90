"""The search finds planted optima, within its budget, and never gives up the default for less."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import sha256
from random import Random
from zlib import crc32

import pytest

from clopt.dialects import tir
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import space_of
from clopt.passes.tir.rules.space import Params
from clopt.targets import load_target
from clopt.tuning.programs import Programs
from clopt.tuning.session import Budget, Outcome, Session
from clopt.tuning.spaces import PlanSpace
from clopt.tuning.tasks import tasks_of
from clopt.tuning.trial import Fault, Result, Task
from support.nn.layout_graphs import Graph
from support.tuning.fake import FakeMachines, Notes, Times
from support.tuning.networks import embedding_tasks, lowered, residual_tasks

POCL = load_target("pocl")


@pytest.fixture
def quick_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates are numbers by chance: for tests of how a session spends its trials."""
    monkeypatch.setattr(PlanSpace, "estimate", lambda space, found: crc32(found.key.encode()) + 1.0)


@cache
def one_task() -> Task:
    """A convolution, whose spaces have thousands of plans."""
    return next(task for task in residual_tasks(POCL) if "conv" in task.nodes)


def space_of_task(task: Task) -> PlanSpace:
    return PlanSpace(Programs(task).kernel, task.target)


def test_every_value_of_a_large_domain_is_proposed():
    graph = Graph((16, 56, 56))
    module, ctx = lowered(graph, graph.relu(graph.x), load_target("adreno-740"))
    (task,) = tasks_of(module, ctx.weights)
    space, rng = space_of_task(task), Random(0)
    best = space.default.plan
    _, fit = space_of(NaiveKernel(Programs(task).kernel), best, task.target)
    (group,) = fit.decisions
    values = set(group.domain_at(Params({})))
    assert len(values) > 300
    plans = [space.random(rng, {best.rule}).plan for _ in range(4000)]
    assert {plan.parameters["group"] for plan in plans} == values
    mutated = [space.mutated(best, rng).plan for _ in range(4000)]
    assert {plan.parameters["group"] for plan in mutated} == values - {best.parameters["group"]}


def distance(plan: tir.Plan, best: tir.Plan) -> float:
    """Microseconds: those of the best plan, and more for each parameter that differs."""
    if plan.rule != best.rule:
        return 100.0
    wrong = [name for name, value in best.parameters.items() if plan.parameters[name] != value]
    return 10.0 + 8.0 * len(wrong)


def tuned(tasks: list[Task], times: Times, budget: Budget, notes: Notes | None = None):
    machines = FakeMachines(times)
    outcomes = Session(tasks, machines, notes or Notes(), budget).run()
    return outcomes, machines


def test_every_proposed_plan_is_a_point_of_its_rule():
    task, rng = one_task(), Random(0)
    space = space_of_task(task)
    kernel = NaiveKernel(Programs(task).kernel)
    plans = [each.plan for each in space.defaults()]
    for _ in range(60):
        plans.append(space.random(rng).plan)
        plans.append(space.mutated(rng.choice(plans), rng).plan)
        plans.append(space.crossed(rng.choice(plans), rng.choice(plans), rng).plan)
    for plan in plans:
        space_of(kernel, plan, task.target)  # raises ScheduleError for one that is none
    assert {plan.rule for plan in plans} == set(space.rules)


def test_a_mutation_changes_one_decision_where_the_others_allow_it():
    task, rng = one_task(), Random(1)
    space = space_of_task(task)
    plan = space.default.plan
    changed = [space.mutated(plan, rng).plan for _ in range(40)]
    different = [
        sum(each.parameters[name] != value for name, value in plan.parameters.items())
        for each in changed
        if each.rule == plan.rule
    ]
    assert different.count(1) > 20


def test_the_default_is_a_plan_even_where_all_better_rules_object():
    """Clopt keeps such sums in one kernel: a search for the text encoder once ended here."""
    (task,) = embedding_tasks(POCL)
    space = space_of_task(task)
    assert space.default.plan.rule == "fallback"
    assert space.default.key == space.defaults()[0].key
    space_of(NaiveKernel(Programs(task).kernel), space.default.plan, task.target)


@pytest.mark.parametrize("seed", [2, 3])
def test_a_planted_optimum_is_found(seed: int):
    task, rng = one_task(), Random(seed)
    space = space_of_task(task)
    best = next(
        plan for _ in range(1000) if (plan := space.random(rng).plan).rule == "channel-blocks"
    )
    (outcome,), machines = tuned([task], lambda plan: distance(plan, best), Budget(trials=60))
    assert outcome.best.microseconds == pytest.approx(10, abs=8.1)
    # A search at random does not get there in as many trials.
    at_random = min(distance(space.random(rng).plan, best) for _ in range(len(machines.tried)))
    assert outcome.best.microseconds is not None
    assert outcome.best.microseconds <= at_random


@pytest.mark.usefixtures("quick_estimates")
def test_the_default_is_tried_first_and_kept_where_nothing_is_faster():
    task = one_task()
    default = space_of_task(task).default.plan
    (outcome,), machines = tuned(
        [task], lambda plan: 10.0 if plan == default else 20.0, Budget(trials=60)
    )
    assert machines.tried[0].plan == default
    assert outcome.chosen == default
    assert not outcome.gains


@pytest.mark.usefixtures("quick_estimates")
def test_plans_take_turns_with_the_default_on_processors():
    for target, always in ((POCL, True), (load_target("nvidia"), False)):
        task = next(each for each in residual_tasks(target) if "conv" in each.nodes)
        default, second = (each.plan for each in space_of_task(task).defaults()[:2])
        times: Times = lambda plan: 20.0 if plan == default else 15.0  # noqa: E731
        _, machines = tuned([task], times, Budget(trials=16))
        first, *others = machines.tried
        assert (first.plan, first.rival) == (default, None)
        assert others[0].plan == second
        beside = [each.rival for each in others if each.rival and each.rival.plan]
        assert {each and (each.plan, each.microseconds) for each in beside} == {(default, 20.0)}
        assert (len(beside) == len(others)) == always
        assert all(each.rival and each.rival.best <= 20 for each in others)
        assert [each.most_runs for each in others if each.rival in beside][-3:] == [300] * 3


@pytest.mark.usefixtures("quick_estimates")
def test_times_that_were_too_short_by_chance_are_measured_again():
    """Nothing is faster than the default; the first times of five plans say otherwise."""
    task = one_task()
    default = space_of_task(task).default.plan
    tried: list[tir.Plan] = []

    def times(plan: tir.Plan) -> float:
        tried.append(plan)
        return 7.0 if 10 < len(tried) <= 15 and tried.count(plan) == 1 else 10.0

    (outcome,), machines = tuned([task], times, Budget(trials=24))
    assert [each.microseconds for each in (outcome.best, outcome.default)] == [10.0, 10.0]
    assert outcome.chosen == default
    again = [each.plan for each in machines.tried if each.most_runs == 300]
    assert all(plan in again for plan in tried[10:15])


def test_a_gain_within_the_noise_is_none():
    task = one_task()
    result = Result(
        "", "", 0.1, 10.0, 0.02, 9, kernel=task.kernel, plan=space_of_task(task).default.plan
    )
    for microseconds, gains in ((9.9, False), (9.7, False), (9.5, True)):
        faster = replace(result, microseconds=microseconds)
        assert Outcome(task, result, faster).gains == gains


@pytest.mark.usefixtures("quick_estimates")
def test_a_default_that_fails_is_replaced_by_anything_that_runs():
    task = one_task()
    default = space_of_task(task).default.plan
    times: Times = lambda plan: Fault.CRASHED if plan == default else 50.0  # noqa: E731
    (outcome,), _ = tuned([task], times, Budget(trials=20))
    assert outcome.gains
    assert outcome.chosen != default


@pytest.mark.usefixtures("quick_estimates")
def test_plans_with_faults_are_not_tried_again():
    def times(plan: tir.Plan) -> float | Fault:
        digest = sha256(str(tir.PlanAttr(plan)).encode()).digest()[0]
        return Fault.BUILD if digest % 2 else 10.0 + digest

    notes = Notes()
    tuned([one_task()], times, Budget(trials=60), notes)
    (results,) = notes.results.values()
    faulty = [str(each.plan) for each in results if each.fault]
    assert len(faulty) > 10
    assert len(set(faulty)) == len(faulty)


def test_equal_times_give_the_same_search():
    task = one_task()
    best = space_of_task(task).random(Random(5)).plan
    searches = [
        tuned([task], lambda plan: distance(plan, best), Budget(trials=80))[1] for _ in range(2)
    ]
    first, second = ([trial.plan for trial in machines.tried] for machines in searches)
    assert first == second


@pytest.mark.usefixtures("quick_estimates")
def test_a_budget_of_trials_holds_but_for_the_last_generation_and_the_finalists():
    tasks = residual_tasks(POCL)
    _, machines = tuned(tasks, lambda plan: 10.0 + len(str(plan)) % 7, Budget(trials=30))
    assert 30 <= len(machines.tried) <= 30 + 16 + 4 * len(tasks)


@pytest.mark.usefixtures("quick_estimates")
def test_the_task_with_most_to_gain_gets_most_trials():
    tasks = [replace(task, launches=1) for task in residual_tasks(POCL) if "conv" in task.nodes]
    heavy = tasks[-1].kernel
    machines = FakeMachines(lambda plan: 10.0 + len(str(plan)) % 7)

    def slow(trial):
        machines.times = lambda plan: (
            (500.0 if trial.task.kernel == heavy else 1.0) + len(str(plan)) % 7
        )
        return FakeMachines.submit(machines, trial)

    machines.submit = slow
    Session(tasks, machines, Notes(), Budget(trials=90)).run()
    counts = {t.kernel: sum(x.task.kernel == t.kernel for x in machines.tried) for t in tasks}
    assert counts[heavy] == max(counts.values())


@pytest.mark.usefixtures("quick_estimates")
def test_a_session_goes_on_where_another_one_was_stopped():
    task, notes = one_task(), Notes()
    best = space_of_task(task).random(Random(5)).plan
    times: Times = lambda plan: distance(plan, best)  # noqa: E731
    tuned([task], times, Budget(trials=24), notes)
    before = {str(each.plan) for each in notes.results[task.kernel]}
    (outcome,), machines = tuned([task], times, Budget(trials=24), notes)
    fresh = [t for t in machines.tried if str(t.plan) not in before]
    # All but the finalists are new, and the best of both sessions counts.
    assert len(machines.tried) - len(fresh) <= 4
    known = [each.microseconds for each in notes.results[task.kernel] if each.microseconds]
    assert outcome.best.microseconds == min(known)


@pytest.mark.usefixtures("quick_estimates")
def test_a_session_that_was_stopped_at_once_tries_the_other_rules_first():
    task, notes = one_task(), Notes()
    first, *others = space_of_task(task).defaults()
    notes.note(task, Result("", "", 0.1, 10.0, 0.01, 9, kernel=task.kernel, plan=first.plan), True)
    _, machines = tuned([task], lambda plan: 20.0, Budget(trials=1), notes)
    assert [trial.plan for trial in machines.tried[: len(others)]] == [p.plan for p in others]


@pytest.mark.usefixtures("quick_estimates")
def test_a_short_search_leaves_small_kernels_alone():
    def is_large(task: Task) -> bool:
        return "conv" in task.nodes

    tasks = [replace(task, launches=100 if is_large(task) else 1) for task in residual_tasks(POCL)]
    session = Session(tasks, FakeMachines(lambda plan: 10.0), Notes(), Budget(trials=30))
    plans = {each.task.name: each.plans for each in session.run()}
    small = [plans.get(task.name, 0) for task in tasks if not is_large(task)]
    assert small
    assert min(plans[task.name] for task in tasks if is_large(task)) > max(small)
    rest = [each for each in session.searches if not each.is_over]
    assert session.seconds_for(rest) > 0
    assert session.seconds_for(rest[:1]) == pytest.approx(session.seconds_for(rest) / len(rest))


def test_a_part_of_a_split_kernel_has_a_plan_to_mutate() -> None:
    """Records name the rules of the parts, so that a changed one makes them old."""
    graph = Graph((1, 2048, 2, 2))
    module, ctx = lowered(graph, graph.conv(graph.x, 48, 1), load_target("nvidia"))
    (task,) = tasks_of(module, ctx.weights)
    space, rng = space_of_task(task), Random(0)
    plans = [space.random(rng, {"split-reduction"}).plan for _ in range(3)]
    assert all(len(plan.parts) == 2 for plan in plans)
    mutated = [space.mutated(plans[0], rng).plan for _ in range(10)]
    assert any(
        plan.parameters == plans[0].parameters and plan.parts != plans[0].parts for plan in mutated
    )
