"""Distributions of the values of a network, and the range of int8 for each."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ....dialects.nn import Array

BINS = 2048
LEVELS = 128
"""The magnitudes of int8."""

PERCENTILE = 0.99999
"""The share of a value's elements that `percentile` keeps in range."""


class Histogram:
    """Counts of magnitudes in bins up to a power of two, which doubles as larger ones come.

    Zeros do not count: they are exact in any range. Whatever the order of the arrays, the counts
    are the same.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(BINS, np.int64)
        self.limit = 0.0
        self.largest = 0.0

    def add(self, array: Array) -> None:
        """Count the elements of an array."""
        magnitudes = np.abs(array.reshape(-1))
        largest = float(magnitudes.max(initial=0))
        self.largest = max(self.largest, largest) if largest == largest else math.inf
        if not math.isfinite(self.largest) or largest == 0:
            return
        self._reach(largest)
        positions = (magnitudes[magnitudes > 0] * (BINS / self.limit)).astype(np.int64)
        self.counts += np.bincount(np.minimum(positions, BINS - 1), minlength=BINS)

    def _reach(self, largest: float) -> None:
        if not self.limit:
            self.limit = 2.0 ** math.ceil(math.log2(largest))
        while self.limit < largest:
            pairs = self.counts.reshape(-1, 2).sum(1)
            self.counts = np.concatenate([pairs, np.zeros(BINS // 2, np.int64)])
            self.limit *= 2


def _percentile(histogram: Histogram) -> float:
    """The magnitude that only a few elements in a hundred thousand exceed."""
    total = histogram.counts.sum()
    if not total or not math.isfinite(histogram.largest):
        return histogram.largest
    last = int(np.count_nonzero(np.cumsum(histogram.counts) < PERCENTILE * total))
    return min(histogram.largest, (last + 1) * histogram.limit / BINS)


def _least_divergence(histogram: Histogram) -> float:
    """The range at which int8 tells most about the distribution (Kullback-Leibler).

    It is a power of two, or all. Among finer candidates the divergence prefers small ranges, since
    it does not know how far away the clipped elements are: on the digits that doubles the error.
    """
    if not histogram.counts.sum() or not math.isfinite(histogram.largest):
        return histogram.largest
    sizes = [BINS >> halvings for halvings in range(int(math.log2(BINS // LEVELS)) + 1)]
    divergences = [_divergence(histogram.counts, size) for size in sizes]
    return min(histogram.largest, histogram.limit * sizes[int(np.argmin(divergences))] / BINS)


def _divergence(counts: Array, size: int) -> float:
    """That of the distribution from itself in LEVELS steps over the first bins, clipped there."""
    true = counts.astype(np.float64)
    kept = true[:size].reshape(LEVELS, -1)
    filled = kept > 0
    spread = np.where(filled, kept.sum(1, keepdims=True) / np.maximum(filled.sum(1)[:, None], 1), 0)
    reference = kept.copy()
    reference[-1, -1] += true[size:].sum()
    # A bin that only clipping fills has no share in the steps: it costs as if it had one element.
    p, q = reference.reshape(-1), np.maximum(spread.reshape(-1), 1.0)
    p, q = p / p.sum(), q / q.sum()
    used = p > 0
    return float((p[used] * np.log(p[used] / q[used])).sum())


RANGES: dict[str, Callable[[Histogram], float]] = {
    "max": lambda histogram: histogram.largest,
    "percentile": _percentile,
    "kl": _least_divergence,
}
"""By the method of calibration, the greatest magnitude that int8 shall reach."""
