"""What a tuner tries: a plan for a kernel of a model; and the result on a device.

A task is picklable and complete, so that any process with the package `clopt` can try its plans,
on this machine or on another one.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..dialects import cl, tir
from ..weights import Weights


class Fault(StrEnum):
    """Why a plan has no time."""

    REFUSED = "refused"
    """Its schedule is illegal, or it exceeds a limit of the target; no device saw it."""
    BUILD = "build"
    """The device's compiler refused the kernel."""
    WRONG = "wrong"
    """The kernel wrote something else than the naive one."""
    CRASHED = "crashed"
    """The process that ran it ended, or the device's driver reset."""
    HUNG = "hung"
    """It exceeded the time limit of a trial."""


@dataclass(frozen=True)
class Task:
    """A distinct kernel of a model, as the model launches it."""

    kernel: str
    """The kernel's content: `plan_file.kernel_key` of the naive kernel."""
    name: str
    nodes: str
    """The ONNX nodes that it computes, as the comment of its OpenCL C has them."""
    launches: int
    """Launches in one inference; 0 for a kernel that only the other fusion of the model has."""
    target: cl.Target
    program: str
    """A module as text: the naive kernel and a queue program that launches it once. The program's
    parameters are the values of the model that the launch reads and writes, with their storage."""
    weights: Weights
    """The constants that the launch reads."""
    traffic: int = 0
    """Bytes that the other launches of an inference read and write: how cold the caches are."""
    given: frozenset[int] = frozenset()
    """The parameters that are inputs of the model: no launch of an inference writes them."""
    in_place: bool = False
    """Whether the model's plan of memory may let the result lie over an operand."""
    other_launches: int = 0
    """Launches in one inference in the other fusion, for kernels that only that one has; else 0."""


@dataclass(frozen=True)
class Rival:
    """The plan with which another one is compared."""

    best: float
    """Microseconds; a plan that clearly takes more needs few runs."""
    plan: tir.Plan | None = None
    """A plan with which the tried one takes turns on the same device, so that other load on the
    machine slows down both."""
    microseconds: float = 0.0
    """The time of that plan; the tried one's time is this, multiplied by the measured ratio."""


@dataclass(frozen=True)
class Trial:
    """One plan of one task."""

    task: Task
    plan: tir.Plan
    most_runs: int = 100
    """Maximum timed launches; a measurement ends earlier once it is certain enough."""
    rival: Rival | None = None


@dataclass(frozen=True)
class Result:
    """The result of a trial on a device."""

    kernel: str
    plan: tir.Plan
    device: str
    """The device's name and platform."""
    driver: str
    seconds: float
    """Wall time of the whole trial: building, checking, timing."""
    microseconds: float | None = None
    """The median of one launch by the device's clock; None after a fault."""
    noise: float | None = None
    """Half the width of the median's 95 % confidence interval, as a fraction of the median."""
    runs: int = 0
    fault: Fault | None = None
    reason: str = ""
    """A sentence about the fault."""


class Machines(Protocol):
    """Where plans are tried: in this process, in one that may crash, or on a fleet of boards."""

    @property
    def slots(self) -> int:
        """The number of trials that run at once."""
        ...

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan; the future gets a result even if the kernel crashes the process.

        It gets a CloptError if no process can try plans any more; `close` cancels it.
        """
        ...

    def close(self) -> None:
        """Stop all processes."""
        ...
