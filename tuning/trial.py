"""The input and output of a trial: a plan for a kernel of a model, and its result on a device.

A task is picklable and complete, so that any process with the package `clopt` can try its plans, on
this machine or another.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..dialects import cl, tir
from ..weights import Weights


class Fault(StrEnum):
    """Why a plan has no time."""

    REFUSED = "refused"
    """Its schedule is illegal, or exceeds a limit of the target; it never reached a device."""
    BUILD = "build"
    """The device's compiler rejected the kernel."""
    WRONG = "wrong"
    """The kernel's results differ from the naive kernel's."""
    CRASHED = "crashed"
    """The process that ran it ended, or the device's driver reset."""
    HUNG = "hung"
    """It exceeded the time limit of a trial."""


@dataclass(frozen=True)
class Task:
    """A distinct kernel of a model, as the model launches it."""

    kernel: str
    """The kernel's content: `kernel_key` of the naive kernel."""
    name: str
    nodes: str
    """The ONNX nodes that it computes, as in the comment above its OpenCL C."""
    launches: int
    """Launches in one inference."""
    target: cl.Target
    program: str
    """A module as text: the naive kernel and a queue program that launches it once. The program's
    parameters are the values of the model that the launch reads and writes, with their storage."""
    weights: Weights
    """The constants that the launch reads."""
    traffic: int = 0
    """Bytes that the other launches of an inference read and write; they determine how cold the
    caches are."""
    given: frozenset[int] = frozenset()
    """The parameters that are inputs of the model: no launch of an inference writes them."""
    in_place: bool = False
    """Whether the model's memory plan may place the result over an operand."""


@dataclass(frozen=True)
class Rival:
    """The plan with which a trial is compared."""

    best: float
    """Microseconds; clearly slower plans need few runs."""
    plan: tir.Plan | None = None
    """A plan that alternates with the trial's on the same device, so that other load on the machine
    slows down both."""
    microseconds: float = 0.0
    """The time of that plan; the trial's time is this multiplied by the measured ratio."""


@dataclass(frozen=True)
class Trial:
    """One plan of one task."""

    task: Task
    plan: tir.Plan
    most_runs: int = 100
    """Maximum timed launches; a measurement ends earlier once it is certain enough."""
    rival: Rival | None = None
    earlier: Result | None = None
    """A time by another compiler. It is the result if the text of the kernel is the same."""


@dataclass(frozen=True)
class Measurement:
    """The time of a choice on a device, or a fault."""

    device: str
    """The device's name and platform."""
    driver: str
    seconds: float = 0.0
    """Wall time of the whole trial: building, checking, timing."""
    microseconds: float | None = None
    """The median of one launch by the device's clock; None after a fault."""
    noise: float | None = None
    """Half the width of the median's 95 % confidence interval, as a fraction of the median."""
    runs: int = 0
    fault: Fault | None = None
    reason: str = ""
    """A sentence about the fault."""
    text: str = ""
    """A digest of what was timed: `TrialProgram.text`; empty if it was not written."""


@dataclass(frozen=True, kw_only=True)
class Result(Measurement):
    """The result of a trial on a device."""

    kernel: str
    plan: tir.Plan
