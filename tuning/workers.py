"""Worker processes on this machine, which may crash, hang, or be killed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from ..errors import CloptError
from .candidates import CandidateRequest, Candidates
from .instrument import Instrument, InstrumentDevice
from .trial import Fault, Result, Trial
from .worker_main import failed
from .worker_process import WorkerEndedError, WorkerHungError, WorkerProcess

_MOST_STARTS = 5
"""Maximum consecutive processes that end by themselves before they have their device."""

_MOST_KILLED_STARTS = 50
"""Maximum consecutive processes that are killed before they have their device."""

_MOST_KILLS = 5
"""Maximum processes that are killed from outside while they try one plan: the system kills a plan
that exhausts memory each time."""

_CANDIDATE_SECONDS = 300.0
"""Limit for proposing the candidates of a generation, which takes a few seconds."""


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A trial that no process has begun."""

    trial: Trial
    result: Future[Result] = field(default_factory=Future[Result])


class LocalMachines:
    """Tries plans in processes on this machine.

    All processes start at once, because they take seconds to open a device. A process prefers
    trials of a kernel whose operands it has.

    If a process ends by itself while it tries its first plan, the plan has crashed. If it had tried
    another plan before, or was killed from outside, a new process tries the plan again.
    """

    def __init__(self, instrument: Instrument, slots: int = 1, seconds: float = 30.0) -> None:
        """Start up to `slots` processes, each with at most `seconds` per trial.

        Raises CloptError if the instrument's device is absent.
        """
        self._instrument = instrument
        self._seconds = seconds
        self._slots = slots
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="clopt-worker")
        self._processes: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._waiting: list[_Waiting] = []
        self._change = Lock()
        self._is_closed = False
        first = self._started()
        self.device: InstrumentDevice = first.device
        self._idle.append(first)
        for _ in range(slots - 1):
            self._threads.submit(self._start_ahead)

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan; the future gets a result even if processes crash.

        It gets a CloptError if processes no longer start; `close` cancels it.
        """
        waiting = _Waiting(trial)
        with self._change:
            self._waiting.append(waiting)
        self._threads.submit(self._try_next)
        return waiting.result

    def candidates(self, request: CandidateRequest) -> Future[Candidates]:
        """Answer a request in a process; `close` cancels it."""
        return self._threads.submit(self._proposed, request)

    def close(self) -> None:
        """End all processes."""
        with self._change:
            self._is_closed = True
            for waiting in self._waiting:
                waiting.result.cancel()
            processes, self._processes = self._processes, set()
        # All at once, because a driver can take a second to release each.
        for process in processes:
            process.send_kill()
        for process in processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)

    def _try_next(self) -> None:
        """Try one of the waiting trials."""
        process, waiting = self._next()
        if not waiting.result.set_running_or_notify_cancel():
            self._return(process)
            return
        try:
            result = self._measured(process or self._started(), waiting.trial)
        except BaseException as error:
            waiting.result.set_exception(error)
        else:
            waiting.result.set_result(result)

    def _next(self) -> tuple[WorkerProcess | None, _Waiting]:
        """Return a waiting trial and an idle process, preferably one that has its operands.

        Otherwise prefer a kernel that no process has seen: one that has seen it will soon be free.
        """
        with self._change:
            idle = self._alive()
            seen = set[str]().union(*(each.seen for each in self._processes))
            pairs = (
                (process, waiting)
                for waiting in self._waiting
                for process in idle
                if waiting.trial.task.kernel in process.seen
            )
            fresh = (each for each in self._waiting if each.trial.task.kernel not in seen)
            other = next(fresh, self._waiting[0])
            process, waiting = next(pairs, (idle[-1] if idle else None, other))
            self._waiting.remove(waiting)
            if process is not None:
                self._idle.remove(process)
        return process, waiting

    def _measured(self, process: WorkerProcess, trial: Trial) -> Result:
        start = time.monotonic()
        kills = 0

        def fault(kind: Fault, reason: str) -> Result:
            return failed(trial, self.device, time.monotonic() - start, kind, reason)

        while True:
            was_fresh = process.is_fresh
            try:
                result = process.measure(trial, self._seconds)
            except WorkerHungError as error:
                self._forget(process)
                return fault(Fault.HUNG, str(error))
            except WorkerEndedError as error:
                self._forget(process)
                kills += error.from_outside
                if kills >= _MOST_KILLS or (was_fresh and not error.from_outside):
                    return fault(Fault.CRASHED, str(error))
                process = self._started()
            else:
                self._keep(process, result)
                return result

    def _proposed(self, request: CandidateRequest) -> Candidates:
        reason = ""
        for _ in range(_MOST_KILLS):
            with self._change:
                process = self._idle.pop() if self._alive() else None
            process = process or self._started()
            try:
                found = process.candidates(request, _CANDIDATE_SECONDS)
            except (WorkerHungError, WorkerEndedError) as error:
                self._forget(process)
                reason = str(error)
            else:
                self._return(process)
                return found
        raise CloptError(f"The processes that propose plans for a kernel end. {reason}")

    def _start_ahead(self) -> None:
        """Start a process before a trial needs it."""
        with suppress(CloptError, CancelledError):  # then the trial reports it
            self._return(self._started())

    def _alive(self) -> Sequence[WorkerProcess]:
        """Return the idle processes that have not ended; the caller holds the lock."""
        for process in [each for each in self._idle if not each.is_alive]:
            process.kill()  # its children may live
            self._idle.remove(process)
            self._processes.discard(process)
        return self._idle

    def _keep(self, process: WorkerProcess, result: Result) -> None:
        """Keep a process for the next trial, unless it has lost its driver."""
        if result.fault is Fault.CRASHED:
            self._forget(process)
        else:
            self._return(process)

    def _return(self, process: WorkerProcess | None) -> None:
        """Make a process available again, or end it if all are to end."""
        if process is None:
            return
        with self._change:
            if not self._is_closed:
                self._idle.append(process)
                return
        self._forget(process)

    def _forget(self, process: WorkerProcess) -> None:
        process.kill()
        with self._change:
            self._processes.discard(process)

    def _add(self, process: WorkerProcess) -> None:
        """Register a process, which may still be opening its device, so that `close` can end it."""
        with self._change:
            self._processes.add(process)
            if self._is_closed:
                process.kill()

    def _started(self) -> WorkerProcess:
        reason, kills, ends = "", 0, 0
        while kills < _MOST_KILLED_STARTS and ends < _MOST_STARTS:
            if self._is_closed:
                raise CancelledError
            try:
                return WorkerProcess(self._instrument, self._add)
            except WorkerEndedError as error:
                reason = str(error)
                kills, ends = kills + error.from_outside, ends + (not error.from_outside)
            except WorkerHungError as error:  # another process would take as long
                reason, ends = str(error), _MOST_STARTS
        raise CloptError(
            f"No worker process could start with {self._instrument}: {reason} "
            "Check whether it works with clopt-run or clopt_runner."
        )
