"""Trials on a device: build the program of a plan, check its results, and time it."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.utils.exceptions import VerifyException

from ..api import compile as compile_module
from ..backends.pyopencl_runtime import find_device
from ..compiled_model import CompiledModel
from ..dialects import cl, tir
from ..errors import CloptError
from ..options import Place
from ..tensor_info import TensorInfo
from .instrument import InstrumentDevice
from .programs import Programs, TrialProgram
from .times import Times
from .timing import Array, BuiltProgram, TimedLaunch, time_alone, time_in_turns
from .trial import Fault, Result, Task, Trial
from .turns import CPU, Turns

_TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-9}
"""Allowed error by the type of a result, relative to its largest value, because plans add in
different orders. Integers must be exact."""

_MOST_NOISE = 1_000_003
"""Random numbers of an operand; larger operands repeat them. A prime, so that all rows and blocks
differ and a plan that reads the wrong ones gives wrong results."""
_MOST_PREPARED = 1 << 30
"""Maximum bytes of operands and results that are kept for the next trials."""

TEXTURES = re.compile(r", #tir\.scope<texture, \[[^]]*\]>")
"""The part of a memref type's text that makes it an image."""


@dataclass
class _Prepared:
    """A task on the device: its operands and expected results."""

    programs: Programs
    operands: list[Array]
    expected: list[Array]

    @property
    def bytes(self) -> int:
        return sum(each.nbytes for each in (*self.operands, *self.expected))


@dataclass(frozen=True)
class _Rival:
    """A launch that is kept for the next trials."""

    key: str
    """The kernel and the plan."""
    launch: TimedLaunch


