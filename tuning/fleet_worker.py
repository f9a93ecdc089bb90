"""A worker of a fleet, which tries on its device the plans that a scheduler sends."""

from __future__ import annotations

import asyncio
import pickle
import socket
import uuid
from collections import OrderedDict
from concurrent.futures import CancelledError
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, cast

import dask.config
from distributed import Reschedule, Security, Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from ..dialects import tir
from ..errors import CloptError
from .fleet_security import OPEN, Certificates
from .instrument import Instrument, InstrumentDevice
from .trial import Result, Rival, Task, Trial
from .workers import LocalMachines

_PLUGIN = "clopt"
_BETWEEN = " | driver "

LOOPBACK = "127.0.0.1"
"""Where workers listen. Nothing has to reach them: trials and answers use the connection that
they open to the scheduler."""

_MOST_TASKS = 8
"""Maximum tasks that a worker keeps, with their weights."""

_PAUSE = 1.0
"""Seconds before a worker looks for its scheduler again."""

_MOST_REFUSALS = 5
"""How often in a row a scheduler may refuse a worker."""

# What a scheduler's worker does beside its trials would disturb them.
_CONFIG = {"distributed.worker.profile.enabled": False}


class TaskMissing:
    """The answer of a worker that lacks the task of a plan."""


def label_of(device: InstrumentDevice) -> str:
    """Return the device's name as a resource of dask.distributed; each trial takes one unit."""
    return f"{device.name}{_BETWEEN}{device.driver}"


def device_of(label: str) -> InstrumentDevice | None:
    """Return the device of a label; None if the label names another resource."""
    name, between, driver = label.rpartition(_BETWEEN)
    return InstrumentDevice(name, driver) if between else None


def key_of(task: Task) -> str:
    """Return a key that is the same for equal tasks."""
    content = (task.kernel, task.target, task.traffic, task.in_place, task.program)
    return sha256(repr(content).encode()).hexdigest()


@dataclass(frozen=True)
class WorkerPlace:
    """The address of a worker's scheduler, and the address on which the worker listens."""

    scheduler: str
    certificates: Certificates = OPEN
    listen: str = LOOPBACK


class _Worker(Worker):
    """A worker without an HTTP server, which would publish its state."""

    def start_http_server(self, *args: object, **options: object) -> None: ...


def serve(
    place: WorkerPlace, instrument: Instrument, slots: int = 1, seconds: float = 30.0
) -> None:
    """Try plans until the process ends: `slots` at once, each for at most `seconds`.

    Waits indefinitely while no scheduler answers at its address. Raises CloptError if the
    instrument's device is absent or disappears.
    """
    place.certificates.check(place.scheduler)
    security = place.certificates.security()
    machines = LocalMachines(instrument, slots, seconds)
    try:
        with dask.config.set(_CONFIG):
            asyncio.run(_serve(place, security, machines))
    finally:
        machines.close()


async def _serve(place: WorkerPlace, security: Security | None, machines: LocalMachines) -> None:
    failure = asyncio.get_running_loop().create_future()
    bench = _WorkerBench(machines, failure)
    refusals = 0
    while True:
        try:
            async with _worker(place, security, machines, bench) as worker:
                refusals = 0
                ended = asyncio.ensure_future(worker.finished())
                await asyncio.wait([ended, failure], return_when=asyncio.FIRST_COMPLETED)
        except RuntimeError as error:
            # Workers of two machines may listen on the same port of their loopbacks.
            refusals += 1
            if refusals == _MOST_REFUSALS:
                raise CloptError(
                    f"The program at {place.scheduler} rejects workers: {error.__cause__!r}; "
                    "name the address that dask scheduler printed."
                ) from error
        if failure.done():
            raise CloptError(failure.result())
        await asyncio.sleep(_PAUSE)


def _worker(
    place: WorkerPlace, security: Security | None, machines: LocalMachines, bench: _WorkerBench
) -> Worker:
    return _Worker(
        place.scheduler,
        host=place.listen,
        security=security,
        name=f"{machines.device.name} at {socket.gethostname()} {uuid.uuid4().hex[:8]}",
        nthreads=machines.slots,
        resources={label_of(machines.device): machines.slots},
        plugins=(bench,),
        memory_limit=0,
    )


class _WorkerBench(WorkerPlugin):
    """The state that the trials of a worker share."""

    name = _PLUGIN

    def __init__(self, machines: LocalMachines, failure: asyncio.Future[str]) -> None:
        self.machines = machines
        self._failure = failure
        self._loop = asyncio.get_running_loop()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._change = Lock()

    def task(self, key: str, task: Task | None) -> Task | None:
        """Return the task with this key; store `task` under it if given."""
        with self._change:
            task = task or self._tasks.get(key)
            if task is not None:
                self._tasks[key] = task
                self._tasks.move_to_end(key)
                while len(self._tasks) > _MOST_TASKS:
                    self._tasks.popitem(last=False)
            return task

    def fail(self, sentence: str) -> None:
        """End the worker."""
        self._loop.call_soon_threadsafe(self._set_failure, sentence)

    def _set_failure(self, sentence: str) -> None:
        if not self._failure.done():
            self._failure.set_result(sentence)


def try_plan(
    to: tuple[str, str],
    key: str,
    task: Task | None,
    plan: tir.Plan,
    most_runs: int,
    rival: Rival | None,
    earlier: Result | None,
) -> None:
    """Try a plan on the worker that runs this call; `task` may be None if the worker has it.

    The answer goes to a topic of the scheduler's events, with a ticket; `to` holds both.
    """
    topic, ticket = to
    worker = cast("Any", get_worker())
    bench = worker.plugins[_PLUGIN]
    assert isinstance(bench, _WorkerBench)
    worker.log_event(
        topic, (ticket, pickle.dumps(_answer(bench, key, task, plan, most_runs, rival, earlier)))
    )


def _answer(
    bench: _WorkerBench,
    key: str,
    task: Task | None,
    plan: tir.Plan,
    most_runs: int,
    rival: Rival | None,
    earlier: Result | None,
) -> Result | TaskMissing:
    task = bench.task(key, task)
    if task is None:
        return TaskMissing()
    try:
        return bench.machines.submit(Trial(task, plan, most_runs, rival, earlier)).result()
    except CloptError as error:
        bench.fail(str(error))
    except CancelledError:  # this worker is ending
        pass
    raise Reschedule
