"""Check whether plans that are faster alone are also faster in their network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..backends.programs import program_of
from ..compiled_model import CompiledModel
from ..dialects import cl, tir
from .deadline import NEVER, Deadline
from .measure import BuiltHere
from .session import Outcome
from .times import Times
from .timing import Array, BuiltNetwork
from .trial import Result
from .turns import Turns

Build: TypeAlias = Callable[[CompiledModel], BuiltNetwork]
"""Puts a network on its device."""

_ROUNDS = 9
"""Turns of each program."""
_LEAST_ROUNDS = 3
"""Turns of each program even if time is up."""
_RUNS = 3
"""Inferences of a turn."""


@dataclass(frozen=True)
class Confirmation:
    """The times of a network with its default plans and with the chosen plans."""

    before: Times
    after: Times
    refuted: Sequence[Result]
    """Plans that are no faster in the network, each with its corrected time; all plans if the
    network as a whole is slower."""


def confirm(
    outcomes: Sequence[Outcome],
    default: CompiledModel,
    tuned: CompiledModel,
    deadline: Deadline = NEVER,
    build: Build = BuiltHere,
) -> Confirmation:
    """Alternate between two programs of one network, and compare their kernels.

    `default` has clopt's own plans, `tuned` the plans of the outcomes. Kernels that share a launch
    have no times of their own, and keep their plans.
    """
    before, after = take_turns([default, tuned], deadline, build=build)
    least = _ratio(before.whole, after.whole)
    if after.whole.least <= before.whole.most:
        least = 0.0  # within the noise, each plan is judged alone
    refuted: list[Result] = []
    for each in (each for each in outcomes if each.gains):
        old, new = (runs.kernels.get(each.task.name, runs.whole) for runs in (before, after))
        is_alone = each.task.name in before.kernels and each.task.name in after.kernels
        ratio = max(least, _ratio(old, new) if is_alone else 0.0)
        if ratio >= 1 and each.default.microseconds is not None:
            time, noise = ratio * each.default.microseconds, max(old.noise, new.noise)
            refuted.append(replace(each.best, microseconds=time, noise=noise, runs=new.runs))
    return Confirmation(before.whole, after.whole, refuted)


def _ratio(before: Times, after: Times) -> float:
    return after.median / before.median


def take_turns(
    models: Iterable[CompiledModel],
    deadline: Deadline = NEVER,
    is_certain: Callable[[Sequence[Runs]], bool] = lambda runs: False,
    build: Build = BuiltHere,
) -> list[Runs]:
    """Alternate between programs of one network, in fewer rounds if these suffice or time is up.

    `build` puts them on their device, by default one of this machine. As in trials, no other tuner
    of the user uses the device meanwhile.
    """
    found = [Runs(model, build(model)) for model in models]
    with closing(Turns()) as turns:
        for number in range(_ROUNDS):
            if number >= _LEAST_ROUNDS and (deadline.is_over or is_certain(found)):
                break
            with turns.beside_others(), turns.alone(found[0].resource):
                for runs in found if number % 2 else reversed(found):
                    runs.take()
    return found


class Runs:
    """The turns of one program."""

    def __init__(self, model: CompiledModel, network: BuiltNetwork) -> None:
        self._network = network
        self._inputs = sample_inputs(model)
        self._names = kernels_of(model)
        self._kernels: defaultdict[str, list[float]] = defaultdict(list)
        self._wholes: list[float] = []

    @property
    def resource(self) -> str:
        """The resource that it needs exclusively: see `Turns.alone`."""
        return self._network.resource

    def take(self) -> None:
        """Run one turn of inferences."""
        for run in self._network.nanoseconds(self._inputs, _RUNS):
            times: defaultdict[str, float] = defaultdict(float)
            for name, nanoseconds in zip(self._names, run, strict=True):
                times[name] += nanoseconds / 1e3
            self._wholes.append(sum(times.values()))
            for name, value in times.items():
                self._kernels[name].append(value)

    @property
    def kernels(self) -> Mapping[str, Times]:
        """The times per inference of each kernel, including its parts."""
        return {name: Times(values) for name, values in self._kernels.items()}

    @property
    def whole(self) -> Times:
        """The times of whole inferences."""
        return Times(self._wholes)

    def relative_to(self, other: Runs) -> Times:
        """Return the ratios of its inferences' times to those of another program's same turns.

        Other programs on the machine slow down both, so ratios vary less than times.
        """
        return Times([own / each for own, each in zip(self._wholes, other._wholes, strict=True)])


def kernels_of(model: CompiledModel) -> list[str]:
    """Return, for each command, the kernel whose plan it runs."""
    funcs = {op.sym_name.data: op for op in model.module.ops if isinstance(op, tir.FuncOp)}
    names: list[str] = []
    for command in cl.enqueued(program_of(model.module)):
        name = command.kernel_name if isinstance(command, cl.EnqueueKernelOp) else ""
        func = funcs.get(name)
        names.append(name if func is None or func.part_of is None else func.part_of.data)
    return names


def sample_inputs(model: CompiledModel) -> list[Array]:
    """Return noise for each input of floats, and zeros for the others."""
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal(port.shape).astype(port.dtype)
        if port.dtype.kind == "f"
        else np.zeros(port.shape, port.dtype)
        for port in model.inputs
    ]
