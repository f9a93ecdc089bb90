"""Machines that time kernels by a function, at once and in this process, whatever the plan."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.trial import Fault, Result, Task, Trial

DEVICE = InstrumentDevice("Planted device (tests)", "1.0")


@dataclass
class PlantedMachines:
    """`times` says what each kernel takes, in microseconds."""

    times: Callable[[Task], float | Fault]
    tried: list[Trial] = field(default_factory=list[Trial])
    slots: int = 2

    def submit(self, trial: Trial) -> Future[Result]:
        self.tried.append(trial)
        found = self.times(trial.task)
        fault = found if isinstance(found, Fault) else None
        time = None if isinstance(found, Fault) else found
        future: Future[Result] = Future()
        future.set_result(
            Result(
                *(DEVICE.name, DEVICE.driver, 0.1, time, 0.01, 6),
                *(fault, "It does not run." if fault else ""),
                kernel=trial.task.kernel,
                plan=trial.plan,
            )
        )
        return future

    def close(self) -> None: ...
