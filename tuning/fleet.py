"""Trials on the workers of a scheduler of dask.distributed, on any number of machines.

The scheduler distributes trials over workers with one kind of device, and reassigns the trials of a
lost worker. If the scheduler itself ends, its workers and this side wait for the next one at its
address, and trials without a result are repeated. Only the first result of a trial counts. After
`_MOST_LONELY` seconds without workers, all trials end with an error.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import uuid
from collections.abc import Awaitable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar, cast

import distributed
from distributed import Client
from distributed.scheduler import KilledWorker

from ..errors import CloptError
from .candidates import CandidateRequest, Candidates
from .fleet_security import OPEN, Certificates
from .fleet_worker import TaskMissing, device_of, key_of, try_plan
from .instrument import InstrumentDevice
from .trial import Fault, Result, Task, Trial
from .worker_main import failed

T = TypeVar("T")

_PATIENCE = 10.0
"""Seconds within which a running scheduler answers."""

_ATTEMPT = 4.0
"""Seconds of one attempt at connecting; less than half of `_PATIENCE`, so that a second fits."""

_LOOK = 0.5
"""Seconds between looks at the workers."""

_MOST_LONELY = 300.0
"""Seconds without a worker of the device after which all trials are given up."""

_MOST_SECONDS = 3600.0
"""Seconds of a trial. Workers end it long before, unless they answer only their scheduler."""

_MOST_LOSSES = 2
"""How often the scheduler may give up a plan, each time after several lost workers."""

_MOST_LOST_ANSWERS = 5
"""How often a trial may end without its answer, as when the connection is lost meanwhile."""


class Fleet:
    """Tries plans on the workers of a scheduler."""

    def __init__(self, scheduler: str, device: str = "", certificates: Certificates = OPEN) -> None:
        """`scheduler` is an address such as `tcp://host:8786`; `device` is part of a device's name.

        Raises CloptError if no scheduler answers, or if its workers do not have exactly one such
        device.
        """
        certificates.check(scheduler)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # clopt reports errors
        self._scheduler = scheduler
        self._security = certificates.security()
        self._client: Any = None  # a distributed.Client, which has no type annotations
        self._is_closed = False
        self._proposing = ThreadPoolExecutor(1, thread_name_prefix="clopt-candidates")
        self._running = 0
        self._slots = 0
        self._answers: dict[str, Result | TaskMissing] = {}
        """By the ticket of a trial."""
        self._topic = f"clopt-{uuid.uuid4().hex}"
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        # Attempts at connecting that dask.distributed gave up itself.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = Thread(target=self._loop.run_forever, name="clopt-fleet", daemon=True)
        self._thread.start()
        try:
            self.device: InstrumentDevice = self._call(self._start(device))
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan; the future gets a result even if workers or the scheduler end.

        It gets a CloptError if the scheduler runs another version of clopt, or has had no worker
        for too long; `close` cancels it.
        """
        return asyncio.run_coroutine_threadsafe(self._result(trial), self._loop)

    def candidates(self, request: CandidateRequest) -> Future[Candidates]:
        """Answer a request in this process, because the workers only try plans."""
        return self._proposing.submit(request.answer)

    def close(self) -> None:
        """Drop all trials; the workers continue for other searches."""
        if self._is_closed:
            return
        self._is_closed = True
        self._proposing.shutdown(wait=False, cancel_futures=True)
        with suppress(CloptError):
            self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():  # otherwise it ends with the process
            self._loop.close()

    def _call(self, what: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result(2 * _PATIENCE)
        except TimeoutError as error:
            future.cancel()
            raise self._silence() from error

    def _silence(self) -> CloptError:
        return CloptError(
            f"No scheduler answers at {self._scheduler}; start one with dask scheduler."
        )

    async def _start(self, device: str) -> InstrumentDevice:
        self._change = asyncio.Condition()
        self._connecting = asyncio.Lock()
        self._given_up: asyncio.Future[Result] = self._loop.create_future()
        try:
            async with asyncio.timeout(_PATIENCE):
                client = await self._connected(is_first=True)
                labels = await _apart(_slots_of(client), _PATIENCE)
        except TimeoutError as error:
            raise self._silence() from error
        fitting = sorted(label for label in labels if device.lower() in label.lower())
        if len(fitting) != 1:
            there = "; ".join(fitting or sorted(labels)) or "none"
            raise CloptError(
                f'The workers at {self._scheduler} must have one device "{device}", but have '
                f"{there}; name one of these, or start workers with clopt-tune worker."
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
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_ATTEMPT)
        await self._disconnect()

    async def _watch(self) -> None:
        """Track how many trials can run at once; give up after too long without workers."""
        last = self._loop.time()
        while not self._given_up.done():
            client = self._client
            slots = 0
            if client is not None and client.status == "running":
                # A connection that closes meanwhile ends the call by an error of any kind.
                with suppress(Exception):
                    found = await _apart(_slots_of(client), _PATIENCE)
                    slots = found.get(self._label, 0)
            last = self._loop.time() if slots else last
            if self._loop.time() - last > _MOST_LONELY:
                self._given_up.set_exception(
                    CloptError(
                        f"The scheduler at {self._scheduler} has had no worker with "
                        f"{self.device.name} for {_MOST_LONELY / 60:g} minutes. Start one with "
                        "clopt-tune worker; the same command continues the search."
                    )
                )
            async with self._change:
                self._slots = slots
                self._change.notify_all()
            await asyncio.sleep(_LOOK)

    async def _connected(self, *, is_first: bool = False) -> Any:
        """Return the connection to the scheduler; reconnect if it was lost.

        Raises CloptError if the first answer is not from a scheduler.
        """
        async with self._connecting:
            while self._client is None or self._client.status != "running":
                await self._disconnect()
                try:
                    self._client = cast("Any", Client)(
                        self._scheduler,
                        asynchronous=True,
                        timeout=_ATTEMPT,
                        name="clopt-tune",
                        security=self._security,
                    )
                    await _apart(self._client, _ATTEMPT)
                    self._client.subscribe_topic(self._topic, self._hear)
                except (OSError, TimeoutError):
                    await asyncio.sleep(_LOOK)
                except Exception as error:  # e.g. a length of 3 EiB, parsed from ssh's greeting
                    if is_first:
                        raise CloptError(
                            f"The program that answers at {self._scheduler} is not a scheduler of "
                            "dask.distributed; name the address that dask scheduler printed."
                        ) from error
                    await asyncio.sleep(_LOOK)
            return self._client

    async def _disconnect(self) -> None:
        if self._client is not None:
            with suppress(Exception):
                await _apart(self._client.close(), _ATTEMPT)

    def _hear(self, event: tuple[float, tuple[str, bytes]]) -> None:
        """Store the answer of a worker."""
        ticket, answer = event[1]
        self._answers[ticket] = pickle.loads(answer)

    async def _result(self, trial: Trial) -> Result:
        own = asyncio.current_task()
        assert own is not None
        self._tasks.add(own)
        own.add_done_callback(self._tasks.discard)
        tried = asyncio.create_task(self._in_turn(trial))
        try:
            await asyncio.wait([tried, self._given_up], return_when=asyncio.FIRST_COMPLETED)
            return (tried if tried.done() else self._given_up).result()
        finally:
            tried.cancel()

    async def _in_turn(self, trial: Trial) -> Result:
        """Try a plan once a worker is free, so that waiting trials do not count against workers."""
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
        losses = lost_answers = 0
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
                    f"The scheduler at {self._scheduler} cannot read trials; install this "
                    "machine's version of clopt there."
                ) from error
            except (CancelledError, OSError, TimeoutError):
                await asyncio.sleep(_LOOK)  # the scheduler has ended
            else:
                if isinstance(answer, Result):
                    return answer
                task = trial.task if answer is not None else task
                lost_answers += answer is None
                if lost_answers == _MOST_LOST_ANSWERS:
                    raise CloptError(
                        f"Workers at {self._scheduler} have tried a plan {lost_answers} times, and "
                        "no answer arrived; install this machine's version of clopt there."
                    )

    async def _asked(
        self, client: Any, trial: Trial, task: Task | None
    ) -> Result | TaskMissing | None:
        """Return the answer of a worker, or None if the worker was lost.

        Workers send answers as events through the connection that they opened to the scheduler.
        Results of tasks would need a connection that is opened to the worker.
        """
        ticket = uuid.uuid4().hex
        future = client.submit(
            try_plan,
            (self._topic, ticket),
            key_of(trial.task),
            task,
            trial.plan,
            trial.most_runs,
            trial.rival,
            trial.earlier,
            resources={self._label: 1},
            pure=False,
        )
        await _apart(cast("Any", distributed).wait(future), _MOST_SECONDS)
        if future.status == "error":
            raise await _apart(future.exception(), _PATIENCE)
        return self._answers.pop(ticket, None)


async def _apart(what: Awaitable[T], seconds: float) -> T:
    """Run a call of dask.distributed in a separate task and return its result.

    In Python 3.11 `asyncio.wait_for`, which such calls use, drops a cancellation that arrives when
    its future is done. `asyncio.wait` does not, so the caller can be cancelled and times out
    whatever the call does. Raises TimeoutError after `seconds`, and ConnectionError if the call
    cancels itself.
    """
    task = asyncio.ensure_future(what)
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        is_done = task.done()
        task.cancel()
    if not is_done:
        raise TimeoutError
    if task.cancelled():
        raise ConnectionError
    return task.result()


async def _slots_of(client: Any) -> dict[str, int]:
    """Return how many trials each device can run at once, by its label."""
    known = await client.scheduler.identity()
    slots: dict[str, int] = {}
    for worker in known["workers"].values():
        for label, count in worker["resources"].items():
            if device_of(label) is not None:
                slots[label] = slots.get(label, 0) + int(count)
    return slots
