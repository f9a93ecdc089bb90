"""The process of a worker, which reads an instrument and trials from stdin and answers on stdout.

Frames hold pickled values. The first frame is the instrument; the answer is its `InstrumentDevice`
or the message of a CloptError. The answer to each `Job` is its `Result`, and to a
`CandidateRequest` its `Candidates`, or a message if it did not get a turn or could not be answered.
A `Waits` marks the start and the end of each wait for a turn.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING

from ..dialects import tir
from ..errors import CloptError
from ..files.frames import receive_frame, send_frame
from .instrument import Instrument, InstrumentDevice
from .trial import Fault, Result, Rival, Task, Trial
from .turns import TurnMissedError, Turns

if TYPE_CHECKING:  # the first request imports it, with the passes
    from .candidates import CandidateRequest, Candidates

COMMAND = (sys.executable, "-c", f"from {__name__} import main; main()")
"""The command that starts a worker."""


@dataclass(frozen=True)
class Job:
    """A trial, without its task if that is unchanged."""

    task: Task | None
    plan: tir.Plan
    most_runs: int
    rival: Rival | None
    earlier: Result | None


@dataclass(frozen=True)
class Waits:
    """The start or end of a wait for other processes, which does not count as time of the trial."""

    waits: bool


def main() -> None:
    """Answer trials until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # compilers write to stdout
    jobs: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(sys.stdin.buffer, jobs), daemon=True).start()

    def send(value: object) -> None:
        send_frame(answers, pickle.dumps(value))

    try:
        instrument: Instrument = pickle.loads(jobs.get())
        device = instrument.device()
    except CloptError as error:
        send(str(error))
        return
    send(device)
    turns = Turns(told=lambda waits: send(Waits(waits)))
    task: Task | None = None
    while True:
        job: Job | CandidateRequest = pickle.loads(jobs.get())
        if not isinstance(job, Job):
            send(_candidates(job, turns))
            continue
        task = job.task or task
        assert task is not None
        trial = Trial(task, job.plan, job.most_runs, job.rival, job.earlier)
        try:
            send(_answer(instrument, device, trial, turns))
        except TurnMissedError as error:
            send(str(error))


def _answer(instrument: Instrument, device: InstrumentDevice, trial: Trial, turns: Turns) -> Result:
    start = time.monotonic()
    try:
        with turns.beside_others():
            return instrument.measure(trial, turns)
    except TurnMissedError:  # not a fault of the plan
        raise
    except Exception as error:
        return failed(trial, device, time.monotonic() - start, Fault.CRASHED, repr(error))


def _candidates(request: CandidateRequest, turns: Turns) -> Candidates | str:
    """Return the answer to a request, or a message."""
    try:
        with turns.beside_others():
            return request.answer()
    except TurnMissedError as error:
        return str(error)
    except Exception as error:
        return f"No plans can be proposed for a kernel: {error!r}"


def failed(
    trial: Trial, device: InstrumentDevice, seconds: float, fault: Fault, reason: str
) -> Result:
    """Return the result of a trial without a time."""
    return Result(
        device.name,
        device.driver,
        seconds,
        fault=fault,
        reason=reason,
        kernel=trial.task.kernel,
        plan=trial.plan,
    )


def _read(stream: IO[bytes], jobs: SimpleQueue[bytes]) -> None:
    """Read ahead, so that this process ends as soon as its parent does."""
    try:
        while True:
            jobs.put(receive_frame(stream))
    except (EOFError, OSError):
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # including compilers that are still busy
        os._exit(0)
