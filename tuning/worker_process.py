"""A worker, as seen by the process that started it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Timer

from ..errors import CloptError
from ..files.frames import receive_frame, send_frame
from ..messages.printable import visible
from .candidates import CandidateRequest, Candidates
from .instrument import Instrument, InstrumentDevice
from .trial import Result, Task, Trial
from .turns import MOST_WAIT
from .worker_main import COMMAND, Job, Waits

_START_SECONDS = 120.0
"""Seconds within which a worker must find its device; some drivers take most of a minute."""

_TURN_SECONDS = 2 * MOST_WAIT + 60.0
"""Seconds of a trial spent waiting for turns: slightly more than the limit of such a wait."""

_FROM_OUTSIDE = frozenset(
    -getattr(signal, name)
    for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
    if hasattr(signal, name)
)
"""Exit statuses of a process killed by a user, or by the system for lack of memory."""

_MOST_WORDS = 300
"""Bytes of a process's last output that a reason repeats."""


class WorkerEndedError(Exception):
    """The process ended before it answered."""

    def __init__(self, reason: str, from_outside: bool) -> None:
        super().__init__(reason)
        self.from_outside = from_outside
        """Whether it was ended by a signal that kernels do not cause."""


class WorkerHungError(Exception):
    """The process was killed because it exceeded its time limit."""


class WorkerProcess:
    """A process that tries plans, one at a time."""

    def __init__(
        self,
        instrument: Instrument,
        told: Callable[[WorkerProcess], None] = lambda process: None,
    ) -> None:
        """Start a process, pass it to `told`, and wait until it has opened its device.

        Raises CloptError if there is no such device, and WorkerEndedError or WorkerHungError if the
        process does not get that far.
        """
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # A separate group: compilers are killed with the worker, and Ctrl-C reaches only this
            # process.
            start_new_session=True,
        )
        self._task: Task | None = None
        self.seen: set[str] = set()
        """The kernels of which it has tried plans."""
        told(self)
        try:
            device = self._ask(instrument, _START_SECONDS)
        except BaseException:
            self.kill()
            raise
        assert isinstance(device, InstrumentDevice)
        self.device = device

    @property
    def is_fresh(self) -> bool:
        """Whether it has not tried any plan yet."""
        return not self.seen

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def measure(self, trial: Trial, seconds: float) -> Result:
        """Try a plan for at most `seconds`, not counting waits for a turn.

        Raises WorkerEndedError or WorkerHungError, or CloptError if it does not get a turn; in all
        cases the process has ended.
        """
        task = None if trial.task is self._task else trial.task
        self._task = trial.task
        self.seen.add(trial.task.kernel)
        job = Job(task, trial.plan, trial.most_runs, trial.rival, trial.earlier)
        result = self._ask(job, seconds)
        assert isinstance(result, Result)
        return result

    def candidates(self, request: CandidateRequest, seconds: float) -> Candidates:
        """Answer a request within `seconds`; raises the errors of `measure`."""
        answer = self._ask(request, seconds)
        assert isinstance(answer, Candidates)
        return answer

    def kill(self) -> None:
        """End the process and its children, and wait until it has ended."""
        self.send_kill()
        with suppress(subprocess.TimeoutExpired):  # a driver may never release it
            self._process.wait(timeout=5)

    def send_kill(self) -> None:
        """End the process and its children soon."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _ask(self, value: object, seconds: float) -> object:
        """Return the answer to a message; kill the process once it has worked for `seconds`.

        An answer that is a text is an error: kill the process and raise it as CloptError.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        limit, of_turns = _Limit(seconds, self.kill), _Limit(_TURN_SECONDS, self.kill)
        of_turns.stop()
        try:
            send_frame(self._process.stdin, pickle.dumps(value))
            while isinstance(answer := pickle.loads(receive_frame(self._process.stdout)), Waits):
                begins, ends = (of_turns, limit) if answer.waits else (limit, of_turns)
                ends.stop()
                begins.start()
        except (EOFError, OSError) as error:
            if limit.is_over:
                self.kill()
                raise WorkerHungError(f"It took longer than {seconds:g} s.") from error
            if of_turns.is_over:
                self.kill()
                raise CloptError("A process that waits for its turn does not answer.") from error
            raise self._ended() from error
        finally:
            limit.stop()
            of_turns.stop()
        if isinstance(answer, str):
            self.kill()
            raise CloptError(answer)
        return answer

    def _ended(self) -> WorkerEndedError:
        with suppress(subprocess.TimeoutExpired):  # it has closed its stdout, so it is about to end
            self._process.wait(timeout=1)
        status = self._process.poll()
        self.kill()
        if status is None:
            return WorkerEndedError("Its process closed its output.", from_outside=False)
        how = f"with status {status}" if status >= 0 else f"by {_signal_name(-status)}"
        said = self._last_words()
        return WorkerEndedError(
            f"Its process ended {how}{': ' if said else '.'}{said}", status in _FROM_OUTSIDE
        )

    def _last_words(self) -> str:
        """Return the last line that the process wrote to stderr."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - _MOST_WORDS))
        lines = self._errors.read().decode(errors="replace").split("\n")
        return visible(next((line.strip() for line in reversed(lines) if line.strip()), ""))


class _Limit:
    """Calls a function after some seconds, not counting time between `stop` and `start`."""

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self.is_over = False
        self._left = seconds
        self._call = call
        self.start()

    def start(self) -> None:
        self._since = time.monotonic()
        self._timer = Timer(self._left, self._end)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        self._timer.cancel()
        self._left = max(0.0, self._left - (time.monotonic() - self._since))

    def _end(self) -> None:
        self.is_over = True
        self._call()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
