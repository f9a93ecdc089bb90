"""Every trial gets one result, whatever becomes of the process that runs it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clopt.errors import CloptError
from clopt.targets import load_target
from clopt.tuning import worker_process
from clopt.tuning.candidates import CandidateRequest
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.session import Budget, Session
from clopt.tuning.trial import Fault, Result, Task, Trial
from clopt.tuning.workers import LocalMachines
from support import effort
from support.processes import started, wait_until
from support.tuning.kills import database, killing
from support.tuning.networks import default_trial, residual_tasks
from support.tuning.planted import DEVICE, Planted, planted_time, task, trial

FAULTS = {
    "well": None,
    "wrong": Fault.WRONG,
    "raise": Fault.CRASHED,
    "abort": Fault.CRASHED,
    "fault": Fault.CRASHED,
    "exit": Fault.CRASHED,
    "killed": Fault.CRASHED,
    "hang": Fault.HUNG,
}


@contextmanager
def machines(journal: Path, slots: int = 1, seconds: float = 20.0) -> Iterator[LocalMachines]:
    found = LocalMachines(Planted(journal), slots, seconds)
    try:
        yield found
    finally:
        found.close()


def results_of(on: LocalMachines, trials: list[Trial]) -> list[Result]:
    return [future.result(timeout=100) for future in [on.submit(trial) for trial in trials]]


def notes(journal: Path, what: str) -> list[list[str]]:
    lines = [line.split() for line in journal.read_text().splitlines()]
    return [line[1:] for line in lines if line[0] == what]


def ends(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@settings(max_examples=effort.examples(1, long=20))
@given(st.lists(st.sampled_from(sorted(FAULTS)), min_size=3, max_size=6), st.integers(1, 3))
@pytest.mark.by_default(cases=1)
def test_every_trial_gets_its_own_result(tmp_path_factory, whats: list[str], slots: int):
    journal = tmp_path_factory.mktemp("trials") / "journal"
    tasks = [task(f"{number:016x}") for number in range(2)]
    trials = [trial(what, tasks[i % 2], number=i) for i, what in enumerate(whats)]
    with machines(journal, slots, seconds=1.0) as found:
        results = results_of(found, trials)
    for what, tried, result in zip(whats, trials, results, strict=True):
        assert (result.kernel, result.plan) == (tried.task.kernel, tried.plan)
        assert (result.device, result.driver) == (DEVICE.name, DEVICE.driver)
        assert result.fault == FAULTS[what]
        if result.fault in (None, Fault.WRONG):
            assert result.microseconds == planted_time(tried)
        else:
            assert result.microseconds is None
            assert result.reason


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("abort", "Its process ended by SIGABRT: LLVM ERROR: cannot select"),
        ("fault", "Its process ended by SIGSEGV."),
        ("exit", "Its process ended with status 3."),
        ("raise", "RuntimeError('planted')"),
    ],
)
def test_a_reason_says_how_the_process_ended(tmp_path: Path, what: str, reason: str):
    with machines(tmp_path / "journal") as found:
        (result,) = results_of(found, [trial(what, task())])
    assert result.reason == reason


def test_a_crash_is_the_fault_of_a_plan_only_in_a_process_of_its_own(tmp_path: Path):
    with machines(tmp_path / "journal") as found:
        results = results_of(found, [trial("spoil", task()), trial("well", task(), number=1)])
    assert [result.fault for result in results] == [None, None]
    assert len(notes(tmp_path / "journal", "well")) == 2


def test_a_process_is_kept_for_the_next_trial(tmp_path: Path):
    with machines(tmp_path / "journal") as found:
        results_of(found, [trial(what, task()) for what in ("well", "wrong", "well")])
    pids = notes(tmp_path / "journal", "well") + notes(tmp_path / "journal", "wrong")
    assert len(pids) == 3
    assert len(set(map(tuple, pids))) == 1


def test_a_process_prefers_trials_of_a_kernel_that_it_has_seen(tmp_path: Path):
    whats = ["first", "second"] * 6
    tasks = {what: task(what) for what in whats}
    with machines(tmp_path / "journal", slots=2) as found:
        results_of(found, [trial("well", task("third"), build=4000)])  # the other starts meanwhile
        results_of(found, [trial(what, tasks[what], build=20) for what in whats])
    pids = [{pid for (pid,) in notes(tmp_path / "journal", what)} for what in tasks]
    assert [len(each) for each in pids] == [1, 1]
    assert pids[0] != pids[1]


def test_processes_propose_the_candidates_of_a_search(tmp_path: Path):
    (of, *_) = residual_tasks(load_target("pocl"))
    request = CandidateRequest(of.program, of.target, (), frozenset(), "seed")
    with machines(tmp_path / "journal") as found:
        answer = found.candidates(request).result(timeout=100)
        again = found.candidates(replace(request, estimated=frozenset(answer.estimates)))
        broken = found.candidates(replace(request, program="builtin.module {}"))
        with pytest.raises(CloptError, match="No plans can be proposed for a kernel"):
            broken.result(timeout=100)
        (result,) = results_of(found, [trial("well", task())])  # by another process
    assert result.fault is None
    assert answer == request.answer()
    assert again.result(timeout=100) == replace(answer, estimates={})
    assert len(answer.bred) > 10
    assert {each.key for each in answer.bred} == set(answer.estimates)


def test_closing_cancels_what_proposes(tmp_path: Path):
    (of, *_) = residual_tasks(load_target("pocl"))
    with machines(tmp_path / "journal") as found:
        hangs = found.submit(trial("hang", task()))
        wait_until(lambda: bool(notes_if_any(tmp_path / "journal", "child")))
        waits = found.candidates(CandidateRequest(of.program, of.target, (), frozenset(), "seed"))
        found.close()
        for future in (hangs, waits):
            with pytest.raises(CancelledError):
                future.result(timeout=10)


def test_a_process_that_hangs_is_killed_with_its_children(tmp_path: Path):
    with machines(tmp_path / "journal", seconds=0.5) as found:
        (result,) = results_of(found, [trial("hang", task())])
        assert result.reason == "It took longer than 0.5 s."
        assert 0.5 <= result.seconds < 10
        for what in ("hang", "child"):
            ((pid,),) = notes(tmp_path / "journal", what)
            assert ends(int(pid))


def test_a_device_that_is_not_there_is_told_at_once(tmp_path: Path):
    with pytest.raises(CloptError, match=r"^No device is planted\.$"):
        LocalMachines(Planted(tmp_path / "journal", "No device is planted."))


def test_a_driver_that_crashes_at_the_start_is_told(tmp_path: Path):
    with pytest.raises(CloptError, match=r"No worker process could start .* by SIGABRT"):
        LocalMachines(Planted(tmp_path / "journal", "crash"))


def test_a_driver_that_hangs_at_the_start_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun: list[object] = []

    def popen(*args: object, **options: object) -> object:
        begun.append(args)
        return process(*args, **options)

    process: Callable[..., object] = worker_process.subprocess.Popen
    monkeypatch.setattr(worker_process.subprocess, "Popen", popen)
    monkeypatch.setattr(worker_process, "_START_SECONDS", 2.0)
    with pytest.raises(CloptError, match=r"No worker process could start .* took longer than 2 s"):
        LocalMachines(Planted(tmp_path / "journal", "hang"))
    assert len(begun) == 1


def test_closing_ends_what_starts(tmp_path: Path):
    found = LocalMachines(Planted(tmp_path / "journal", "", "hang"), 2)
    first, second = (found.submit(trial("well", task(), number=i, time=100)) for i in (0, 1))
    for tried in (first, second):  # by the process that has started
        assert tried.result(timeout=60).fault is None
    while not notes_if_any(tmp_path / "journal", "child"):
        time.sleep(0.02)
    start = time.monotonic()
    found.close()
    assert time.monotonic() - start < 60
    for (pid,) in notes(tmp_path / "journal", "child"):
        assert ends(int(pid))


@pytest.mark.by_default(cases=1)
def test_closing_ends_what_runs(tmp_path: Path):
    found = LocalMachines(Planted(tmp_path / "journal"), 2, seconds=60)
    futures = [found.submit(trial("hang", task(), number=number)) for number in range(3)]
    wait_until(lambda: len(notes_if_any(tmp_path / "journal", "child")) == 2)
    found.close()
    for future in futures:
        with pytest.raises(CancelledError):
            future.result(timeout=10)
    for (pid,) in notes(tmp_path / "journal", "child"):
        assert ends(int(pid))


def notes_if_any(journal: Path, what: str) -> list[list[str]]:
    return notes(journal, what) if journal.exists() else []


def test_workers_end_with_the_process_that_started_them(tmp_path: Path):
    program = f"""
