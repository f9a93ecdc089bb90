"""Workers that a scheduler knows: lost ones lose nothing, and neither does a lost scheduler."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import psutil
import pytest

from clopt.errors import CloptError
from clopt.tuning import fleet as fleet_module
from clopt.tuning import fleet_worker
from clopt.tuning.fleet import Fleet
from clopt.tuning.fleet_security import OPEN, Certificates
from clopt.tuning.fleet_worker import WorkerPlace, serve
from clopt.tuning.trial import Fault, Result, Trial
from clopt.tuning.workers import LocalMachines
from support import processes
from support.tuning.kills import database, killing
from support.tuning.planted import DEVICE, Planted, planted_time, task, trial

HOST = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def ports(pid: int) -> list[str]:
    """The addresses on which a process listens."""
    found = psutil.Process(pid).net_connections("inet")
    return [each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN]


def scheduler_of_the_page(port: str) -> list[str]:
    """The first command of the page that starts a scheduler, as arguments of Python."""
    page = Path(__file__).parents[2] / "docs" / "tuning.md"
    command, *_ = re.findall(r"^dask scheduler (.*)", page.read_text(encoding="utf-8"), re.M)
    return ["-m", "distributed.cli.dask_scheduler", *command.replace("8786", port).split()]


class Machines:
    """A scheduler and workers of it, each a process that is started anew when it ends."""

    def __init__(self, folder: Path, workers: int, seconds: float, tls: Sequence[Path]) -> None:
        self._folder = folder
        self.address = f"{'tls' if tls else 'tcp'}://{HOST}:{free_port()}"
        serve = [self.address, folder / "journal", seconds, *tls]
        scheduler = scheduler_of_the_page(self.address.rsplit(":", 1)[1])
        names = ("--tls-ca-file", "--tls-cert", "--tls-key")
        for name, path in zip(names, tls, strict=False):
            scheduler += [name, str(path)]
        worker = ["-m", "support.tuning.serve_planted", *map(str, serve)]
        self._commands = [scheduler, *[worker] * workers]
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

    @property
    def scheduler(self) -> int:
        return self._processes[0].pid

    def workers(self) -> list[int]:
        return [process.pid for process in self._processes[1:]]

    def end_scheduler(self) -> None:
        self._processes[0].kill()

    def end_workers(self) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        for process in self._processes[1:]:
            process.kill()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        for process in self._processes:
            process.kill()
            process.wait(timeout=10)


@contextmanager
def machines(
    folder: Path, workers: int, seconds: float = 20.0, tls: Sequence[Path] = ()
) -> Iterator[Machines]:
    found = Machines(folder, workers, seconds, tls)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def fleet(address: str, device: str = "", certificates: Certificates = OPEN) -> Iterator[Fleet]:
    """A fleet with at least one worker."""
    found = None
    for _ in range(100):
        try:
            found = Fleet(address, device, certificates)
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
        listening = [ports(pid) for pid in (there.scheduler, *there.workers())]
    faults = [None, Fault.CRASHED, Fault.WRONG, Fault.CRASHED, None]
    assert [result.fault for result in results] == faults
    for tried, result in zip(trials, results, strict=True):
        assert (result.kernel, result.plan) == (tried.task.kernel, tried.plan)
        assert result.fault is Fault.CRASHED or result.microseconds == planted_time(tried)
    # The scheduler also serves pages about its state; all of them listen on the loopback alone.
    assert listening == [[HOST] * 2, [HOST], [HOST]]


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


def in_time(what: Callable[[], object], seconds: float = 30.0) -> BaseException:
    """The error of a call that must end, by an error."""
    found: list[BaseException] = []

    def run() -> None:
        try:
            what()
        except BaseException as error:
            found.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"It still waits after {seconds:g} s."
    (error,) = found
    return error


PATIENCE = 0.3


class Refused:
    """A client that is refused when time is up, all in one turn of a loop that was held up.

    `asyncio.wait_for` of Python 3.11, cancelled then, raises this OSError and no CancelledError.
    """

    status = "connecting"

    def __init__(self, *args: object, **options: object) -> None:
        loop = asyncio.get_running_loop()
        self._refused = loop.create_future()
        loop.call_later(PATIENCE - 0.08, time.sleep, 0.12)
        loop.call_later(PATIENCE - 0.04, self._refuse)

    def __await__(self) -> Generator[Any]:
        return self._refused.__await__()

    def _refuse(self) -> None:
        if not self._refused.done():
            self._refused.set_exception(OSError())

    async def close(self) -> None: ...


def test_a_lost_cancellation_does_not_let_a_search_wait_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fleet_module, "_PATIENCE", PATIENCE)
    monkeypatch.setattr(fleet_module, "_ATTEMPT", PATIENCE)
    monkeypatch.setattr(fleet_module, "Client", Refused)
    error = in_time(lambda: Fleet(f"tcp://{HOST}:1"))
    assert str(error) == f"No scheduler answers at tcp://{HOST}:1; start one with dask scheduler."


@pytest.mark.parametrize("count", [4, pytest.param(1000, marks=pytest.mark.long)])
def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, count: int):
    """Whenever the loop is held up around the deadline, as on a busy machine."""
    monkeypatch.setattr(fleet_module, "_PATIENCE", PATIENCE)
    monkeypatch.setattr(fleet_module, "_ATTEMPT", PATIENCE)
    draw, new_loop = Random(1), asyncio.new_event_loop

    def held_up() -> asyncio.AbstractEventLoop:
        loop = new_loop()
        loop.call_later(PATIENCE - draw.uniform(0, 0.02), time.sleep, draw.uniform(0.02, 0.2))
        return loop

    monkeypatch.setattr(asyncio, "new_event_loop", held_up)
    for _ in range(count):
        error = in_time(lambda: Fleet(f"tcp://{HOST}:{free_port()}"))
        assert str(error).startswith(f"No scheduler answers at tcp://{HOST}:")


def test_what_is_no_scheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It once ended with a MemoryError: a greeting was read as a length of 3 EiB."""
    with socket.create_server((HOST, 0)) as server:
        address = f"tcp://{HOST}:{server.getsockname()[1]}"

        def greet() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        Thread(target=greet, daemon=True).start()
        error = in_time(lambda: Fleet(address))
        monkeypatch.setattr(fleet_worker, "_PAUSE", 0.01)
        of_worker = in_time(lambda: serve(WorkerPlace(address), Planted(tmp_path / "journal")))
    assert str(error).startswith(
        f"The program that answers at {address} is not a scheduler of dask.distributed;"
    )
    assert str(of_worker).startswith(f"The program at {address} rejects workers: ")


