"""A device that does what the plans say: tells a time, crashes, hangs."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from clopt.dialects import tir
from clopt.dialects.tir.plan import PlanValue
from clopt.errors import CloptError
from clopt.targets import load_target
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.trial import Fault, Result, Task, Trial
from clopt.tuning.turns import CPU, TurnMissedError, Turns
from clopt.weights import Weights

DEVICE = InstrumentDevice("Planted device (tests)", "1.0")


def task(kernel: str = "0123456789abcdef") -> Task:
    """A task that no real device can try."""
    return Task(kernel, "kernel", "conv", 1, load_target("generic"), "builtin.module {}", Weights())


def trial(what: str, of: Task, **parameters: PlanValue) -> Trial:
    """A plan at which the planted device does `what`, a key of `_ACTIONS`. Others go well."""
    return Trial(of, tir.Plan(what, 1, parameters))


@dataclass(frozen=True)
class Planted:
    """Does what the rule of a plan says, and notes each trial in a file."""

    journal: Path
    device_error: str = ""
    """What the first process meets that looks for the device."""
    error_of_others: str = ""

    def device(self) -> InstrumentDevice:
        error = self.error_of_others if self.journal.exists() else self.device_error
        if self.error_of_others:
            note(self.journal, f"device {os.getpid()}")
        if error == "crash":
            os.abort()
        if error == "hang":
            _hang(self.journal, {})
        if error:
            raise CloptError(error)
        return DEVICE

    def measure(self, trial: Trial, turns: Turns) -> Result:
        start = time.monotonic()
        parameters = trial.plan.parameters
        note(self.journal, f"{trial.plan.rule} {os.getpid()}")
        _ACTIONS.get(trial.plan.rule, _well)(self.journal, parameters)
        if "build" in parameters:
            self._stay("build", parameters)
        if "time" in parameters:
            with turns.alone(str(parameters.get("on", CPU))):
                self._stay("time", parameters)
        fault = Fault.WRONG if trial.plan.rule == "wrong" else None
        return Result(
            DEVICE.name,
            DEVICE.driver,
            time.monotonic() - start,
            planted_time(trial),
            0.01,
            3,
            fault,
            "wrong by 1" if fault else "",
            kernel=trial.task.kernel,
            plan=trial.plan,
        )

    def _stay(self, what: str, parameters: Mapping[str, PlanValue]) -> None:
        """Work for some milliseconds, and note when."""
        start = time.monotonic()
        time.sleep(float(str(parameters[what])) / 1000)
        note(self.journal, f"{what} {start} {time.monotonic()}")


@dataclass(frozen=True)
class Steady:
    """Tells the same time of every plan, after some seconds, and notes those that it tried."""

    journal: Path
    seconds: float = 0.03

    def device(self) -> InstrumentDevice:
        return DEVICE

    def measure(self, trial: Trial, turns: Turns) -> Result:
        time.sleep(self.seconds)
        note(self.journal, f"{trial.most_runs} {trial.task.kernel} {tir.PlanAttr(trial.plan)}")
        of, plan = trial.task.kernel, trial.plan
        return Result(DEVICE.name, DEVICE.driver, self.seconds, 10.0, 0.01, 3, kernel=of, plan=plan)


def planted_time(trial: Trial) -> float:
    """The microseconds that the planted device tells of a plan."""
    digest = sha256(f"{trial.task.kernel} {sorted(trial.plan.parameters.items())}".encode())
    return int.from_bytes(digest.digest()[:4], "big") / 1000


def note(journal: Path, line: str) -> None:
    """Append a line, whole, though several processes do."""
    with journal.open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")


def _hang(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    """Hang, with a child, as a compiler is one."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(command)
    note(journal, f"child {child.pid}")
    child.wait(600)


def _say_and_abort(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    print("LLVM ERROR: cannot select", file=sys.stderr)
    sys.stderr.flush()
    os.abort()


def _raise(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    raise RuntimeError("planted")


def _spoil(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    """Let the process crash at the next trial: a kernel has written where it must not."""
    _SPOILED.append(True)


def _well(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    if _SPOILED:
        os.abort()


def _miss_turn(journal: Path, parameters: Mapping[str, PlanValue]) -> None:
    raise TurnMissedError("Another process has held the lock.")


_SPOILED: list[bool] = []

_ACTIONS: Mapping[str, Callable[[Path, Mapping[str, PlanValue]], object]] = {
    "well": _well,
    "wrong": _well,
    "spoil": _spoil,
    "raise": _raise,
    "abort": _say_and_abort,
    "fault": lambda journal, parameters: ctypes.string_at(0),
    "exit": lambda journal, parameters: os._exit(3),
    "killed": lambda journal, parameters: os.kill(os.getpid(), signal.SIGKILL),
    "hang": _hang,
    "no turn": _miss_turn,
}
