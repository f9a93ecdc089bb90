"""A search that ends in the middle: nothing that was tried is lost, and nothing is tried again."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import main_thread

import pytest

from clopt.decisions.database import TuningDatabase
from clopt.tools.tune import machines, search
from clopt.tools.tune.__main__ import main
from clopt.tuning.candidates import CandidateRequest, Candidates
from clopt.tuning.trial import Result, Trial
from clopt.tuning.turns import Turns
from support import processes
from support.tuning.fake import answered
from support.tuning.planted import DEVICE, Steady

WORKERS = 2


class Threads:
    """The planted device, tried by threads, and Ctrl-C at one of the trials; 0 for none."""

    device = DEVICE
    slots = WORKERS

    def __init__(self, folder: Path, interrupts_at: int = 0) -> None:
        self._steady = Steady(folder / "journal")
        self._turns = Turns(folder / "turns")
        self._threads = ThreadPoolExecutor(WORKERS)
        self._left = interrupts_at

    def submit(self, trial: Trial) -> Future[Result]:
        return self._threads.submit(self._measured, trial)

    def candidates(self, request: CandidateRequest) -> Future[Candidates]:
        return answered(request)

    def _measured(self, trial: Trial) -> Result:
        result = self._steady.measure(trial, self._turns)
        self._left -= 1
        if self._left == 0:
            ident = main_thread().ident
            assert ident is not None
            signal.pthread_kill(ident, signal.SIGINT)
        return result

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


def words(folder: Path, trials: int = 9) -> list[str]:
    return [str(folder / "add.onnx"), "--target", "pocl", "--plans-only", "--trials", str(trials)]


def tried(folder: Path) -> list[str]:
    """The plans that the device has tried, and for which kernels, but for those of the end."""
    path = folder / "journal"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.partition(" ")[2] for line in lines if line.startswith("60 ")]


def recorded(folder: Path) -> list[str]:
    """The same of the database."""
    records = TuningDatabase.read(folder / "add.tuning.jsonl").records
    return [f"{each.site} {each.choice}" for each in records]


def goes_on(folder: Path) -> None:
    """Run the command again: it tries plans that the database does not have."""
    known, first = recorded(folder), len(tried(folder))
    main(words(folder))
    then = tried(folder)[first:]
    assert len(then) >= 9
    assert not set(then) & set(known)
    assert recorded(folder)[: len(known)] == known
    assert set(recorded(folder)) == {*known, *then}


def test_ctrl_c_loses_nothing(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    found = iter((Threads(tmp_path, interrupts_at=5), Threads(tmp_path)))
    monkeypatch.setattr(search, "machines_of", lambda options: next(found))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as left:
            main(words(tmp_path))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert left.value.code == 130
    database = tmp_path / "add.tuning.jsonl"
    assert capsys.readouterr().err == (
        f"clopt-tune: interrupted; {database} has all trials; the same command "
        "continues from there.\n"
    )
    assert 5 <= len(tried(tmp_path)) < 9
    assert sorted(recorded(tmp_path)) == sorted(tried(tmp_path))
    goes_on(tmp_path)


def test_ctrl_c_before_the_first_result(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    class Slow(Threads):
        def submit(self, trial: Trial) -> Future[Result]:
            raise KeyboardInterrupt

    monkeypatch.setattr(search, "machines_of", lambda options: Slow(tmp_path))
    with pytest.raises(SystemExit) as left:
        main(words(tmp_path))
    assert left.value.code == 130
    said = capsys.readouterr()
    assert said.err == "clopt-tune: interrupted; no plan has been tried yet.\n"
    assert said.out == ""


def test_a_time_limit_ends_what_takes_too_long(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """`--time 130` once took more than 290 s on a large network."""
    monkeypatch.setattr(search, "machines_of", lambda options: Threads(tmp_path))
    monkeypatch.setattr(search.TunedModel, "tasks", lambda *args: time.sleep(600))
    cut_short = (
        "Time ran out before the whole network was measured with the new plans; the same command "
        "continues from there.\n"
    )
    path = tmp_path / "add.tuning.jsonl"
    for found in ("", f"The database is {path}; clopt finds it there.\n"):
        main([*words(tmp_path), "--time", "0.1"])
        assert capsys.readouterr().out == cut_short + found
        path.touch()


def test_a_time_limit_holds_where_trials_hang(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """With ten seconds of grace for trials, `--time 4` took fourteen."""

    class Hanging(Threads):
        def submit(self, trial: Trial) -> Future[Result]:
            if len(tried(tmp_path)) < 3:
                found = super().submit(trial)
                found.exception(processes.LIMIT)  # so that exactly three end
                return found
            endless: Future[Result] = Future()
            endless.set_running_or_notify_cancel()
            return endless

    monkeypatch.setattr(search, "machines_of", lambda options: Hanging(tmp_path))
    start = time.monotonic()
    main([*words(tmp_path), "--time", "4"])  # in 2 s, fewer than three end on a busy machine
    assert time.monotonic() - start < 13
    assert len(recorded(tmp_path)) == 3
    assert set(recorded(tmp_path)) == set(tried(tmp_path))
    told = capsys.readouterr().out
    assert "The search has not finished 1 of 1 kernels" in told
    assert "The database is " in told


def test_a_torn_line_is_told_and_mended(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(search, "machines_of", lambda options: Threads(tmp_path))
    main(words(tmp_path))
    path = tmp_path / "add.tuning.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    whole = recorded(tmp_path)
    main(words(tmp_path, trials=1))
    assert capsys.readouterr().err == (
        f"remark: {path}:{len(whole) + 1}: skipped the truncated last line; its writer was "
        "interrupted.\n"
    )
    assert TuningDatabase.read(path).remarks == ()
    assert recorded(tmp_path)[: len(whole)] == whole
    assert len(recorded(tmp_path)) > len(whole)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_ends_keeps_what_was_tried(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    command = [sys.executable, "-m", "support.tuning.tune_planted", str(tmp_path / "journal")]
    with processes.started([*command, *words(tmp_path)]) as process:
        processes.wait_until(lambda: len(tried(tmp_path)) >= 5 or process.poll() is not None, 0.01)
        process.send_signal(number)
        process.wait(processes.LIMIT)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    # Each worker may have been on the way from its device to the database.
    lost = set(tried(tmp_path)) - set(recorded(tmp_path))
    assert set(recorded(tmp_path)) <= set(tried(tmp_path))
    assert len(lost) <= WORKERS
    steady = Steady(tmp_path / "journal")
    monkeypatch.setattr(machines, "OpenCLInstrument", lambda words: steady)
    goes_on(tmp_path)


def test_json_is_all_on_stdout(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(search, "machines_of", lambda options: Threads(tmp_path))
    main([*words(tmp_path), "--json"])
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    database = tmp_path / "add.tuning.jsonl"
    assert (told["version"], told["database"]) == (1, str(database))
    (kernel,) = told["kernels"]
    known = TuningDatabase.read(database).records
    assert kernel["plans"] == sum(each.site == kernel["kernel"] for each in known) > 1
    assert 0 < kernel["best_microseconds"] <= kernel["default_microseconds"]
    assert "The database is " in printed.err
