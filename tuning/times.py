"""Times of launches, their median, and its confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np


@dataclass(frozen=True)
class Times:
    """The times of some runs."""

    microseconds: Sequence[float]

    @property
    def runs(self) -> int:
        return len(self.microseconds)

    @property
    def median(self) -> float:
        return float(np.median(self.microseconds))

    @property
    def noise(self) -> float:
        """Half the width of the median's 95 % confidence interval, as a fraction of the median.

        By the binomial distribution of ranks (Conover, "Practical nonparametric statistics", 3.2).
        """
        ordered, count = sorted(self.microseconds), self.runs
        reach = 0.98 * sqrt(count)
        low = max(0, round(count / 2 - reach) - 1)
        high = min(count - 1, round(count / 2 + reach))
        return float(ordered[high] - ordered[low]) / 2 / max(self.median, 1e-3)

    @property
    def least(self) -> float:
        """The lower end of the confidence interval, in microseconds."""
        return self.median * (1 - self.noise)

    @property
    def most(self) -> float:
        """The upper end of the confidence interval, in microseconds."""
        return self.median * (1 + self.noise)
