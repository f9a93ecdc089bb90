"""Histograms of the values of a network, and the int8 range chosen from each."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ....dialects.nn import Array

BINS = 2048
LEVELS = 128
"""The number of magnitudes of int8."""

PERCENTILE = 0.99999
"""The share of a value's elements that the method `percentile` keeps in range."""


class Histogram:
    """Counts of magnitudes in bins up to a power of two, which doubles for larger magnitudes.

    Zeros do not count, since they are exact in any range. The counts do not depend on the order of
    the arrays.
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
    """Return the magnitude that one element in a hundred thousand exceeds."""
    total = histogram.counts.sum()
    if not total or not math.isfinite(histogram.largest):
        return histogram.largest
    last = int(np.count_nonzero(np.cumsum(histogram.counts) < PERCENTILE * total))
    return min(histogram.largest, (last + 1) * histogram.limit / BINS)


def _least_divergence(histogram: Histogram) -> float:
    """Return the range that minimises the Kullback-Leibler divergence of int8.

    It is a power of two, or the largest magnitude. Among finer candidates the divergence prefers
    small ranges, since it ignores how far away the clipped elements are: on the digits that doubles
    the error.
    """
    if not histogram.counts.sum() or not math.isfinite(histogram.largest):
        return histogram.largest
    sizes = [BINS >> halvings for halvings in range(int(math.log2(BINS // LEVELS)) + 1)]
    divergences = [_divergence(histogram.counts, size) for size in sizes]
    return min(histogram.largest, histogram.limit * sizes[int(np.argmin(divergences))] / BINS)


def _divergence(counts: Array, size: int) -> float:
    """Return the divergence between a distribution and its quantisation to LEVELS steps.

    The steps cover the first `size` bins; larger magnitudes are clipped into the last one.
    """
    true = counts.astype(np.float64)
    kept = true[:size].reshape(LEVELS, -1)
    filled = kept > 0
    spread = np.where(filled, kept.sum(1, keepdims=True) / np.maximum(filled.sum(1)[:, None], 1), 0)
    reference = kept.copy()
    reference[-1, -1] += true[size:].sum()
    # A bin filled only by clipping is empty after quantisation: count one element there instead.
    p, q = reference.reshape(-1), np.maximum(spread.reshape(-1), 1.0)
    p, q = p / p.sum(), q / q.sum()
    used = p > 0
    return float((p[used] * np.log(p[used] / q[used])).sum())


RANGES: dict[str, Callable[[Histogram], float]] = {
    "max": lambda histogram: histogram.largest,
    "percentile": _percentile,
    "kl": _least_divergence,
}
"""The largest magnitude that int8 represents, by method of calibration."""