from pathlib import Path
from clopt.tuning.workers import LocalMachines
from support.tuning.planted import Planted, task, trial
LocalMachines(Planted(Path({str(tmp_path / "journal")!r})), 1, 600).submit(trial("hang", task()))
"""
    with started([sys.executable, "-c", program]):
        wait_until(lambda: notes_if_any(tmp_path / "journal", "child"))
    for what in ("hang", "child"):
        ((pid,),) = notes(tmp_path / "journal", what)
        assert ends(int(pid))


def workers_of_this_process() -> list[int]:
    """The processes that threads of this process have started."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):
            found += map(int, (thread / "children").read_text().split())
    return [pid for pid in found if b"worker_main" in command_line(pid)]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


@pytest.mark.long  # a search whose workers are killed is in the short form
@pytest.mark.parametrize(
    ("count", "pause", "rounds", "limit"),
    [(40, 1.5, 3, 0.7), (4_000, 20, 1_000, 10)],
)
def test_killed_workers_change_no_result(
    tmp_path: Path, count: int, pause: float, rounds: int, limit: float
):
    own = task()
    whats = ["abort" if i % 23 == 5 else "hang" if i == 11 else "well" for i in range(count)]
    trials = [trial(what, own, number=i, time=100) for i, what in enumerate(whats)]
    with machines(tmp_path / "calm", 4, limit) as found:
        expected = database(results_of(found, trials))
    with machines(tmp_path / "killed", 4, limit) as found:
        with killing(workers_of_this_process, pause, rounds, seed=1) as killed:
            got = database(results_of(found, trials))
    assert got == expected
    assert len(expected) == count
    assert len(killed) >= 2


