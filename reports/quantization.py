"""The errors of a quantised network's values relative to the float network."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class QuantizedValue:
    """Sums over the samples for one value; `scale` is None for a result that stays float."""

    name: str
    scale: float | None = None
    elements: int = 0
    saturated: int = 0
    signal: float = 0.0
    noise: float = 0.0

    def add(self, exact: Array, found: Array) -> None:
        """Add a sample: the float network's value and the quantised value."""
        wide = exact.astype(np.float64)
        self.elements += wide.size
        self.signal += float(np.square(wide).sum())
        self.noise += float(np.square(wide - found).sum())
        if self.scale is not None:
            steps = np.rint(found.astype(np.float64) / self.scale)
            self.saturated += int(((steps <= -128) | (steps >= 127)).sum())

    @property
    def sqnr(self) -> float:
        """The signal-to-noise ratio in decibels."""
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf

    @property
    def relative_error(self) -> float:
        """The square root of noise over signal."""
        return math.sqrt(self.noise / self.signal) if self.signal else math.inf

    @property
    def saturation(self) -> float:
        """The fraction of elements at either end of the int8 range."""
        return self.saturated / self.elements if self.elements else 0.0


@dataclass
class QuantizationReport:
    """The int8 values of a network in network order, then its results."""

    values: list[QuantizedValue] = field(default_factory=list[QuantizedValue])

    def to_json(self) -> str:
        """Return a JSON object for each value."""
        rows = [
            {
                "name": value.name,
                "scale": value.scale,
                "saturation": value.saturation,
                "sqnr_db": value.sqnr if math.isfinite(value.sqnr) else None,
                "relative_error": value.relative_error,
            }
            for value in self.values
        ]
        return json.dumps(rows, indent=1) + "\n"
