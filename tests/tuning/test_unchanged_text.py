"""A time by another revision of the compiler holds while the text that was timed is the same."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from clopt.decisions.database import TuningDatabase, latest
from clopt.decisions.record import Record
from clopt.decisions.revision import compiler_revision
from clopt.dialects import tir
from clopt.passes.tir.rules.plans import default_plan
from clopt.targets import load_target
from clopt.tools.tune.__main__ import main
from clopt.tuning import records
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.programs import Programs
from clopt.tuning.session import Budget, Session
from clopt.tuning.trial import Fault, Result, Task, Trial
from clopt.tuning.turns import Turns
from support.tuning.fake import DEVICE, FakeMachines, Notes
from support.tuning.networks import default_trial, residual_tasks

POCL = load_target("pocl")
CONV = Path(__file__).parents[2] / "docs" / "conv.onnx"


def one_task() -> Task:
    return next(task for task in residual_tasks(POCL) if "conv" in task.nodes)


def text_of(task: Task, plan: tir.Plan) -> str:
    return Programs(task).of(plan).text


def by_another_compiler(path: Path, **fields: object) -> None:
    """Make all records of a database those of another revision."""
    known = TuningDatabase.read(path).records
    records.replace(path, [structs.replace(each, revision="old", **fields) for each in known])


def result(task: Task, plan: tir.Plan, time: float | None = 7.0, **fields: object) -> Result:
    fault = Fault.CRASHED if time is None else None
    known = Result(
        *(DEVICE.name, DEVICE.driver, 0.1, time, 0.01, 9, fault), kernel=task.kernel, plan=plan
    )
    return replace(known, **{"text": text_of(task, plan)} | fields)


def test_the_text_of_a_plan_has_no_names_of_its_model() -> None:
    task = one_task()
    plan = default_trial(task).plan
    assert task.name in task.program
    renamed = replace(task, program=task.program.replace(task.name, "another"))
    assert str(Programs(renamed).of(plan).module) != str(Programs(task).of(plan).module)
    assert text_of(renamed, plan) == text_of(task, plan)


def test_the_text_of_a_plan_is_that_of_its_code() -> None:
    task = one_task()
    plan = default_trial(task).plan
    kernel = Programs(task).kernel
    without = default_plan(kernel, POCL, [plan.rule]).data
    more_units = next(
        each
        for each in residual_tasks(POCL.with_facts({"compute_units": 64}))
        if each.kernel == task.kernel
    )
    spelled = next(
        each
        for each in residual_tasks(POCL.with_facts({"builtins": not POCL.facts["builtins"]}))
        if each.kernel == task.kernel
    )
    assert text_of(more_units, plan) == text_of(task, plan)
    assert len({text_of(task, plan), text_of(task, without), text_of(spelled, plan)}) == 3


def test_an_instrument_times_only_what_has_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    instrument, task = OpenCLInstrument("pocl"), one_task()
    plan, turns = default_trial(task).plan, Turns()
    trial = Trial(task, plan, most_runs=6, earlier=result(task, plan, 1e9))
    with turns.beside_others():
        with monkeypatch.context() as patch:
            patch.setattr(OpenCLInstrument, "built", None)
            assert instrument.measure(trial, turns).microseconds == 1e9
        changed = replace(trial, earlier=result(task, plan, 1e9, text="0"))
        found = instrument.measure(changed, turns)
    assert found.microseconds is not None
    assert found.microseconds < 1e6
    assert found.text == text_of(task, plan)


def test_a_journal_tells_times_of_this_compiler_from_those_of_others(tmp_path: Path) -> None:
    task, path = one_task(), tmp_path / "db"
    journal, plans = DatabaseJournal(path, DEVICE), plans_of(task)
    for plan, fields in zip(plans, ({}, {"time": None}, {"text": ""}), strict=True):
        journal.note(task, result(task, plan, **fields), is_default=False)
    assert [each.plan for each in journal.known(task)] == plans
    assert journal.earlier(task) == []
    by_another_compiler(path)
    assert [each.plan for each in journal.known(task)] == plans[1:2]  # a fault stays one
    assert [(each.plan, each.microseconds) for each in journal.earlier(task)] == [(plans[0], 7.0)]
    by_another_compiler(path, target="another")
    assert journal.earlier(task) == []


def plans_of(task: Task) -> list[tir.Plan]:
    """Three plans by different rules."""
    kernel, found, rules = Programs(task).kernel, list[tir.Plan](), list[str]()
    for _ in range(3):
        found.append(default_plan(kernel, POCL, rules).data)
        rules.append(found[-1].rule)
    return found


class NotesOfOthers(Notes):
    """A journal with times by another compiler."""

    def __init__(self, found: Sequence[Result]) -> None:
        super().__init__()
        self.found = found

    def earlier(self, task: Task) -> Sequence[Result]:
        return self.found


def test_a_search_begins_with_the_fastest_plans_of_other_compilers() -> None:
    task = one_task()
    rules, machines = searched(task, [])
    plans = [trial.plan for trial in machines.tried[rules:] if trial.most_runs == 60]
    assert len(plans) > 8
    earlier = [result(task, plan, 50.0 - i, text="x") for i, plan in enumerate(plans)]
    _, machines = searched(task, earlier)
    assert [trial.plan for trial in machines.tried[rules : rules + 8]] == plans[:-9:-1]
    known = {str(each.plan): each for each in earlier}
    first = machines.tried[: rules + 8]
    assert [t.earlier for t in first] == [known.get(str(t.plan)) for t in first]
    assert sum(t.earlier is not None for t in first) >= 8
    # Finalists are timed, in turns with the default.
    assert {t.earlier for t in machines.tried if t.most_runs > 60} <= {None}


def searched(task: Task, earlier: Sequence[Result]) -> tuple[int, FakeMachines]:
    """Return the number of rules, whose defaults come first, and what was tried."""
    machines = FakeMachines(lambda plan: 10.0 + len(str(plan)) % 7)
    session = Session([task], machines, NotesOfOthers(earlier), Budget(trials=24))
    session.run()
    return len(session.searches[0].space.defaults()), machines


def test_a_search_of_another_compiler_goes_on(tmp_path: Path) -> None:
    """Planted times of unchanged plans stay; those of changed ones are measured."""
    model = tmp_path / "conv.onnx"
    shutil.copy(CONV, model)
    command = [str(model), *"--dim batch=1 --device pocl --trials 6 --plans-only".split()]
    main(command)
    path = tmp_path / "conv.tuning.jsonl"
    before = latest(TuningDatabase.read(path).records)
    assert all(len(each.text) == 16 for each in before)
    planted = [structs.replace(each, revision="old", runs=777) for each in before]
    planted[::2] = [structs.replace(each, text="changed") for each in planted[::2]]
    records.replace(path, planted)
    main(command)
    found = TuningDatabase.read(path).records[len(planted) :]
    assert {each.revision for each in found} == {compiler_revision()}
    kinds = set[str]()
    for old in planted:
        new = next((each for each in found if each.key == old.key), None)
        if new is not None:
            assert (new.runs == 777) == (old.text == new.text)
            kinds.add("same" if old.text == new.text else "changed")
    assert kinds == {"same", "changed"}


def test_records_of_other_compilers_go_if_asked(tmp_path: Path) -> None:
    path, task = tmp_path / "db", one_task()
    journal, plans = DatabaseJournal(path, DEVICE), plans_of(task)
    journal.note(task, result(task, plans[0]), is_default=True)
    journal.note(task, result(task, plans[1], None), is_default=False)
    by_another_compiler(path)
    journal.note(task, result(task, plans[0]), is_default=True)
    known: tuple[Record, ...] = TuningDatabase.read(path).records
    assert records.prune(known).dropped == {}
    pruned = records.prune(known, this_compiler=True)
    assert pruned.dropped == {"another compiler": 1}
    assert list(pruned.records) == list(known[1:])
