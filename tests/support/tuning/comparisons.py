"""Planted times of networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from clopt.tuning.times import Times


def times(ratio: float) -> Times:
    """Of 27 inferences, with a noise of 5 %."""
    return Times(list(np.linspace(90.0, 110.0, 27) * ratio))


@dataclass(frozen=True)
class PlantedRuns:
    """Stands for `Runs` of a program in which all kernels have launches of their own."""

    whole: Times
    kernels: Mapping[str, Times] = field(default_factory=dict[str, Times])

    def relative_to(self, other: PlantedRuns) -> Times:
        pairs = zip(self.whole.microseconds, other.whole.microseconds, strict=True)
        return Times([own / each for own, each in pairs])