def test_plans_are_measured_in_processes_on_a_real_device():
    tasks = residual_tasks(load_target("pocl"), channels=4)
    trials = [replace(default_trial(task), most_runs=6) for task in tasks[:2]]
    found = LocalMachines(OpenCLInstrument("pocl"), slots=2, seconds=60)
    try:
        results = results_of(found, trials)
    finally:
        found.close()
    for tried, result in zip(trials, results, strict=True):
        assert (result.fault, result.reason) == (None, "")
        assert (result.kernel, result.plan) == (tried.task.kernel, tried.plan)
        assert result.microseconds is not None


@dataclass
class Noted:
    """A journal in memory, of a search that is the first one."""

    results: list[Result] = field(default_factory=list[Result])

    def known(self, task: Task) -> list[Result]:
        return []

    def earlier(self, task: Task) -> list[Result]:
        return []

    def note(self, task: Task, result: Result, is_default: bool) -> None:
        self.results.append(result)


def searched(journal: Path, tasks: list[Task], trials: int) -> Noted:
    noted = Noted()
    with machines(journal, 4) as found:
        Session(tasks, found, noted, Budget(trials=trials)).run()
    return noted


def test_a_search_notes_the_same_though_workers_are_killed(tmp_path: Path):
    tasks = residual_tasks(load_target("pocl"))[:1]
    calm = searched(tmp_path / "calm", tasks, 12)
    with killing(workers_of_this_process, 0.5, 2, seed=2) as killed:
        disturbed = searched(tmp_path / "killed", tasks, 12)
    assert database(disturbed.results) == database(calm.results)
    assert len(calm.results) >= 12
    assert killed
