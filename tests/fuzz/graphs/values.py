"""Values of a random graph, and how far from them a right answer may be.

Where an answer should lie follows from the graph. Each value is evaluated several times, and each
time every float of it is moved a little, at random: by more than single precision rounds it, or by
more than half does. How far the samples of an output drift apart is how far rounding can move it,
whether the cause is cancellation, a division by little, or a rounding that goes the other way. So
one rule serves every graph and every operator, and nobody guesses a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_EACH = 3
SAMPLES = 1 + 2 * _EACH
"""The exact evaluation, those moved as single precision rounds, those moved as half does."""

# OpenCL's functions may be off by 16 units in the last place; a half is rounded before it is read
# and after it is written, and sums of halves round at each step.
_SINGLE_NOISE = 16 * 2.0**-24
_HALF_NOISE = 2 * 2.0**-11
_SMALLEST_HALF = 2.0**-24

DRIFT = {"f32": 4.0, "f16-storage": 4.0, "f16": 8.0}
"""A right answer is at most so many times as far away as the samples are."""
FLOOR = {"f32": 1e-5, "f16-storage": 2e-3, "f16": 5e-3}
"""The same for what does not drift, relative to the largest element."""
DETERMINED = 0.05
"""An output that may be further off, relative to its largest element, says nothing."""


@dataclass(frozen=True)
class Value:
    """A tensor by name: what it is exactly, and what it is when everything before is moved."""

    name: str
    arrays: tuple[np.ndarray, ...]

    @property
    def exact(self) -> np.ndarray:
        """What onnxruntime computes."""
        return self.arrays[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.exact.shape

    @property
    def rank(self) -> int:
        return self.exact.ndim

    @property
    def type(self) -> type[np.generic]:
        return self.exact.dtype.type

    def allowed(self, precision: str) -> float:
        """How far an element may be off, absolutely; 0 or infinite for integers and booleans."""
        samples = self.arrays[1 : 1 + _EACH] if precision == "f32" else self.arrays[1 + _EACH :]
        if self.exact.dtype.kind != "f":
            return 0.0 if all(np.array_equal(s, self.exact) for s in samples) else np.inf
        drift = max(float(np.abs(_double(s) - _double(self.exact)).max()) for s in samples)
        floor = max(FLOOR[precision], 4 * float(np.finfo(self.exact.dtype).eps))
        return DRIFT[precision] * drift + floor * self._scale()

    def is_determined(self, precision: str) -> bool:
        """Whether rounding in this precision leaves enough of the value to compare."""
        return self.allowed(precision) <= DETERMINED * self._scale()

    def _scale(self) -> float:
        return float(np.abs(_double(self.exact)).max()) or 1.0

    def mismatch(self, got: np.ndarray, precision: str) -> str | None:
        """What is wrong with an answer, if anything is."""
        if got.dtype != self.exact.dtype or got.shape != self.shape:
            return f"{got.dtype}{list(got.shape)} for {self.exact.dtype}{list(self.shape)}"
        if not self.is_determined(precision):
            return None
        if self.exact.dtype.kind != "f":
            wrong = int((got != self.exact).sum())
            return f"{wrong} of {got.size} elements differ" if wrong else None
        if not np.isfinite(got).all():
            return f"{int((~np.isfinite(got)).sum())} of {got.size} elements are not finite"
        error, allowed = np.abs(_double(got) - _double(self.exact)), self.allowed(precision)
        if error.max() <= allowed:
            return None
        wrong = int((error > allowed).sum())
        return (
            f"{wrong} of {got.size} elements differ, by up to {error.max():.2g} where "
            f"{allowed:.2g} is allowed and the largest element is {self._scale():.2g}"
        )


def perturbed(array: np.ndarray, sample: int, random: np.random.Generator) -> np.ndarray:
    """Sample number `sample` of a value that would be `array`."""
    if sample == 0 or array.dtype.kind != "f":
        return array
    half = sample > _EACH or array.dtype == np.float16
    noise = random.uniform(-1, 1, array.shape) * (_HALF_NOISE if half else _SINGLE_NOISE)
    moved = _double(array) * (1 + noise) + noise * (_SMALLEST_HALF / _HALF_NOISE if half else 0)
    return np.asarray(moved).astype(array.dtype)


def _double(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)
