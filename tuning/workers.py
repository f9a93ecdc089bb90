"""Worker processes on this machine, which may crash, hang, or be killed."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from threading import Lock

from ..errors import CloptError
from .instrument import Instrument, InstrumentDevice
from .trial import Fault, Result, Task, Trial
from .worker_main import failed
from .worker_process import WorkerEndedError, WorkerHungError, WorkerProcess

_MOST_STARTS = 5
"""Maximum consecutive processes that end by themselves before they have their device."""

_MOST_KILLED_STARTS = 50
"""Maximum consecutive processes that are killed before they have their device."""

_MOST_KILLS = 5
"""Maximum processes that are killed from outside while they try one plan: the system kills a plan
that exhausts memory each time."""


class LocalMachines:
    """Tries plans in processes on this machine.

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
        self._change = Lock()
        self._is_closed = False
        first = self._started()
        self.device: InstrumentDevice = first.device
        self._idle.append(first)

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan; the future gets a result even if processes crash.

        It gets a CloptError if processes no longer start; `close` cancels it.
        """
        return self._threads.submit(self._measured, trial)

    def close(self) -> None:
        """End all processes."""
        with self._change:
            self._is_closed = True
            for process in self._processes:
                process.kill()
        self._threads.shutdown(cancel_futures=True)

    def _measured(self, trial: Trial) -> Result:
        start = time.monotonic()
        kills = 0

        def fault(kind: Fault, reason: str) -> Result:
            return failed(trial, self.device, time.monotonic() - start, kind, reason)

        process = self._taken(trial.task)
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

    def _taken(self, task: Task) -> WorkerProcess:
        """Return an idle process, preferably one that has the task's operands, or a new process."""
        while True:
            with self._change:
                idle = sorted(self._idle, key=lambda each: task.kernel in each.seen)
                process = idle[-1] if idle else None
                if process is not None:
                    self._idle.remove(process)
            if process is None:
                return self._started()
            if process.is_alive:
                return process
            self._forget(process)

    def _keep(self, process: WorkerProcess, result: Result) -> None:
        """Keep a process for the next trial, unless it has lost its driver."""
        with self._change:
            if result.fault is not Fault.CRASHED and not self._is_closed:
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
