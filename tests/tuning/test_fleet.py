"""Workers that a scheduler knows: lost ones lose nothing, and neither does a lost scheduler."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from clopt.errors import CloptError
from clopt.tuning import fleet as fleet_module
from clopt.tuning.fleet import Fleet
from clopt.tuning.trial import Fault, Result, Trial
from clopt.tuning.workers import LocalMachines
from support.tuning.kills import database, killing
from support.tuning.planted import DEVICE, Planted, planted_time, task, trial

HOST = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


class Machines:
    """A scheduler and workers of it, each a process that is started anew when it ends."""

    def __init__(self, folder: Path, workers: int, seconds: float) -> None:
        self._folder = folder
        self.address = f"tcp://{HOST}:{free_port()}"
        port = self.address.rsplit(":", 1)[1]
        serve = (
            "from pathlib import Path; from clopt.tuning.fleet_worker import serve; "
            "from support.tuning.planted import Planted; "
            f"serve({self.address!r}, Planted(Path({str(folder / 'journal')!r})), 1, {seconds})"
        )
        scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", HOST, "--port", port]
        self._commands = [[*scheduler, "--no-dashboard"], *[["-c", serve]] * workers]
        self._processes = [self._started(command) for command in self._commands]
        self._stop = Event()
        self._thread = Thread(target=self._replace)
        self._thread.start()

    def _started(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen([sys.executable, *command], stderr=log, cwd=self._folder)

    def _replace(self) -> None:
        while not self._stop.wait(0.1):
            for number, command in enumerate(self._commands):
                if self._processes[number].poll() is not None:
                    self._processes[number] = self._started(command)

    def workers(self) -> list[int]:
        return [process.pid for process in self._processes[1:]]

    def end_scheduler(self) -> None:
        self._processes[0].kill()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        for process in self._processes:
            process.kill()
            process.wait()


@contextmanager
def machines(folder: Path, workers: int, seconds: float = 20.0) -> Iterator[Machines]:
    found = Machines(folder, workers, seconds)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def fleet(address: str, device: str = "") -> Iterator[Fleet]:
    """A fleet with at least one worker."""
    found = None
    for _ in range(100):
        try:
            found = Fleet(address, device)
            break
        except CloptError:
            time.sleep(0.2)
    assert found is not None
    try:
        yield found
    finally:
        found.close()


def results_of(on: Fleet | LocalMachines, trials: list[Trial]) -> list[Result]:
    return [future.result(timeout=100) for future in [on.submit(trial) for trial in trials]]


def test_trials_of_a_fleet(tmp_path: Path):
    whats = ["well", "abort", "wrong", "raise", "well"]
    trials = [trial(what, task(f"{i % 2:016x}"), number=i) for i, what in enumerate(whats)]
    with machines(tmp_path, 2) as there, fleet(there.address, "planted") as found:
        assert found.device == DEVICE
        results = results_of(found, trials)
    faults = [None, Fault.CRASHED, Fault.WRONG, Fault.CRASHED, None]
    assert [result.fault for result in results] == faults
    for tried, result in zip(trials, results, strict=True):
        assert (result.kernel, result.plan) == (tried.task.kernel, tried.plan)
        assert result.fault is Fault.CRASHED or result.microseconds == planted_time(tried)


@pytest.mark.parametrize(
    ("count", "pause", "rounds", "limit"),
    [
        pytest.param(24, 1.5, 1, 0.7, marks=pytest.mark.long),
        pytest.param(4_000, 20, 1_000, 10, marks=pytest.mark.long),
    ],
)
def test_lost_workers_and_schedulers_change_no_result(
    tmp_path: Path, count: int, pause: float, rounds: int, limit: float
):
    own = task()
    whats = ["abort" if i % 23 == 5 else "hang" if i == 11 else "well" for i in range(count)]
    trials = [trial(what, own, number=i, time=100) for i, what in enumerate(whats)]
    calm = LocalMachines(Planted(tmp_path / "calm"), 4, limit)
    expected = database(results_of(calm, trials))
    calm.close()
    with machines(tmp_path, 4, limit) as there, fleet(there.address) as found:
        with killing(there.workers, pause, rounds, seed=1) as killed:
            futures = [found.submit(trial) for trial in trials]
            wait(futures[: count // 3], timeout=1000)
            there.end_scheduler()
            got = database(future.result(timeout=1000) for future in futures)
    assert got == expected
    assert len(killed) >= 2


def test_a_connection_that_closes_during_a_look_at_the_workers_ends_no_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Searches once waited for ever after their scheduler had been restarted."""
    slots_of = fleet_module._slots_of
    errors = [RuntimeError("ConnectionPool is closed"), asyncio.CancelledError()]

    async def slots(client: object) -> dict[str, int]:
        if errors:
            raise errors.pop()
        return await slots_of(client)

    with machines(tmp_path, 1) as there, fleet(there.address) as found:
        monkeypatch.setattr(fleet_module, "_slots_of", slots)
        for _ in range(100):
            if not errors:
                break
            time.sleep(0.1)
        future = found.submit(trial("well", task()))
        assert future.result(timeout=20).fault is None


def test_a_cancelled_trial_is_forgotten(tmp_path: Path):
    with machines(tmp_path, 1) as there, fleet(there.address) as found:
        first, second = (found.submit(trial("well", task(), number=i, time=500)) for i in (0, 1))
        assert second.cancel()
        assert first.result(timeout=60).fault is None
        assert results_of(found, [trial("well", task(), number=2)])[0].fault is None
    assert (tmp_path / "journal").read_text().count("well") == 2


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("clopt.tuning.fleet._PATIENCE", 0.5)
    with pytest.raises(CloptError, match=r"^No scheduler answers at tcp://127\.0\.0\.1:"):
        Fleet(f"tcp://{HOST}:{free_port()}")


def test_workers_with_other_devices_are_told(tmp_path: Path):
    with machines(tmp_path, 1) as there, fleet(there.address):
        with pytest.raises(CloptError, match=r'not one device "Adreno", but Planted device'):
            Fleet(there.address, "Adreno")


def test_a_worker_whose_device_has_gone_ends_with_its_sentence(tmp_path: Path):
    program = (
        "from pathlib import Path; from clopt.errors import CloptError\n"
        "from clopt.tuning.fleet_worker import serve\n"
        "from support.tuning.planted import Planted\n"
        "try: serve('tcp://127.0.0.1:1', Planted(Path('journal'), 'It has gone.'))\n"
        "except CloptError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "It has gone.\n"
    assert os.listdir(tmp_path) == []