class FaultyPlanError(Exception):
    """A plan without a time."""

    def __init__(self, fault: Fault, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault


class MeasuringInstrument(ABC):
    """Tries plans on a device; subclasses transfer programs to it."""

    compares = True
    """Whether a plan must give the results of the plainest one."""
    takes_turns = True
    """Whether it can time two programs in turns."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, _Prepared] = OrderedDict()
        self._kept: _Rival | None = None

    @abstractmethod
    def device(self) -> InstrumentDevice:
        """Return the device; raise CloptError if there is none."""

    @abstractmethod
    def built(self, program: TrialProgram, task: Task) -> BuiltProgram:
        """Build a program on the device. Raises CloptError if the device refuses it."""

    @abstractmethod
    def resource(self, task: Task) -> str:
        """Return the resource that a plan needs exclusively while timed: see `Turns.alone`."""

    def measure(self, trial: Trial, turns: Turns) -> Result:
        """Build a plan, compare it with the plainest plan on the same operands, and time it."""
        start, device = time.monotonic(), self.device()
        kept, self._kept = self._kept, None  # dropped if the trial fails
        result = Result(device.name, device.driver, kernel=trial.task.kernel, plan=trial.plan)
        try:
            program, text = self._program(trial)
            result = replace(result, text=text)
            if trial.earlier is not None and trial.earlier.text == text:
                self._kept = kept
                return replace(trial.earlier, seconds=time.monotonic() - start)
            launch, rival = self._checked(trial, program), self._rival(trial, kept)
            with turns.alone(self.resource(trial.task)):
                timed = _timed(launch, rival, trial)
            self._kept = rival
            result = replace(result, microseconds=timed.median, noise=timed.noise, runs=timed.runs)
        except FaultyPlanError as error:
            result = replace(result, fault=error.fault, reason=str(error))
        return replace(result, seconds=time.monotonic() - start)

    def _program(self, trial: Trial) -> tuple[TrialProgram, str]:
        """Return the program of a trial and the digest of its text."""
        prepared = self._tasks.get(trial.task.kernel)
        programs = Programs(trial.task) if prepared is None else prepared.programs
        try:
            program = programs.of(trial.plan)
            return program, program.text
        except (CloptError, VerifyException) as error:
            raise FaultyPlanError(Fault.REFUSED, str(error)) from error

    def _checked(self, trial: Trial, program: TrialProgram) -> TimedLaunch:
        """Return the launch of a trial after checking its results."""
        try:
            prepared = self._prepare(trial.task)
        except CloptError as error:
            reason = f"Its naive kernel does not run: {error}"
            raise FaultyPlanError(Fault.BUILD, reason) from error
        try:
            model = self.built(program, trial.task)
        except CloptError as error:
            raise FaultyPlanError(Fault.BUILD, str(error)) from error
        results = model.run(prepared.operands)
        for found, expected in zip(results, prepared.expected, strict=True):
            if self.compares:
                check(found, expected)
        return TimedLaunch(model, prepared.operands, program.timed)

    def _rival(self, trial: Trial, kept: _Rival | None) -> _Rival | None:
        """Return the launch with which a trial alternates, or None if it is timed alone."""
        if not self.takes_turns or trial.rival is None or trial.rival.plan is None:
            return None
        key = f"{trial.task.kernel} {tir.PlanAttr(trial.rival.plan)}"
        if kept is not None and kept.key == key:
            return kept
        prepared = self._prepare(trial.task)
        try:
            program = prepared.programs.of(trial.rival.plan)
            built = self.built(program, trial.task)
        except (CloptError, VerifyException):
            return None  # e.g. not enough memory for two programs
        return _Rival(key, TimedLaunch(built, prepared.operands, program.timed))

    def _prepare(self, task: Task) -> _Prepared:
        if task.kernel not in self._tasks:
            # In buffers: no schedule is needed to read and write their elements one by one.
            plain = Programs(replace(task, program=TEXTURES.sub("", task.program)))
            model = self.built(plain.plainest(), task)
            operands = _operands(model)
            expected = model.run(operands)
            self._tasks[task.kernel] = _Prepared(Programs(task), operands, expected)
        self._tasks.move_to_end(task.kernel)
        while len(self._tasks) > 1 and sum(p.bytes for p in self._tasks.values()) > _MOST_PREPARED:
            self._tasks.popitem(last=False)
        return self._tasks[task.kernel]


class OpenCLInstrument(MeasuringInstrument):
    """Tries plans in this process, on the OpenCL device that `words` selects."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
        self._place: Place | None = None
        """Used for all trials up to the next fault: a driver takes 0.1 s to make a context and
        blocks other processes meanwhile."""

    def __repr__(self) -> str:
        return f"the device {self.words}"

    def device(self) -> InstrumentDevice:
        found = find_device(self.words)
        return InstrumentDevice(f"{found.name} ({found.platform})", found.driver)

    def measure(self, trial: Trial, turns: Turns) -> Result:
        # A kernel that writes where it must not may leave no context in which others run.
        try:
            result = super().measure(trial, turns)
        except Exception:
            self._place = None
            raise
        if result.fault:
            self._place = None
        return result

    def built(self, program: TrialProgram, task: Task) -> BuiltProgram:
        if self._place is None:
            self._place = Place(self.words).chosen()
        return BuiltHere(
            compile_module(
                program.module,
                task.target,
                device=self._place,
                weights=program.context.weights,
                use_cache=False,
            )
        )

    def resource(self, task: Task) -> str:
        return CPU if task.target.device.device_type == "cpu" else self.device().name


@dataclass(frozen=True)
class BuiltHere:
    """A program or a network on a device of this machine."""

    model: CompiledModel

    @property
    def resource(self) -> str:
        is_cpu = cl.target_of(self.model.module).device.device_type == "cpu"
        return CPU if is_cpu else self.model.device_name

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        return self.model.inputs

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        return self.model.run(list(inputs))

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        timings = self.model.executable.profile(list(inputs), runs)
        return [[timing.nanoseconds for timing in run] for run in timings]


def _operands(model: BuiltProgram) -> list[Array]:
    """Return noise for each operand; kernels clamp the indices that they read, so all are valid."""
    rng = np.random.default_rng(0)
    found: list[Array] = []
    for port in model.inputs:
        size = min(prod(port.shape), _MOST_NOISE)
        if port.dtype.kind == "f":
            values = rng.standard_normal(size, np.float32)
        elif port.dtype.kind == "b":
            values = rng.integers(0, 2, size)
        else:
            low = 0 if port.dtype.kind == "u" else -100
            values = rng.integers(low, 101, size)
        found.append(np.resize(values.astype(port.dtype), port.shape))
    return found


def check(found: Array, expected: Array) -> None:
    """Raise FaultyPlanError if a result differs from the expected one."""
    tolerance = _TOLERANCES.get(expected.dtype.name, 0.0)
    if np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f"):
        return
    with np.errstate(invalid="ignore"):
        # Adjacent floats have an exact difference; differences of integers may wrap.
        type_ = np.float64 if expected.dtype.kind != "f" else expected.dtype
        apart = np.abs(found.astype(type_, copy=False) - expected.astype(type_, copy=False))
        most = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        wrong = (apart > tolerance * most) | (np.isnan(found) != np.isnan(expected))
    if wrong.any():
        raise FaultyPlanError(
            Fault.WRONG,
            f"{np.count_nonzero(wrong)} of {wrong.size} results differ by up to "
            f"{apart.max():.3g} from the naive kernel, whose largest result is {most:.3g}.",
        )


def _timed(launch: TimedLaunch, rival: _Rival | None, trial: Trial) -> Times:
    """Return the times of a trial in microseconds, relative to its rival if it has one."""
    known = trial.rival
    if known is None or rival is None:
        return time_alone(launch, trial.most_runs, None if known is None else known.best)
    best = known.best / known.microseconds
    ratios = time_in_turns(launch, rival.launch, trial.most_runs, best)
    return Times([known.microseconds * ratio for ratio in ratios.microseconds])