@pytest.mark.parametrize(
    ("address", "files", "sentence"),
    [
        ("foo", (), "--scheduler foo: write tcp://host:port, or tls"),
        ("tcp://host", (), "--scheduler tcp://host: write tcp://host:port, or tls"),
        ("tcp://host:99999", (), "--scheduler tcp://host:99999: write tcp://host:port, or"),
        ("tls://host:1", (), "--scheduler tls://host:1 needs certificates: --tls-ca"),
        ("tls://host:1", ("a",), "Name all of --tls-ca, --tls-cert and --tls-key"),
        ("tcp://host:1", ("a", "b", "c"), "--scheduler tcp://host:1 is not encrypted; with"),
        ("tls://host:1", ("a", "b", "c"), "--tls-ca a, --tls-cert b, --tls-key c: "),
    ],
)
def test_addresses_and_certificates_that_do_not_fit_are_told(
    address: str, files: tuple[str, ...], sentence: str
):
    certificates = Certificates(*map(Path, files))
    for use in (
        lambda: Fleet(address, certificates=certificates),
        lambda: serve(WorkerPlace(address, certificates), Planted(Path("journal"))),
    ):
        with pytest.raises(CloptError) as caught:
            use()
        assert str(caught.value).startswith(sentence)


def test_a_fleet_that_has_lost_its_workers_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with machines(tmp_path, 1) as there, fleet(there.address) as found:
        monkeypatch.setattr(fleet_module, "_MOST_LONELY", 1.0)
        there.end_workers()
        futures = [found.submit(trial("well", task(), number=i, time=500)) for i in (0, 1)]
        for future in futures:
            error = future.exception(timeout=60)
            assert str(error).startswith(f"The scheduler at {there.address} has had no worker")


def certificates(folder: Path) -> Certificates:
    """Files of an authority and a certificate of it."""
    folder.mkdir()
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    for name, options in {
        "ca": ["-addext", "keyUsage=critical,keyCertSign,cRLSign"],
        "worker": ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE"],
    }.items():
        files = ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
        command = [*new, "-nodes", "-days", "9", "-subj", f"/CN={name}", *files, *options]
        processes.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    return Certificates(folder / "ca.pem", folder / "worker.pem", folder / "worker.key")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_a_fleet_with_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own, others = (certificates(tmp_path / name) for name in ("own", "others"))
    files = [path for path in (own.ca, own.cert, own.key) if path is not None]
    with machines(tmp_path, 1, tls=files) as there:
        with fleet(there.address, certificates=own) as found:
            assert results_of(found, [trial("well", task())])[0].fault is None
        monkeypatch.setattr(fleet_module, "_PATIENCE", 2.0)
        for address, known in (
            (there.address, others),
            (there.address.replace("tls", "tcp"), Certificates()),
        ):
            with pytest.raises(
                CloptError, match=r"^No scheduler answers at|^The program that answers at"
            ):
                Fleet(address, certificates=known)


def test_workers_with_other_devices_are_told(tmp_path: Path):
    with machines(tmp_path, 1) as there, fleet(there.address):
        with pytest.raises(
            CloptError, match=r'must have one device "Adreno", but have Planted device'
        ):
            Fleet(there.address, "Adreno")


def test_a_worker_whose_device_has_gone_ends_with_its_sentence(tmp_path: Path):
    program = (
        "from pathlib import Path; from clopt.errors import CloptError\n"
        "from clopt.tuning.fleet_worker import WorkerPlace, serve\n"
        "from support.tuning.planted import Planted\n"
        "try: serve(WorkerPlace('tcp://127.0.0.1:1'), Planted(Path('journal'), 'It has gone.'))\n"
        "except CloptError as error: print(error)"
    )
    done = processes.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "It has gone.\n"
    assert os.listdir(tmp_path) == []
