"""Planted times of a network computed in the usual way and in another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from clopt.compiled_model import CompiledModel
from clopt.tuning.confirm import Confirmation
from clopt.tuning.deadline import Deadline
from clopt.tuning.session import Outcome
from clopt.tuning.times import Times

RATIOS = {0.8: True, 0.97: False}
"""By the time of the other way, as a share of the usual one's, whether the network takes it."""


def times(ratio: float) -> Times:
    """Of 27 inferences, with a noise of 5 %."""
    return Times(list(np.linspace(90.0, 110.0, 27) * ratio))


@dataclass(frozen=True)
class PlantedComparison:
    """Stands for `confirm`."""

    ratio: float

    def __call__(
        self,
        outcomes: Sequence[Outcome],
        default: CompiledModel,
        tuned: CompiledModel,
        deadline: Deadline,
    ) -> Confirmation:
        return Confirmation(times(1.0), times(self.ratio), [])


@dataclass(frozen=True)
class PlantedRuns:
    """Stands for `Runs` of a program in which all kernels have launches of their own."""

    whole: Times
    kernels: Mapping[str, Times] = field(default_factory=dict[str, Times])

    def has(self, kernels: Sequence[str]) -> bool:
        return True

    def together(self, kernels: Sequence[str], launch_microseconds: float) -> Times:
        return self.whole


@dataclass(frozen=True)
class PlantedTurns:
    """Stands for `take_turns`."""

    ratio: float

    def __call__(self, models: Sequence[CompiledModel], deadline: Deadline) -> list[PlantedRuns]:
        return [PlantedRuns(times(ratio)) for ratio in (1.0, self.ratio)]
