"""A worker of a fleet: tries on its device the plans that a scheduler of dask.distributed sends."""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections import OrderedDict
from concurrent.futures import CancelledError
from hashlib import sha256
from threading import Lock
from typing import Any, cast

import dask.config
from distributed import Reschedule, Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from ..dialects import tir
from ..errors import CloptError
from .instrument import Device, Instrument
from .trial import Result, Rival, Task, Trial
from .workers import LocalMachines

_PLUGIN = "clopt"
_BETWEEN = " | driver "

_MOST_TASKS = 8
"""Tasks that a worker keeps, with their weights."""

_PAUSE = 1.0
"""Seconds before a worker looks for its scheduler again."""

# What a scheduler's worker does beside its trials would disturb them.
_CONFIG = {"distributed.worker.profile.enabled": False}


class TaskMissing:
    """The answer of a worker that needs the task along with the plan."""


def label_of(device: Device) -> str:
    """The name of a device as a resource of dask.distributed, of which a trial takes one."""
    return f"{device.name}{_BETWEEN}{device.driver}"


def device_of(label: str) -> Device | None:
    """The device of a `label_of`; None where the label is another resource's."""
    name, between, driver = label.rpartition(_BETWEEN)
    return Device(name, driver) if between else None


def key_of(task: Task) -> str:
    """The same for equal tasks."""
    content = (task.kernel, task.target, task.traffic, task.in_place, task.program)
    return sha256(repr(content).encode()).hexdigest()


def serve(scheduler: str, instrument: Instrument, slots: int = 1, seconds: float = 30.0) -> None:
    """Try plans until the process ends, `slots` at once and each for at most so many seconds.

    Waits for a scheduler at this address where there is none yet or no more. Raises CloptError
    where the instrument's device is not there or has gone.
    """
    machines = LocalMachines(instrument, slots, seconds)
    try:
        with dask.config.set(_CONFIG):
            asyncio.run(_serve(scheduler, machines))
    finally:
        machines.close()


async def _serve(scheduler: str, machines: LocalMachines) -> None:
    failure = asyncio.get_running_loop().create_future()
    bench = _Bench(machines, failure)
    while True:
        worker = Worker(
            scheduler,
            name=f"{machines.device.name} at {socket.gethostname()} {uuid.uuid4().hex[:8]}",
            nthreads=machines.slots,
            resources={label_of(machines.device): machines.slots},
            plugins=(bench,),
            memory_limit=0,
        )
        async with worker:
            ended = asyncio.ensure_future(worker.finished())
            await asyncio.wait([ended, failure], return_when=asyncio.FIRST_COMPLETED)
        if failure.done():
            raise CloptError(failure.result())
        await asyncio.sleep(_PAUSE)


class _Bench(WorkerPlugin):
    """What the trials of a worker share."""

    name = _PLUGIN

    def __init__(self, machines: LocalMachines, failure: asyncio.Future[str]) -> None:
        self.machines = machines
        self._failure = failure
        self._loop = asyncio.get_running_loop()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._change = Lock()

    def task(self, key: str, task: Task | None) -> Task | None:
        """The task of this key, which may come with it."""
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
    key: str, task: Task | None, plan: tir.Plan, most_runs: int, rival: Rival | None
) -> Result | TaskMissing:
    """Try a plan on the worker that runs this; `task` may be missing where it was there before."""
    bench = cast("Any", get_worker()).plugins[_PLUGIN]
    assert isinstance(bench, _Bench)
    task = bench.task(key, task)
    if task is None:
        return TaskMissing()
    try:
        return bench.machines.submit(Trial(task, plan, most_runs, rival)).result()
    except CloptError as error:
        bench.fail(str(error))
    except CancelledError:  # this worker ends
        pass
    raise Reschedule
