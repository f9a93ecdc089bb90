"""Plans tried by workers on any number of machines, which a scheduler of dask.distributed knows.

The scheduler spreads trials over workers of one kind of device and gives those of a lost worker to
others. Where it ends itself, its workers and this side wait for the next one at its address, and
each trial that has no result yet is tried again. The first result of a trial is the only one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar, cast

from distributed import Client
from distributed.scheduler import KilledWorker

from ..errors import CloptError
from .fleet_worker import TaskMissing, device_of, key_of, try_plan
from .instrument import Device
from .trial import Fault, Result, Task, Trial
from .worker_main import failed

T = TypeVar("T")

_PATIENCE = 10.0
"""Seconds within which a scheduler answers that is there."""

_LOOK = 0.5
"""Seconds between looks at the workers."""

_MOST_LOSSES = 2
"""How often a plan is given up by the scheduler, each time after several lost workers."""


class Fleet:
    """Tries plans on the workers of a scheduler."""

    def __init__(self, scheduler: str, device: str = "") -> None:
        """`scheduler` is an address such as `tcp://host:8786`; `device` a part of a device's name.

        Raises CloptError where no scheduler answers or its workers have not one such device.
        """
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we tell what matters
        self._scheduler = scheduler
        self._client: Any = None  # a distributed.Client, whose methods have no types
        self._is_closed = False
        self._running = 0
        self._slots = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        # Attempts at connecting that dask.distributed gave up itself.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = Thread(target=self._loop.run_forever, name="clopt-fleet", daemon=True)
        self._thread.start()
        try:
            self.device: Device = self._call(self._start(device))
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan. The future gets a result, whatever becomes of workers and scheduler.

        It gets a CloptError where the scheduler has another clopt, and is cancelled by `close`.
        """
        return asyncio.run_coroutine_threadsafe(self._result(trial), self._loop)

    def close(self) -> None:
        """Forget all trials; the workers stay, for others."""
        if self._is_closed:
            return
        self._is_closed = True
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _start(self, device: str) -> Device:
        self._change = asyncio.Condition()
        self._connecting = asyncio.Lock()
        try:
            client = await asyncio.wait_for(self._connected(), _PATIENCE)
        except TimeoutError as error:
            raise CloptError(
                f"No scheduler answers at {self._scheduler}; start one with dask scheduler."
            ) from error
        labels = await _slots_of(client)
        fitting = sorted(label for label in labels if device.lower() in label.lower())
        if len(fitting) != 1:
            there = "; ".join(fitting or sorted(labels)) or "none"
            raise CloptError(
                f'The workers at {self._scheduler} have not one device "{device}", but {there}; '
                "name one of theirs, or start workers with clopt-tune worker."
            )
        self._label = fitting[0]
        self._slots = labels[self._label]
        self._tasks.add(asyncio.create_task(self._watch()))
        found = device_of(self._label)
        assert found is not None
        return found

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._disconnect()

    async def _watch(self) -> None:
        """Know how many trials run at once."""
        while True:
            client = self._client
            slots = 0
            if client is not None and client.status == "running":
                try:
                    found = await asyncio.wait_for(_slots_of(client), _PATIENCE)
                    slots = found.get(self._label, 0)
                except (Exception, asyncio.CancelledError):
                    # A connection that closes meanwhile ends the call by an error of any kind.
                    if _is_cancelled():
                        raise
            async with self._change:
                self._slots = slots
                self._change.notify_all()
            await asyncio.sleep(_LOOK)

    async def _connected(self) -> Any:
        """The connection to the scheduler, made anew where it was lost."""
        async with self._connecting:
            while self._client is None or self._client.status != "running":
                await self._disconnect()
                self._client = cast("Any", Client)(
                    self._scheduler, asynchronous=True, timeout=_PATIENCE, name="clopt-tune"
                )
                try:
                    await asyncio.wait_for(self._client, _PATIENCE)
                except (OSError, TimeoutError):
                    await asyncio.sleep(_LOOK)
            return self._client

    async def _disconnect(self) -> None:
        if self._client is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._client.close(), _PATIENCE)

    async def _result(self, trial: Trial) -> Result:
        """Try a plan once a worker is free, so that no worker is blamed for trials that wait."""
        own = asyncio.current_task()
        assert own is not None
        self._tasks.add(own)
        own.add_done_callback(self._tasks.discard)
        async with self._change:
            await self._change.wait_for(lambda: self._running < self._slots)
            self._running += 1
        try:
            return await self._tried(trial)
        finally:
            async with self._change:
                self._running -= 1
                self._change.notify_all()

    async def _tried(self, trial: Trial) -> Result:
        losses = 0
        task: Task | None = None
        while True:
            client = await self._connected()
            try:
                answer = await self._asked(client, trial, task)
            except KilledWorker:
                losses += 1
                if losses == _MOST_LOSSES:
                    reason = "Several machines were lost while they tried it."
                    return failed(trial, self.device, 0.0, Fault.CRASHED, reason)
            except RuntimeError as error:
                raise CloptError(
                    f"The scheduler at {self._scheduler} cannot read trials; install the version "
                    "of clopt there that you have here."
                ) from error
            except (asyncio.CancelledError, CancelledError, OSError, TimeoutError):
                if _is_cancelled():
                    raise
                await asyncio.sleep(_LOOK)  # the scheduler has gone
            else:
                if isinstance(answer, Result):
                    return answer
                task = trial.task

    async def _asked(self, client: Any, trial: Trial, task: Task | None) -> Result | TaskMissing:
        return await client.submit(
            try_plan,
            key_of(trial.task),
            task,
            trial.plan,
            trial.most_runs,
            trial.rival,
            resources={self._label: 1},
            pure=False,
        )


def _is_cancelled() -> bool:
    """Whether nobody wants the result of this coroutine any more."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _slots_of(client: Any) -> dict[str, int]:
    """The trials that run at once on each device, by its label."""
    known = await client.scheduler.identity()
    slots: dict[str, int] = {}
    for worker in known["workers"].values():
        for label, count in worker["resources"].items():
            if device_of(label) is not None:
                slots[label] = slots.get(label, 0) + int(count)
    return slots
